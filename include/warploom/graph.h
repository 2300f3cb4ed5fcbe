#pragma once
/// The graph: describe operations, then validate, plan, build and execute.
///
///   graph.tensor(...), graph.matmul(...)   describe
///   validate()                             check and infer shapes, strides and data types
///   build_operation_graph(handle)          freeze
///   create_execution_plans({HeurMode_t::A})
///   check_support(); build_plans();        choose and build
///   execute(handle, {uid: pointer}, workspace)
///
/// or build(handle, modes), which is the middle four. Every step returns an error_t; nothing
/// throws. Map parameters are non-const references for compatibility; they are not changed. A Graph
/// belongs to one thread while it is described and built; const methods, execute among them, may
/// run from any number of threads, each with its own workspace.
#include <array>
#include <chrono>
#include <iosfwd>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <warploom/error.h>
#include <warploom/handle.h>
#include <warploom/kernel_cache.h>
#include <warploom/knob.h>
#include <warploom/ops/operation.h>
#include <warploom/tensor.h>

namespace warploom {

namespace ir {
struct FrozenGraph;
}

class DeviceProperties;  // <warploom/device_properties.h>

namespace graph {

/// A plan as `Graph::plans()` shows it.
struct PlanInfo {
  /// Identity, e.g. "cpu.gemm:tile_m=56|cpu.map"; stable across builds. Where the steps do not tell
  /// which operations each has, "|@hash" of that follows.
  std::string name;
  int64_t workspace_bytes = 0;
  double predicted_microseconds = 0;
  double measured_microseconds = 0;  ///< 0 until autotune measured it
  std::vector<NumericalNote_t> numerical_notes;
  std::vector<BehaviorNote_t> behavior_notes;
  /// The names of the operations that each kernel runs, in the order of execution.
  std::vector<std::vector<std::string>> groups;
  bool is_built = false;
  std::string barred;  ///< why a filter or a failed build keeps it from running; empty if it may
};

struct AutotuneOptions {
  /// Measuring ends once this is spent; every plan is measured at least once.
  std::chrono::milliseconds budget{1000};
};

struct DeserializeOptions {
  /// Loading a kernel runs code out of the container: only from a source you trust. With false the
  /// kernels are built anew from the graph.
  bool trust_payload = true;
  /// Where the plan cannot be had, because the container is of another version or device or is
  /// damaged, the graph in it is planned anew instead of an error, if it is intact.
  bool rebuild_if_unsuitable = false;
};

class WARPLOOM_EXPORT Graph {
 public:
  Graph();
  ~Graph();
  /// A copy is the description alone: it shares the tensors, and has no plans until it is built.
  Graph(const Graph&);
  /// What was moved from can be assigned to and destroyed; anything else answers with an error.
  Graph(Graph&&) noexcept;
  Graph& operator=(const Graph&);
  Graph& operator=(Graph&&) noexcept;

  // --- Configuration: set before the step that reads it ---
  Graph& set_name(const std::string& name);
  /// Data type of inputs and outputs (io), of virtual tensors (intermediate), and of the arithmetic
  /// (compute), where a tensor or operation does not say. All NOT_SET at first.
  Graph& set_io_data_type(DataType_t type);
  Graph& set_intermediate_data_type(DataType_t type);
  Graph& set_compute_data_type(DataType_t type);
  Graph& set_dynamic_shape_enabled(bool is_enabled);
  Graph& set_override_shape_enabled(bool is_enabled);
  Graph& set_kernel_cache(std::shared_ptr<KernelCache> cache);
  /// The device that build_operation_graph() without a handle plans for; else the default one.
  Graph& set_device_properties(std::shared_ptr<const DeviceProperties> properties);
  Graph& set_sm_count(int32_t count);
  Graph& set_sm_version(int32_t version);

  // --- Tensors ---
  /// Registers a copy of `attributes` as an input and returns it: the identity used as key in
  /// variant packs.
  TensorPtr tensor(const Tensor_attributes& attributes);
  TensorPtr tensor(const pass_by_values_t& value, ScalarType type);
  template <class Foreign, class = typename OwnFloat16<Foreign>::type>
  TensorPtr tensor(const Foreign& value, ScalarType type) {
    return tensor(Tensor_attributes(value, type));
  }
  /// A copy with the uid cleared and the name replaced (by nothing, if omitted).
  TensorPtr tensor_like(const TensorPtr& other, const std::string& name = "");

  // --- Operations: each returns its virtual results, named "<node name>::<PORT>"; call
  // set_output(true) to keep one ---
  TensorPtr conv_fprop(TensorPtr x, TensorPtr w, Conv_fprop_attributes attributes);
  /// The result's dims must be set: those of the image.
  TensorPtr conv_dgrad(TensorPtr dy, TensorPtr w, Conv_dgrad_attributes attributes);
  /// The result's dims must be set: those of the filter.
  TensorPtr conv_wgrad(TensorPtr dy, TensorPtr x, Conv_wgrad_attributes attributes);
  TensorPtr matmul(TensorPtr a, TensorPtr b, Matmul_attributes attributes);
  TensorPtr pointwise(TensorPtr a, Pointwise_attributes attributes);
  TensorPtr pointwise(TensorPtr a, TensorPtr b, Pointwise_attributes attributes);
  TensorPtr pointwise(TensorPtr a, TensorPtr b, TensorPtr c, Pointwise_attributes attributes);
  TensorPtr reduction(TensorPtr x, Reduction_attributes attributes);
  TensorPtr reshape(TensorPtr x, Reshape_attributes attributes);
  TensorPtr transpose(TensorPtr x, Transpose_attributes attributes);
  TensorPtr slice(TensorPtr x, Slice_attributes attributes);
  TensorPtr softmax(TensorPtr p, Softmax_attributes attributes);
  /// {Y, MEAN, INV_VARIANCE}; the statistics are null in phase INFERENCE.
  std::array<TensorPtr, 3> layernorm(TensorPtr x, TensorPtr scale, TensorPtr bias,
                                     Layernorm_attributes attributes);
  std::array<TensorPtr, 3> adalayernorm(TensorPtr x, TensorPtr scale, TensorPtr bias,
                                        AdaLayernorm_attributes attributes);
  std::array<TensorPtr, 3> instancenorm(TensorPtr x, TensorPtr scale, TensorPtr bias,
                                        Instancenorm_attributes attributes);
  /// {Y, INV_VARIANCE}
  std::array<TensorPtr, 2> rmsnorm(TensorPtr x, TensorPtr scale, Rmsnorm_attributes attributes);
  /// {DX, DSCALE, DBIAS}
  std::array<TensorPtr, 3> layernorm_backward(TensorPtr dy, TensorPtr x, TensorPtr scale,
                                              Layernorm_backward_attributes attributes);
  std::array<TensorPtr, 3> adalayernorm_backward(TensorPtr dy, TensorPtr x, TensorPtr scale,
                                                 AdaLayernorm_backward_attributes attributes);
  std::array<TensorPtr, 3> instancenorm_backward(TensorPtr dy, TensorPtr x, TensorPtr scale,
                                                 Instancenorm_backward_attributes attributes);
  /// DBIAS is null unless has_dbias(true).
  std::array<TensorPtr, 3> rmsnorm_backward(TensorPtr dy, TensorPtr x, TensorPtr scale,
                                            TensorPtr inv_variance,
                                            Rmsnorm_backward_attributes attributes);
  /// {Y, MEAN, INV_VARIANCE, NEXT_RUNNING_MEAN, NEXT_RUNNING_VAR}; the last two are null unless the
  /// previous ones are given.
  std::array<TensorPtr, 5> batchnorm(TensorPtr x, TensorPtr scale, TensorPtr bias,
                                     Batchnorm_attributes attributes);
  TensorPtr batchnorm_inference(TensorPtr x, TensorPtr mean, TensorPtr inv_variance,
                                TensorPtr scale, TensorPtr bias,
                                Batchnorm_inference_attributes attributes);
  std::array<TensorPtr, 3> batchnorm_backward(TensorPtr dy, TensorPtr x, TensorPtr scale,
                                              Batchnorm_backward_attributes attributes);
  /// {DSCALE, DBIAS, EQ_SCALE_DY, EQ_SCALE_X, EQ_BIAS}
  std::array<TensorPtr, 5> dbn_weight(TensorPtr dy, TensorPtr x, TensorPtr mean,
                                      TensorPtr inv_variance, TensorPtr scale,
                                      DBN_weight_attributes attributes);
  /// {SUM, SQ_SUM}
  std::array<TensorPtr, 2> genstats(TensorPtr x, Genstats_attributes attributes);
  /// {EQ_SCALE, EQ_BIAS, MEAN, INV_VARIANCE, NEXT_RUNNING_MEAN, NEXT_RUNNING_VAR}; the last two as
  /// of batchnorm.
  std::array<TensorPtr, 6> bn_finalize(TensorPtr sum, TensorPtr sq_sum, TensorPtr scale,
                                       TensorPtr bias, TensorPtr epsilon, TensorPtr accum_count,
                                       BN_finalize_attributes attributes);
  /// At most 64 tensors, one after another along the axis.
  TensorPtr concatenate(std::vector<TensorPtr> x, Concatenate_attributes attributes);
  /// {Y, Index}; Index is null unless the mode is MAXPOOL and set_generate_index(true).
  std::array<TensorPtr, 2> resample(TensorPtr x, Resample_attributes attributes);
  /// The result's dims must be set: those of what was pooled. `index` is null for averages.
  TensorPtr resample_backward(TensorPtr dy, TensorPtr index,
                              Resample_backward_attributes attributes);
  /// Null `seed`: that of set_seed(). Null `offset`: 0.
  TensorPtr rng(TensorPtr seed, TensorPtr offset, Rng_attributes attributes);
  /// {Y, scale}
  std::array<TensorPtr, 2> block_scale_quantize(TensorPtr x,
                                                Block_scale_quantize_attributes attributes);
  TensorPtr block_scale_dequantize(TensorPtr x, TensorPtr scale,
                                   Block_scale_dequantize_attributes attributes);
  /// {O, Stats}; Stats is null unless set_generate_stats(true). With set_score_mod the nodes of the
  /// attention are added one by one, the function's among them.
  std::array<TensorPtr, 2> sdpa(TensorPtr q, TensorPtr k, TensorPtr v, SDPA_attributes attributes);
  std::array<TensorPtr, 2> scaled_dot_product_flash_attention(TensorPtr q, TensorPtr k, TensorPtr v,
                                                              SDPA_attributes attributes) {
    return sdpa(std::move(q), std::move(k), std::move(v), std::move(attributes));
  }
  /// {O, Stats, Amax_S, Amax_O}
  std::array<TensorPtr, 4> sdpa_fp8(TensorPtr q, TensorPtr k, TensorPtr v, TensorPtr descale_q,
                                    TensorPtr descale_k, TensorPtr descale_v, TensorPtr descale_s,
                                    TensorPtr scale_s, TensorPtr scale_o,
                                    SDPA_fp8_attributes attributes);
  /// {O, Stats, Amax_O}, with scales of blocks.
  std::array<TensorPtr, 3> sdpa_fp8(TensorPtr q, TensorPtr k, TensorPtr v, TensorPtr descale_q,
                                    TensorPtr descale_k, TensorPtr descale_v,
                                    SDPA_fp8_attributes attributes);
  /// {dQ, dK, dV}, whose dims and strides must be set.
  std::array<TensorPtr, 3> sdpa_backward(TensorPtr q, TensorPtr k, TensorPtr v, TensorPtr o,
                                         TensorPtr d_o, TensorPtr stats,
                                         SDPA_backward_attributes attributes);
  std::array<TensorPtr, 3> scaled_dot_product_flash_attention_backward(
      TensorPtr q, TensorPtr k, TensorPtr v, TensorPtr o, TensorPtr d_o, TensorPtr stats,
      SDPA_backward_attributes attributes) {
    return sdpa_backward(std::move(q), std::move(k), std::move(v), std::move(o), std::move(d_o),
                         std::move(stats), std::move(attributes));
  }
  /// {dQ, dK, dV, Amax_dQ, Amax_dK, Amax_dV, Amax_dP}
  std::array<TensorPtr, 7> sdpa_fp8_backward(
      TensorPtr q, TensorPtr k, TensorPtr v, TensorPtr o, TensorPtr d_o, TensorPtr stats,
      TensorPtr descale_q, TensorPtr descale_k, TensorPtr descale_v, TensorPtr descale_o,
      TensorPtr descale_do, TensorPtr descale_s, TensorPtr descale_dp, TensorPtr scale_s,
      TensorPtr scale_dq, TensorPtr scale_dk, TensorPtr scale_dv, TensorPtr scale_dp,
      SDPA_fp8_backward_attributes attributes);
  /// {dQ, dK, dV, Amax_dQ, Amax_dK, Amax_dV}, with scales of blocks.
  std::array<TensorPtr, 6> sdpa_fp8_backward(
      TensorPtr q, TensorPtr q_t, TensorPtr k, TensorPtr k_t, TensorPtr v, TensorPtr o_f16,
      TensorPtr do_f16, TensorPtr d_o, TensorPtr do_t, TensorPtr stats, TensorPtr descale_q,
      TensorPtr descale_q_t, TensorPtr descale_k, TensorPtr descale_k_t, TensorPtr descale_v,
      TensorPtr descale_do, TensorPtr descale_do_t, SDPA_fp8_backward_attributes attributes);

  // --- Declared, and not run in this version: validate() says so ---
  TensorPtr moe_grouped_matmul(TensorPtr token, TensorPtr weight, TensorPtr first_token_offset,
                               TensorPtr token_index, TensorPtr token_ks,
                               Moe_grouped_matmul_attributes attributes);
  TensorPtr moe_grouped_matmul_bwd(TensorPtr doutput, TensorPtr token, TensorPtr first_token_offset,
                                   Moe_grouped_matmul_bwd_attributes attributes);
  TensorPtr diagonal_band_mask(TensorPtr x, TensorPtr b, TensorPtr seq_len_q, TensorPtr seq_len_kv,
                               TensorPtr left_bound, TensorPtr shift_right_bound,
                               DiagonalBandMask_attributes attributes);

  // --- Lifecycle ---
  /// Checks every tensor and operation, in the order of creation, and infers what was left out. May
  /// be called again.
  error_t validate();
  /// Validates if need be, then freezes the description: uids, topological order, key. `handle`
  /// names the device.
  error_t build_operation_graph(handle_t handle);
  error_t build_operation_graph();
  /// Lists plans, best first, for each mode in turn. A: the cost model. B: A refined by what
  /// autotune measured before, of this graph or one with near extents, in this process or an
  /// earlier one (docs/caches.md). FALLBACK: the engines that take anything, at any speed.
  /// OPENSOURCE adds nothing here. Where the same plan comes from two modes it is listed once. The
  /// engine "reference" is listed only where no other takes a group, or when it is named.
  error_t create_execution_plans(const std::vector<HeurMode_t>& modes);
  /// Appends one plan, unless it is listed already: the engine (its index below get_engine_count,
  /// or its name) with these knobs on every group it takes, the best candidate on the others.
  /// INVALID_VALUE for an unknown engine, knob or value, naming the accepted ones.
  error_t create_execution_plan(int64_t engine_id,
                                const std::unordered_map<KnobType_t, int64_t>& knobs);
  error_t create_execution_plan(const std::string& engine,
                                const std::unordered_map<KnobType_t, int64_t>& knobs);
  /// Makes the plan of this name (see get_plan_name) the last of the list, at
  /// get_execution_plan_count() - 1, whether or not it was listed before; build_plan_at_index makes
  /// it the candidate. INVALID_VALUE when this graph has no such plan.
  error_t create_execution_plan_by_name(const std::string& plan_name);
  error_t get_engine_count(int64_t& count) const;
  error_t get_engine_name(int64_t engine_id, std::string& name) const;
  error_t get_knobs_for_engine(int64_t engine_id, std::vector<Knob>& knobs) const;
  /// OK when a plan is left after the filters; else every refusal. Compiles and allocates nothing.
  error_t check_support();
  error_t check_support(handle_t handle);
  /// HEURISTICS_CHOICE builds in order until one succeeds; ALL builds every plan. The candidate is
  /// then the best ranked that was built. `do_multithreaded_builds` builds in parallel.
  error_t build_plans(BuildPlanPolicy_t policy = BuildPlanPolicy_t::HEURISTICS_CHOICE,
                      bool do_multithreaded_builds = false);
  error_t build_plans(handle_t handle,
                      BuildPlanPolicy_t policy = BuildPlanPolicy_t::HEURISTICS_CHOICE,
                      bool do_multithreaded_builds = false);
  /// Builds one plan and makes it the candidate. Different indices may be built from different
  /// threads.
  error_t build_plan_at_index(int64_t index);
  error_t build_plan_at_index(handle_t handle, int64_t index);
  /// validate, build_operation_graph, create_execution_plans, check_support, build_plans.
  error_t build(handle_t handle, const std::vector<HeurMode_t>& modes,
                BuildPlanPolicy_t policy = BuildPlanPolicy_t::HEURISTICS_CHOICE,
                bool do_multithreaded_builds = false);
  error_t build(const std::vector<HeurMode_t>& modes,
                BuildPlanPolicy_t policy = BuildPlanPolicy_t::HEURISTICS_CHOICE,
                bool do_multithreaded_builds = false);

  // --- Plans ---
  int64_t get_execution_plan_count() const;
  /// Everything known of every plan, in list order.
  std::vector<PlanInfo> plans() const;
  error_t get_plan_name(std::string& name) const;
  error_t get_plan_name_at_index(int64_t index, std::string& name) const;
  error_t get_behavior_notes(std::vector<BehaviorNote_t>& notes) const;
  error_t get_behavior_notes_for_plan_at_index(int64_t index,
                                               std::vector<BehaviorNote_t>& notes) const;
  error_t get_numeric_notes_for_plan_at_index(int64_t index,
                                              std::vector<NumericalNote_t>& notes) const;
  /// Bytes of the candidate's workspace. The form that returns a value gives 0 on error.
  error_t get_workspace_size(int64_t& bytes) const;
  int64_t get_workspace_size() const;
  error_t get_workspace_size_plan_at_index(int64_t index, int64_t& bytes) const;
  int64_t get_workspace_size_plan_at_index(int64_t index) const;
  /// For other shapes than the described ones; see execute() with overrides.
  error_t get_workspace_size(int64_t& bytes, const std::vector<int64_t>& override_uids,
                             const std::vector<std::vector<int64_t>>& override_shapes,
                             const std::vector<std::vector<int64_t>>& override_strides) const;
  /// The most that any built plan needs.
  int64_t get_autotune_workspace_size() const;

  // --- Filters: on existing plans (notes) or at any time before they are built (the others).
  // Nothing lifts a bar. They bar plans and list none: where they leave nothing of mode A, mode
  // FALLBACK may have a plan. ---
  /// Bars every plan that lacks one of the notes.
  Graph& select_numeric_notes(const std::vector<NumericalNote_t>& notes);
  Graph& select_behavior_notes(const std::vector<BehaviorNote_t>& notes);
  /// Bars every plan that has one of the notes.
  Graph& deselect_numeric_notes(const std::vector<NumericalNote_t>& notes);
  Graph& deselect_behavior_notes(const std::vector<BehaviorNote_t>& notes);
  /// Bars plans that need more; the last call counts.
  Graph& deselect_workspace_greater_than(int64_t bytes);
  Graph& deselect_shared_mem_greater_than(int64_t bytes);
  /// Bars plans that have one of these as a whole component of their name, e.g. "cpu.gemm" or
  /// "cpu"; the last call counts.
  Graph& deselect_engines(const std::vector<std::string>& names);

  // --- Execution ---
  /// Runs the candidate. The pack needs every input and output that is not virtual and not a stored
  /// scalar; more entries are ignored. INVALID_VARIANT_PACK names a missing tensor or a null
  /// pointer. Pass-by-value tensors are read during the call.
  error_t execute(handle_t handle, std::unordered_map<TensorPtr, void*>& pack,
                  void* workspace) const;
  error_t execute(handle_t handle, std::unordered_map<int64_t, void*>& pack, void* workspace) const;
  /// Also checks the workspace's size: INVALID_VALUE, naming the bytes needed, when it is too
  /// small.
  error_t execute(handle_t handle, std::unordered_map<int64_t, void*>& pack, void* workspace,
                  int64_t workspace_bytes) const;
  error_t execute(handle_t handle, std::unordered_map<TensorPtr, void*>& pack, void* workspace,
                  int64_t workspace_bytes) const;
  /// Pointers in the order of get_variant_pack_uids_sorted().
  error_t execute(handle_t handle, void** sorted_pointers, int count, void* workspace) const;
  /// With other dims and strides for the tensors of `override_uids`, of a graph with
  /// set_override_shape_enabled(true). The plan is bound to them during the call, microseconds, and
  /// nothing is built. Virtual tensors follow by inference; a tensor in the user's memory that is
  /// not listed keeps its shape. INVALID_VALUE or SHAPE_DEDUCTION_FAILED names the tensor, found
  /// and accepted, where the shapes contradict; GRAPH_NOT_SUPPORTED has the reason where the plan,
  /// as it was cut into kernels for the described shapes, cannot serve them: a graph of theirs can
  /// be built instead. The workspace must have the bytes that get_workspace_size() gives for the
  /// same overrides.
  error_t execute(handle_t handle, std::unordered_map<int64_t, void*>& pack, void* workspace,
                  const std::vector<int64_t>& override_uids,
                  const std::vector<std::vector<int64_t>>& override_shapes,
                  const std::vector<std::vector<int64_t>>& override_strides) const;
  error_t execute(handle_t handle, std::unordered_map<int64_t, void*>& pack, void* workspace,
                  int64_t workspace_bytes, const std::vector<int64_t>& override_uids,
                  const std::vector<std::vector<int64_t>>& override_shapes,
                  const std::vector<std::vector<int64_t>>& override_strides) const;
  error_t execute_plan_at_index(handle_t handle, std::unordered_map<TensorPtr, void*>& pack,
                                void* workspace, int64_t index) const;
  error_t execute_plan_at_index(handle_t handle, std::unordered_map<int64_t, void*>& pack,
                                void* workspace, int64_t index) const;
  error_t execute_plan_at_index(handle_t handle, std::unordered_map<int64_t, void*>& pack,
                                void* workspace, int64_t index,
                                const std::vector<int64_t>& override_uids,
                                const std::vector<std::vector<int64_t>>& override_shapes,
                                const std::vector<std::vector<int64_t>>& override_strides) const;
  /// Nothing to do: packs are read as they are.
  error_t prepare_variant_pack_template() { return {}; }
  /// The uids that execute asks for, ascending.
  std::vector<int64_t> get_variant_pack_uids_sorted() const;

  /// Times every built plan on the handle's stream (warm-up, then interleaved rounds within the
  /// budget, medians), puts the fastest first and makes it the candidate. Names, notes and times
  /// stay with their plans, and are kept on disk for mode B of later processes (WARPLOOM_CACHE=off
  /// keeps nothing). Outputs are overwritten. `user_implementation` is the cuDNN Frontend's,
  /// and not looked at.
  error_t autotune(handle_t handle, std::unordered_map<int64_t, void*>& pack, void* workspace,
                   void* user_implementation = nullptr);
  error_t autotune(handle_t handle, std::unordered_map<TensorPtr, void*>& pack, void* workspace,
                   void* user_implementation = nullptr);
  error_t autotune(handle_t handle, std::unordered_map<int64_t, void*>& pack, void* workspace,
                   const AutotuneOptions& options);
  error_t autotune(handle_t handle, std::unordered_map<TensorPtr, void*>& pack, void* workspace,
                   const AutotuneOptions& options);

  // --- Looking inside ---
  /// The groups formed and why each fusion stopped, every candidate with predicted and measured
  /// time, every refusal with its reason, every byte range of the workspace with its purpose.
  std::string explain() const;
  /// The graph drawn as SVG: tensors, operations, and the candidate's groups as boxes.
  std::string to_svg() const;
  /// The JSON of the graph (to_json()).
  std::string print() const;
  /// The description that plans are made from: tensor and node tables with everything inferred.
  /// Null before build_operation_graph().
  std::shared_ptr<const ir::FrozenGraph> frozen() const;
  /// A hash of the description, without dims and strides of tensors where dynamic shapes are
  /// enabled; the same in every process and build of one version. Fixed from build_operation_graph
  /// on.
  size_t key() const;
  error_t query_tensor_attributes_of_uid(int64_t uid, Tensor_attributes& attributes) const;

  // --- Persistence ---
  std::string to_json() const;
  /// Replaces this graph by the one described. UNSUPPORTED_GRAPH_FORMAT names the path of what is
  /// wrong.
  error_t from_json(const std::string& text);
  /// The candidate as a binary container: the graph, the plan's name, and the kernels where
  /// building them costs time.
  error_t serialize(std::vector<uint8_t>& data) const;
  /// Replaces this graph by the one in the container, with its plan built as the candidate.
  /// UNSUPPORTED_GRAPH_FORMAT says what is wrong with the data: foreign, damaged, or of another
  /// version or device.
  error_t deserialize(handle_t handle, const std::vector<uint8_t>& data);
  error_t deserialize(handle_t handle, const std::vector<uint8_t>& data,
                      const DeserializeOptions& options);
  /// Gets what the first execution would wait for out of its way: on a CPU there is nothing.
  error_t warmup(handle_t handle);

  /// to_json() and from_json() as a value of nlohmann's JSON library, or of one like it.
  template <class Json>
  requires requires { Json::parse(std::string()); }
  void serialize(Json& json) const { json = Json::parse(to_json()); }
  template <class Json>
  requires requires { Json::parse(std::string()); }
  error_t deserialize(const Json& json) {
    return from_json(json.dump(-1, ' ', false, Json::error_handler_t::replace));
  }

  // --- CUDA graphs; GRAPH_NOT_SUPPORTED in this version ---
  error_t populate_cuda_graph(handle_t handle, std::unordered_map<int64_t, void*>& pack,
                              void* workspace, void* cuda_graph);
  error_t update_cuda_graph(handle_t handle, std::unordered_map<int64_t, void*>& pack,
                            void* workspace, void* cuda_graph);
  error_t populate_cuda_graph(handle_t handle, std::unordered_map<TensorPtr, void*>& pack,
                              void* workspace, void* cuda_graph);
  error_t update_cuda_graph(handle_t handle, std::unordered_map<TensorPtr, void*>& pack,
                            void* workspace, void* cuda_graph);

 private:
  struct State;
  /// Those of an empty graph once this one has been moved from.
  State& state();
  const State& state() const;
  std::unique_ptr<State> state_;
};

WARPLOOM_EXPORT std::ostream& operator<<(std::ostream& stream, const Graph& graph);

/// One tensor, or one operation with its fields and the keys of its tensors, as in a graph's JSON.
WARPLOOM_EXPORT std::string print(const Tensor_attributes& tensor);
WARPLOOM_EXPORT std::string print(const Operation& operation);

}  // namespace graph
}  // namespace warploom

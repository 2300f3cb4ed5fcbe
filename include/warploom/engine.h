#pragma once
/// The interface of an engine: something that can run fusion groups. Warploom's own engines and a
/// user's are equal here.
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <warploom/device.h>
#include <warploom/error.h>
#include <warploom/fusion_group.h>
#include <warploom/knob.h>

namespace warploom {

namespace engine {

/// Grows when Engine, Kernel or the read-only types they use change incompatibly.
inline constexpr int kInterfaceVersion = 1;

struct EngineInfo {
  std::string
      name;  ///< stable, lower case, e.g. "cpu.gemm"; the first component is the device or library
  DeviceType device = DeviceType::CPU;
  std::vector<Knob> knobs;
  /// Takes any group that it can at all, at any speed: offered by HeurMode_t::FALLBACK.
  bool is_fallback = false;
  /// Offered only when no other engine takes the group, or when it is named.
  bool is_last_resort = false;
};

/// Why an engine does not take a group. Its text is made only when somebody asks.
struct Refusal {
  /// The rule in words, e.g. "head dimension is at most 256". A literal: it must outlive the
  /// refusal.
  std::string_view rule;
  ir::NodeId node = ir::kNoNode;
  ir::TensorId tensor = ir::kNoTensor;
  std::string found;     ///< the offending value, e.g. "d_qk = 264"
  std::string accepted;  ///< the nearest accepted value, e.g. "256"
};

/// Yes, or the first rule that was broken.
struct Verdict {
  bool is_supported = true;
  Refusal refusal;
  static Verdict yes() { return {}; }
  static Verdict no(Refusal reason) { return {false, std::move(reason)}; }
};

using KnobSettings = std::vector<std::pair<KnobType_t, int64_t>>;

/// One way to run one group.
struct Candidate {
  std::string engine;
  KnobSettings knobs;           ///< in the order of EngineInfo::knobs
  int64_t workspace_bytes = 0;  ///< for the group's own shapes
  double predicted_microseconds = 0;
  std::vector<NumericalNote_t> numerical_notes;
  std::vector<BehaviorNote_t> behavior_notes;
};

/// A part of a kernel's workspace and what it is for, e.g. {"packed B", offset, bytes}. Shown by
/// Graph::explain().
struct WorkspacePart {
  std::string purpose;
  int64_t offset = 0;
  int64_t bytes = 0;
};

/// A kernel made ready for particular extents and strides. Immutable; launched from many threads at
/// once, each with its own workspace.
class BoundKernel {
 public:
  virtual ~BoundKernel() = default;
  virtual int64_t workspace_bytes() const = 0;
  virtual std::vector<WorkspacePart> workspace_parts() const = 0;
  /// `pointers`: the group's inputs, then its outputs. Scalars and pass-by-value tensors are host
  /// pointers. A group without elements to compute launches nothing. Allocates nothing, takes no
  /// lock (but for the thread pool's), never throws.
  virtual error_t launch(void* stream, std::span<void* const> pointers,
                         void* workspace) const noexcept = 0;
};

/// A built kernel: compiled, independent of extents and strides. Immutable.
class Kernel {
 public:
  virtual ~Kernel() = default;
  /// Arithmetic only, microseconds. `shapes` has an entry for every tensor of the graph.
  virtual Result<std::unique_ptr<const BoundKernel>> bind(ir::ShapeTable shapes) const = 0;
  /// What `Engine::load` needs to make this kernel again, for any group of the same signature on
  /// the same device; empty where building is as fast. It is kept on disk (docs/caches.md), so
  /// begin it with a version of your own: another build of your engine may find it.
  virtual std::vector<std::byte> save() const { return {}; }
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual EngineInfo info() const = 0;
  /// Pure arithmetic, no driver call. Yes means the result will be right.
  virtual Verdict supports(const fusion::FusionGroup& group, const Device& device) const = 0;
  /// For a supported group: its candidates, best first, at least one.
  virtual Result<std::vector<Candidate>> candidates(const fusion::FusionGroup& group,
                                                    const Device& device) const = 0;
  /// May compile. Called from several threads at once.
  virtual Result<std::unique_ptr<const Kernel>> build(const fusion::FusionGroup& group,
                                                      const Candidate& candidate,
                                                      const Device& device) const = 0;
  /// From Kernel::save(); an error, for what another version saved, has the kernel built instead.
  /// By default builds again.
  virtual Result<std::unique_ptr<const Kernel>> load(const fusion::FusionGroup& group,
                                                     const Candidate& candidate,
                                                     std::span<const std::byte> saved,
                                                     const Device& device) const {
    (void)saved;
    return build(group, candidate, device);
  }
};

}  // namespace engine

/// Adds an engine of the user's to those of this process; it is asked from the next
/// create_execution_plans on. INVALID_VALUE when the name is empty, taken, or the interface version
/// differs from this library's.
WARPLOOM_EXPORT error_t register_engine(std::shared_ptr<const engine::Engine> engine,
                                        int interface_version = engine::kInterfaceVersion);

}  // namespace warploom

#include "engines/cpu/plain_tensor.h"

#include <algorithm>
#include <cassert>

namespace warploom::cpu {
namespace {

constexpr TileShape kPrologueTile{32, 64};

}  // namespace

ir::TensorId port_tensor(const ir::Node& node, size_t port) {
  return port < node.inputs.size() ? node.inputs[port] : ir::kNoTensor;
}

PlainTensor plain_input(const fusion::FusionGroup& group, ir::ShapeTable shapes, size_t port) {
  return plain_tensor(group, shapes, port_tensor(group.node(group.anchor), port));
}

PlainTensor plain_tensor(const fusion::FusionGroup& group, ir::ShapeTable shapes, ir::TensorId id) {
  PlainTensor tensor;
  if (id == ir::kNoTensor) return tensor;
  tensor.shape = shapes[static_cast<size_t>(id)];
  tensor.type = group.tensor(id).data_type;
  tensor.pointer = pointer_index(group, id);
  return tensor;
}

StoredPrologue::StoredPrologue(const fusion::FusionGroup& group, const fusion::Prologue& prologue)
    : port_(prologue.port) {
  CompileOptions options;
  options.shape = kPrologueTile;
  options.tile_store = compute_type(choose_compute(group, prologue.expression));
  compiled_ = compile_expression(group, prologue.expression, options);
}

BoundStoredPrologue::BoundStoredPrologue(const StoredPrologue& prologue,
                                         const fusion::FusionGroup& group, ir::ShapeTable shapes,
                                         const Machine& machine, WorkspaceLayout& layout) {
  const CompiledExpression& compiled = prologue.compiled();
  result_.shape = shapes[static_cast<size_t>(compiled.domain)];
  result_.type = prologue.type();
  const int rank = result_.shape.rank();
  int64_t stride = 1;
  for (size_t axis = result_.shape.dims.size(); axis-- > 0; stride *= result_.shape.dims[axis])
    result_.shape.strides[axis] = stride;
  WalkOrder order;
  for (int axis = 0; axis + 1 < rank; ++axis) order.row_axes.push_back(axis);
  if (rank > 0) order.column_axes.push_back(rank - 1);
  [[maybe_unused]] bool is_bound = expression_.bind(compiled, group, shapes, order);
  assert(is_bound);
  const std::string& name = group.tensor(compiled.domain).name;
  result_.workspace_offset =
      layout.add("prologue of ", result_.shape.volume() * result_.element_bytes(), name);
  scratch_offset_ = layout.add("tiles of the prologue of ",
                               expression_.scratch_bytes() * machine.threads(), name);
}

void BoundStoredPrologue::run(const Machine& machine, std::span<void* const> pointers,
                              std::byte* workspace) const {
  const int64_t rows = expression_.rows(), columns = expression_.columns();
  if (rows == 0 || columns == 0) return;
  const int64_t bytes = result_.element_bytes();
  machine.run(
      divide_up(rows, kPrologueTile.rows), rows * columns > 65536, [&](int64_t task, int worker) {
        RunContext context{machine.kernels, pointers, workspace,
                           workspace + scratch_offset_ + worker * expression_.scratch_bytes()};
        const int64_t end = std::min<int64_t>(rows, (task + 1) * kPrologueTile.rows);
        for (int64_t row = task * kPrologueTile.rows; row < end;) {
          const int64_t count = std::min(end - row, expression_.rows_in_one_tile(row));
          for (int64_t column = 0; column < columns; column += kPrologueTile.columns) {
            TileOperand tile;
            tile.data = workspace + result_.workspace_offset + (row * columns + column) * bytes;
            tile.row_stride = columns;
            tile.column_stride = 1;
            expression_.run_tile(
                context,
                {row, count, column, std::min<int64_t>(kPrologueTile.columns, columns - column)},
                {}, &tile);
          }
          row += count;
        }
      });
}

void PlainInputs::bind(const std::vector<StoredPrologue>& prologues,
                       const fusion::FusionGroup& group, ir::ShapeTable shapes,
                       const Machine& machine, WorkspaceLayout& layout) {
  // Ports that are asked for but not there are empty tensors.
  const size_t ports = std::max<size_t>(group.node(group.anchor).inputs.size(), 16);
  for (size_t port = 0; port < ports; ++port) inputs_.push_back(plain_input(group, shapes, port));
  for (const StoredPrologue& prologue : prologues) {
    prologues_.emplace_back(prologue, group, shapes, machine, layout);
    inputs_[prologue.port()] = prologues_.back().result();
  }
}

void PlainInputs::run_prologues(const Machine& machine, std::span<void* const> pointers,
                                std::byte* workspace) const {
  for (const BoundStoredPrologue& prologue : prologues_) prologue.run(machine, pointers, workspace);
}

std::vector<StoredPrologue> stored_prologues(const fusion::FusionGroup& group) {
  std::vector<StoredPrologue> prologues;
  for (const fusion::Prologue& prologue : group.prologues) prologues.emplace_back(group, prologue);
  return prologues;
}

}  // namespace warploom::cpu

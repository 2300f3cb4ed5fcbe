#pragma once

#include "engines/cpu/bound_expression.h"
#include "engines/cpu/cost_model.h"
#include "engines/cpu/machine.h"

namespace warploom::cpu {

/// An expression that is evaluated over the whole of its domain, compiled for long rows and for
/// short ones.
struct WalkProgram {
  CompiledExpression wide, narrow;
};

/// `reduction`: the node that reduces the last value, if any.
WalkProgram compile_walk(const fusion::FusionGroup& group, const fusion::Expression& expression,
                         ir::NodeId reduction = ir::kNoNode);

/// A walk on particular shapes: the domain cut into tasks.
class BoundWalk {
 public:
  /// `program` must outlive this.
  void bind(const WalkProgram& program, const fusion::FusionGroup& group, ir::ShapeTable shapes,
            const Machine& machine, WorkspaceLayout& layout);
  /// Everything but the last step of reductions (finish_reductions, or combine_slices).
  void run(const Machine& machine, std::span<void* const> pointers, std::byte* workspace) const;

  const BoundExpression& expression() const { return expression_; }
  Work work() const;

 private:
  void cut(int64_t target_tasks);

  BoundExpression expression_;
  TaskGrid grid_;
  int64_t rows_per_task_ = 1, columns_per_task_ = 1;
  int64_t traffic_bytes_ = 0;
  int64_t scratch_offset_ = 0, scratch_stride_ = 0;
  bool is_parallel_ = false;
};

}  // namespace warploom::cpu

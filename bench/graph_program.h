#pragma once
// Graphs on fixed memory.

#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include <warploom/warploom.h>

#include "race.h"

namespace bench {

inline warploom::Handle* handle() {
  static const auto handle = warploom::create_handle();
  return handle.get();
}

inline void check(const warploom::error_object& error) {
  if (error.is_bad()) throw std::runtime_error(error.err_msg);
}

/// A graph that is built once and run on fixed memory.
class Program {
 public:
  Program() {
    graph_.set_io_data_type(warploom::DataType_t::FLOAT);
    graph_.set_intermediate_data_type(warploom::DataType_t::FLOAT)
        .set_compute_data_type(warploom::DataType_t::FLOAT);
  }
  warploom::graph::Graph& graph() { return graph_; }

  warploom::graph::TensorPtr input(std::vector<int64_t> dim, std::vector<int64_t> stride,
                                   Buffer& buffer) {
    warploom::graph::Tensor_attributes attributes;
    attributes.set_dim(dim).set_stride(stride);
    warploom::graph::TensorPtr tensor = graph_.tensor(attributes);
    pack_[tensor] = buffer.data();
    return tensor;
  }
  void output(const warploom::graph::TensorPtr& tensor, Buffer& buffer) {
    tensor->set_output(true);
    pack_[tensor] = buffer.data();
  }
  void build() {
    check(graph_.build(handle(), {warploom::HeurMode_t::A}));
    int64_t bytes = 0;
    check(graph_.get_workspace_size(bytes));
    workspace_ = std::make_unique<Buffer>(static_cast<size_t>(bytes / 4 + 16));
    check(graph_.get_plan_name(name_));
    // Uids exist now; a pack by uid costs no lookup of tensors.
    for (const auto& [tensor, pointer] : pack_) by_uid_[tensor->get_uid()] = pointer;
  }
  const std::string& plan() const { return name_; }
  void run() { check(graph_.execute(handle(), by_uid_, workspace_->data())); }

 private:
  warploom::graph::Graph graph_;
  std::unordered_map<warploom::graph::TensorPtr, void*> pack_;
  std::unordered_map<int64_t, void*> by_uid_;
  std::unique_ptr<Buffer> workspace_;
  std::string name_;
};

}  // namespace bench

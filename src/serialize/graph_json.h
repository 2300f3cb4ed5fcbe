#pragma once

#include <string>

#include <warploom/error.h>

#include "graph/description.h"

namespace warploom::serialize {

// {
//   "context": {name, io_data_type, intermediate_data_type, compute_data_type, ...},
//   "json_version": "1.0",
//   "nodes": [{tag, name, compute_data_type, fields..., "inputs": {PORT: key}, "outputs": ...}],
//   "tensors": {key: {name, data_type, dim, stride, ...}}
// }
// The key of a tensor is its uid, else its name, else whatever is free. Fields that the compatible
// format has not (alignment, compile_time_constant, vector_count, vector_dimension, sm_version) are
// written where they are not at their defaults, so that what is read is exactly what was written.

/// On one line. The same description gives the same text in every process.
std::string to_json(const graph::Description& description);

/// The entry of one tensor, or of one operation, in that.
std::string to_json(const graph::Tensor_attributes& tensor);
std::string to_json(const graph::Operation& operation);

/// A field that is absent has its default. UNSUPPORTED_GRAPH_FORMAT, with the path of the offending
/// value, for what is malformed or not known: tags, fields, ports, versions. Whether the graph
/// makes sense is for validate() to say.
Result<graph::Description> from_json(const std::string& text);

}  // namespace warploom::serialize

#include "ops/philox.h"
#include "ops/reference_families.h"

namespace warploom::ops {

void reference(const graph::Rng_attributes& rng, const ReferenceTensors& tensors) {
  using Rng = graph::Rng_attributes;
  const auto number = [&](size_t port, int64_t otherwise) {
    const ReferenceTensor& tensor = tensors.inputs[port];
    return static_cast<uint64_t>(tensor ? load<int64_t>(tensor, 0) : otherwise);
  };
  const uint64_t seed =
      rng.get_seed() ? static_cast<uint64_t>(*rng.get_seed()) : number(Rng::Seed, 0);
  const uint64_t offset = number(Rng::Offset, 0);
  const uint64_t threshold = bernoulli_threshold(*rng.get_bernoulli_probability());
  const ReferenceTensor& y = tensors.outputs[Rng::Y];
  uint64_t element = 0;
  for_each_index(y.shape->dims, [&](const Index& index) {
    const bool is_one = random_word(seed, offset, element++) < threshold;
    store(y, offset_of(*y.shape, index), int64_t{is_one});
  });
}

}  // namespace warploom::ops

#include "engines/cpu/engines.h"

#include "engines/cpu/attention.h"
#include "engines/cpu/attention_backward.h"
#include "engines/cpu/convolution.h"
#include "engines/cpu/gemm.h"
#include "engines/cpu/generic.h"
#include "engines/cpu/map.h"
#include "engines/cpu/move.h"
#include "engines/cpu/norm.h"
#include "engines/cpu/reduce.h"

namespace warploom::engines::cpu {

std::vector<std::shared_ptr<const engine::Engine>> make_engines() {
  using namespace warploom::cpu;
  return {
      std::make_shared<GemmEngine>(),      std::make_shared<ConvolutionEngine>(),
      std::make_shared<AttentionEngine>(), std::make_shared<MapEngine>(),
      std::make_shared<ReduceEngine>(),    std::make_shared<MoveEngine>(),
      std::make_shared<NormEngine>(),      std::make_shared<AttentionBackwardEngine>(),
      std::make_shared<GenericEngine>(),
  };
}

}  // namespace warploom::engines::cpu

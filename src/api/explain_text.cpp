#include "api/explain_text.h"

namespace warploom {

std::string explain_text(const plan::Explanation& explanation) {
  std::string text = "Plans:\n";
  for (const auto& plan : explanation.plans) text += plan.name + "\n";
  for (const auto& group : explanation.groups)
    for (const std::string& refusal : group.refusals) text += refusal + "\n";
  return text;
}

}  // namespace warploom

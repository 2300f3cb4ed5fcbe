#include "plan/ranking.h"

#include <algorithm>

namespace warploom::plan {
namespace {

/// One group of a base selection given to another offer.
struct Variation {
  const Selection* base;
  size_t group;
  const OfferPtr* offer;
  double expected_microseconds;
};

std::vector<Variation> variations(std::span<const Selection> bases) {
  std::vector<Variation> all;
  for (const Selection& base : bases)
    for (size_t group = 0; group < base.choices.size(); ++group) {
      const double rest = base.expected_microseconds - base.choices[group]->expected_microseconds;
      for (const OfferPtr& offer : base.partition->groups[group].offers)
        if (offer != base.choices[group])
          all.push_back({&base, group, &offer, rest + offer->expected_microseconds});
    }
  return all;
}

}  // namespace

Selection best_of(const PartitionPtr& partition) {
  Selection selection{partition, {}, 0};
  for (const ResolvedGroup& group : partition->groups) {
    selection.choices.push_back(group.offers.front());
    selection.expected_microseconds += group.offers.front()->expected_microseconds;
  }
  return selection;
}

std::vector<Selection> rank(std::span<const PartitionPtr> partitions, size_t most) {
  std::vector<Selection> bases;
  for (const PartitionPtr& partition : partitions) bases.push_back(best_of(partition));
  std::vector<Variation> varied = variations(bases);
  std::ranges::stable_sort(varied, {}, &Variation::expected_microseconds);
  varied.resize(std::min(varied.size(), most - std::min(most, bases.size())));

  std::vector<Selection> ranked = bases;
  for (const Variation& variation : varied) {
    Selection& selection = ranked.emplace_back(*variation.base);
    selection.choices[variation.group] = *variation.offer;
    selection.expected_microseconds = variation.expected_microseconds;
  }
  std::ranges::stable_sort(ranked, {}, &Selection::expected_microseconds);
  return ranked;
}

}  // namespace warploom::plan

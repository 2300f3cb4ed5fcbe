#include <gtest/gtest.h>

#include "fuzz/random_graph.h"

namespace warploom::test {
namespace {

// Damages a text in one of the ways that a bad disk, a bad editor or a bad person would.
void damage(std::string& text, Draw& draw) {
  if (text.empty()) return;
  const auto size = static_cast<int64_t>(text.size());
  const auto position = static_cast<size_t>(draw.below(size));
  const auto length = static_cast<size_t>(1 + draw.below(24));
  switch (draw.below(6)) {
    case 0:
      text[position] = static_cast<char>(draw.below(256));
      break;
    case 1:
      text.erase(position, length);
      break;
    case 2:
      text.insert(position, text.substr(static_cast<size_t>(draw.below(size)), length));
      break;
    case 3: {
      constexpr const char* kValues[] = {
          "null", "-1",   "0",    "9223372036854775807", "1e400", "[]",
          "{}",   "\"\"", "true", "4611686018427387904", "0.5"};
      // In place of the number that begins here or further on.
      const size_t begin = text.find_first_of("0123456789", position);
      if (begin == std::string::npos) break;
      const size_t end = std::min(text.find_first_not_of("0123456789", begin), text.size());
      text.replace(begin, end - begin, draw.from(kValues));
      break;
    }
    case 4: {
      const size_t begin = text.find('"', position);
      if (begin != std::string::npos) text.insert(begin + 1, "x");
      break;
    }
    default:
      text.resize(position);
  }
}

// Any text gives a graph or an error with a message; so does all that is done with the graph.
void read_damaged(uint32_t seed) {
  RandomGraph random(seed / 16);
  ASSERT_TRUE(random.graph.validate().is_good());
  std::string text = random.graph.to_json();
  Draw draw(seed);
  for (int64_t count = 1 + draw.below(3); count > 0; --count) damage(text, draw);
  SCOPED_TRACE("WARPLOOM_FUZZ_SEED=" + std::to_string(seed) + ": " + text);

  graph::Graph graph;
  auto error = graph.from_json(text);
  if (error.is_good()) error = graph.build(cpu(), {HeurMode_t::A});
  if (error.is_bad()) {
    EXPECT_NE(error.get_message(), "");
  }
  (void)graph.explain();
}

TEST(DamagedJson, GivesAnAnswer) {
  for (uint32_t seed : seeds(400)) read_damaged(seed);
}

TEST(DamagedJsonLong, GivesAnAnswer) {
  for (uint32_t seed : seeds(20000)) read_damaged(seed);
}

}  // namespace
}  // namespace warploom::test

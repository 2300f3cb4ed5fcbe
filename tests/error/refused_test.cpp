// Every mistake of every file here is refused with its code and reason.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "harness/case_file.h"

namespace warploom::test {

struct Mistake {
  std::string name, about;
  Json graph, code, message;
  bool is_accepted = false;  ///< the unchanged graph
};

void PrintTo(const Mistake& mistake, std::ostream* stream) {
  *stream << mistake.about;
}

namespace {

std::vector<Mistake> load_mistakes() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(WARPLOOM_SOURCE_DIR "/tests/error"))
    if (entry.path().extension() == ".json") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());

  std::vector<Mistake> mistakes;
  for (const auto& path : paths) {
    std::ifstream stream(path);
    const Json file = Json::parse(stream);
    const std::string family = path.stem().string();
    mistakes.push_back(
        {family + "_accepted", "the graph of " + family, file.at("graph"), {}, {}, true});
    for (const Json& entry : file.at("mistakes")) {
      Json graph = file.at("graph");
      const Json set = entry.value("set", Json::object());
      for (const auto& [pointer, value] : set.items()) graph[Json::json_pointer(pointer)] = value;
      const Json remove = entry.value("remove", Json::array());
      for (const Json& pointer : remove) {
        const Json::json_pointer place(pointer.get<std::string>());
        graph[place.parent_pointer()].erase(place.back());
      }
      mistakes.push_back({family + "_" + std::to_string(mistakes.size()), entry.at("about"), graph,
                          entry.at("code"), entry.at("message"), false});
    }
  }
  return mistakes;
}

error_t build(Json description) {
  complete_graph(description);
  graph::Graph graph;
  CHECK_WARPLOOM_ERROR(graph.from_json(description.dump()));
  CHECK_WARPLOOM_ERROR(graph.validate());
  return graph.build(cpu(), {HeurMode_t::A, HeurMode_t::FALLBACK});
}

class Refused : public testing::TestWithParam<Mistake> {};

TEST_P(Refused, WithItsCodeAndReason) {
  const Mistake& mistake = GetParam();
  const error_t error = build(mistake.graph);
  if (mistake.is_accepted) {
    EXPECT_TRUE(error.is_good()) << error;
    return;
  }
  EXPECT_EQ(to_string(error.get_code()), mistake.code.get<std::string>()) << error;
  for (const Json& part : mistake.message)
    EXPECT_NE(error.get_message().find(part.get<std::string>()), std::string::npos)
        << part << " is not in: " << error;
}

INSTANTIATE_TEST_SUITE_P(Mistakes, Refused, testing::ValuesIn(load_mistakes()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace warploom::test

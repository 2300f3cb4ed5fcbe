// The bytes of plan containers: what is written, and what is refused and why.
#include "serialize/plan_container.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace warploom::serialize {
namespace {

using Bytes = std::vector<uint8_t>;

// Written in December 2026 by version 0.1.0. WARPLOOM_UPDATE_GOLDEN=1 writes it anew, which only a
// new version of the format gives reason for (and then beside the old one).
const std::string kGolden = std::string(WARPLOOM_SOURCE_DIR) + "/tests/api/data/relu_v1.plan";

PlanContainer golden_content() {
  PlanContainer container;
  container.graph_json =
      R"({"context":{"compute_data_type":"FLOAT","intermediate_data_type":"FLOAT",)"
      R"("io_data_type":"FLOAT","name":"golden"},"json_version":"1.0","nodes":[{"inputs":)"
      R"({"IN_0":"1"},"mode":"RELU_FWD","name":"relu","outputs":{"OUT_0":"2"},"tag":"POINTWISE"}],)"
      R"("tensors":{"1":{"dim":[2,3],"name":"X","stride":[3,1],"uid":1,"uid_assigned":true},)"
      R"("2":{"dim":[2,3],"name":"Y","stride":[3,1],"uid":2,"uid_assigned":true}}})";
  container.library_version = "0.1.0";
  container.architecture = "golden";
  container.plan_name = "cpu.map";
  container.payloads = {{std::byte{0}, std::byte{0xff}, std::byte{7}}, {}};
  return container;
}

// As docs/plan-container.md states it.
uint64_t checksum(const uint8_t* data, size_t size) {
  uint64_t state = 0xcbf29ce484222325;
  for (int byte = 0; byte < 8; ++byte)
    state = (state ^ ((uint64_t{size} >> (8 * byte)) & 0xff)) * 0x100000001b3;
  for (size_t i = 0; i < size; ++i) state = (state ^ data[i]) * 0x100000001b3;
  return state;
}

void set_number(Bytes& data, size_t offset, uint64_t number) {
  for (size_t byte = 0; byte < 8; ++byte)
    data[offset + byte] = static_cast<uint8_t>(number >> (8 * byte));
}

/// Makes the size and the checksum right again.
Bytes sealed(Bytes data) {
  set_number(data, 16, data.size());
  set_number(data, 8, checksum(data.data() + 16, data.size() - 16));
  return data;
}

/// The complaint about `data`, "" for none.
std::string complaint(const Bytes& data, PlanContainer& container) {
  const error_t error = read_plan_container(data, container);
  if (error.is_bad()) {
    EXPECT_EQ(error.code, error_code_t::UNSUPPORTED_GRAPH_FORMAT);
  }
  return error.err_msg;
}

void expect_complaint(const Bytes& data, const std::string& part) {
  PlanContainer container;
  const std::string text = complaint(data, container);
  EXPECT_NE(text, "");
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(PlanContainer, VersionOneIsReadAndWrittenAsItWas) {
  const PlanContainer content = golden_content();
  if (std::getenv("WARPLOOM_UPDATE_GOLDEN")) {
    const Bytes data = write_plan_container(content);
    std::ofstream(kGolden, std::ios::binary)
        .write(reinterpret_cast<const char*>(data.data()), static_cast<int64_t>(data.size()));
  }
  std::ifstream file(kGolden, std::ios::binary);
  const Bytes golden{std::istreambuf_iterator<char>(file), {}};
  ASSERT_FALSE(golden.empty());
  PlanContainer read;
  EXPECT_EQ(complaint(golden, read), "");
  EXPECT_EQ(read, content);
  EXPECT_EQ(write_plan_container(content), golden);
  EXPECT_EQ(sealed(golden), golden) << "the checksum is the documented one";
}

TEST(PlanContainer, AnotherVersionOfTheFormatIsNamedAndItsGraphRead) {
  Bytes data = write_plan_container(golden_content());
  set_number(data, 24, 2);
  // A later version may have anything behind the graph.
  data.resize(data.size() - 20);
  data.insert(data.end(), 100, 0xee);
  expect_complaint(sealed(data), "found version 2 of the format, accepted 1");
  PlanContainer container;
  (void)read_plan_container(sealed(data), container);
  EXPECT_EQ(container.graph_json, golden_content().graph_json);
  EXPECT_EQ(container.plan_name, "");
  set_number(data, 24, 0);
  expect_complaint(sealed(data), "found version 0 of the format, accepted 1");
}

TEST(PlanContainer, ForeignFilesAreNamed) {
  expect_complaint({}, "there are no data");
  const std::string json = golden_content().graph_json;
  expect_complaint(Bytes(json.begin(), json.end()), "from_json() reads");
  expect_complaint({0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0, 0, 0, 13},
                   "is none: begins with 89 50 4e 47 0d 0a 1a 0a");
  expect_complaint({'x'}, "is none: begins with 78, accepted 89 57 50 4c 0d 0a 1a 0a");
  Bytes as_text = write_plan_container(golden_content());
  as_text.erase(as_text.begin() + 4);  // what a transfer as text does to \r\n
  expect_complaint(as_text, "is none");
}

TEST(PlanContainer, EveryTruncationIsRefused) {
  const Bytes whole = write_plan_container(golden_content());
  const size_t graph_end = 48 + golden_content().graph_json.size();
  for (size_t size = 0; size < whole.size(); ++size) {
    SCOPED_TRACE(size);
    const Bytes cut(whole.begin(), whole.begin() + static_cast<int64_t>(size));
    expect_complaint(cut, size == 0 ? "there are no data" : "is cut off");
    PlanContainer container;
    (void)read_plan_container(cut, container);
    EXPECT_EQ(container.graph_json, size < graph_end ? "" : golden_content().graph_json);
    // Whoever makes the size and the checksum right gets no further, unless nothing was cut.
    const char* const part = size < graph_end ? "its graph is not" : "what follows its graph";
    if (size >= 48) expect_complaint(sealed(cut), part);
  }
  Bytes longer = whole;
  longer.push_back(0);
  expect_complaint(longer, "something follows it");
  expect_complaint(sealed(longer), "what follows its graph");
}

TEST(PlanContainer, EveryFlippedBitIsRefused) {
  const Bytes whole = write_plan_container(golden_content());
  const PlanContainer content = golden_content();
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    SCOPED_TRACE(bit);
    Bytes flipped = whole;
    flipped[bit / 8] ^= static_cast<uint8_t>(1 << (bit % 8));
    PlanContainer container;
    EXPECT_NE(complaint(flipped, container), "");
    EXPECT_TRUE(container.graph_json.empty() || container.graph_json == content.graph_json);
    EXPECT_TRUE(container.payloads.empty());
    // Damage with a right checksum: whatever it says, it is no crash and takes no memory.
    if (bit >= 16 * 8) (void)complaint(sealed(flipped), container);
  }
}

TEST(PlanContainer, LengthsThatLieTakeNoMemory) {
  const Bytes whole = write_plan_container(golden_content());
  for (size_t offset = 24; offset + 8 <= whole.size(); ++offset)
    for (const uint64_t lie : {uint64_t{1} << 32, uint64_t{1} << 62, ~uint64_t{0}, ~uint64_t{7}}) {
      Bytes data = whole;
      set_number(data, offset, lie);
      PlanContainer container;
      (void)complaint(data, container);
      (void)complaint(sealed(data), container);
    }
}

TEST(PlanContainer, SuitsItsVersionAndDevice) {
  Device device;
  device.architecture = "golden";
  PlanContainer container = golden_content();
  EXPECT_TRUE(check_suitable(container, device).is_good());
  const auto message = [&] { return check_suitable(container, device).err_msg; };
  container.library_version = "0.0.9";
  EXPECT_NE(message().find("is of version 0.0.9 of Warploom, this is 0.1.0"), std::string::npos);
  container = golden_content();
  container.architecture = "avx1024";
  EXPECT_NE(message().find("for CPU (avx1024), the device here is CPU (golden)"),
            std::string::npos);
  container.device_type = DeviceType::CUDA;
  container.architecture = "golden";
  EXPECT_NE(message().find("for CUDA (golden), the device here is CPU"), std::string::npos);
}

}  // namespace
}  // namespace warploom::serialize

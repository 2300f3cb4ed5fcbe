// .npy files against bytes that NumPy 2.1 wrote, and against damage of every kind.
#include "tools/npy.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <random>

#include "tools/file.h"

namespace warploom::tools {
namespace {

namespace fs = std::filesystem;

class Npy : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "warploom_npy_XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path write(const std::string& bytes) const {
    const fs::path path = folder_ / "file.npy";
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  static std::string file(const std::string& header, const std::string& data, char major = 1) {
    std::string bytes("\x93NUMPY", 6);
    bytes += major;
    bytes += '\0';
    const size_t size = header.size();
    for (int i = 0; i < (major == 1 ? 2 : 4); ++i) bytes += static_cast<char>(size >> 8 * i & 255);
    return bytes + header + data;
  }
  /// The message of reading these bytes; empty when they are accepted.
  std::string complaint(const std::string& bytes) const {
    return read_npy(write(bytes)).error().err_msg;
  }

  fs::path folder_;
};

const std::string kFourFloats(16, '\0');
constexpr char kGoodHeader[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }\n";

TEST_F(Npy, ReadsWhatNumpyWrites) {
  // numpy.save of numpy.array([[1, 2, 3], [4, 5, 6]], dtype='<f4').
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  header.resize(117, ' ');
  header += '\n';
  std::string data;
  for (float value : {1.f, 2.f, 3.f, 4.f, 5.f, 6.f}) {
    data.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  for (char major : {1, 2, 3}) {
    const Result<NpyArray> array = read_npy(write(file(header, data, major)));
    ASSERT_TRUE(array.is_good()) << array.error().err_msg;
    EXPECT_EQ(array.value().data_type, DataType_t::FLOAT);
    EXPECT_EQ(array.value().dims, (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(array.value().strides, (std::vector<int64_t>{3, 1}));
    EXPECT_EQ(std::memcmp(array.value().data.data(), data.data(), data.size()), 0);
  }
}

TEST_F(Npy, FortranOrderIsAMatterOfStrides) {
  const Result<NpyArray> array = read_npy(write(file(
      "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 4), }\n", std::string(24, 'x'))));
  ASSERT_TRUE(array.is_good()) << array.error().err_msg;
  EXPECT_EQ(array.value().strides, (std::vector<int64_t>{1, 2, 6}));
}

TEST_F(Npy, ScalarsVectorsAndEmptyArrays) {
  const auto dims = [&](const std::string& shape, size_t bytes) {
    const Result<NpyArray> array =
        read_npy(write(file("{'descr': '<i8', 'fortran_order': False, 'shape': " + shape + ", }",
                            std::string(bytes, 1))));
    EXPECT_TRUE(array.is_good()) << array.error().err_msg;
    return array.is_good() ? array.value().dims : std::vector<int64_t>{-1};
  };
  EXPECT_EQ(dims("()", 8), std::vector<int64_t>{});
  EXPECT_EQ(dims("(3,)", 24), std::vector<int64_t>{3});
  EXPECT_EQ(dims("(3, 0)", 0), (std::vector<int64_t>{3, 0}));
  EXPECT_EQ(dims("(0, 4611686018427387904, 4611686018427387904)", 0).size(), 3u);
}

TEST_F(Npy, EveryDataTypeKeepsItsName) {
  for (const auto& [type, descr] :
       std::vector<std::pair<DataType_t, std::string>>{{DataType_t::HALF, "<f2"},
                                                       {DataType_t::FLOAT, "<f4"},
                                                       {DataType_t::DOUBLE, "<f8"},
                                                       {DataType_t::INT8, "|i1"},
                                                       {DataType_t::UINT8, "|u1"},
                                                       {DataType_t::INT32, "<i4"},
                                                       {DataType_t::INT64, "<i8"},
                                                       {DataType_t::BOOLEAN, "|b1"},
                                                       {DataType_t::BFLOAT16, "<V2"}}) {
    EXPECT_EQ(npy_descr(type), descr);
    const NpyArray written{
        type, {2, 1, 3}, {}, std::vector<std::byte>(6u * detail::get_data_type_size(type))};
    const fs::path path = folder_ / "written.npy";
    ASSERT_TRUE(write_npy(path, written).is_good());
    const std::string bytes = read_text(path).value();
    EXPECT_NE(bytes.find("'descr': '" + descr + "'"), std::string::npos);
    EXPECT_EQ((bytes.size() - written.data.size()) % 64, 0u) << "data is aligned";
    const Result<NpyArray> read = read_npy(path);
    ASSERT_TRUE(read.is_good()) << read.error().err_msg;
    EXPECT_EQ(read.value().data_type, type);
    EXPECT_EQ(read.value().dims, written.dims);
  }
}

TEST_F(Npy, EveryDamageHasItsMessage) {
  const auto expect = [&](const std::string& bytes, const std::string& part) {
    const std::string message = complaint(bytes);
    EXPECT_NE(message.find(part), std::string::npos) << "got: " << message << "\nfor: " << part;
    EXPECT_NE(message.find("file.npy"), std::string::npos) << message;
  };
  const auto header = [&](const std::string& text) { return file(text, kFourFloats); };
  expect("", "not a .npy file");
  expect("PK\x03\x04 a zip", "not a .npy file");
  expect(std::string("\x93NUMPY\x09\x00", 8), "version 9.0");
  expect(std::string("\x93NUMPY\x01\x00", 8), "ends within its header");
  expect(std::string("\x93NUMPY\x01\x00\xff\xff{}", 12), "ends within its header");
  expect(file(std::string(2 << 20, ' '), "", 2), "a header of 2097152 bytes");
  expect(header(""), "'{' expected");
  expect(header("{'descr' '<f4'}"), "':' expected");
  expect(header("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (4,)}"),
         "a quoted string expected");
  expect(header("{'descr': '<f4, }"), "a string without end");
  expect(header("{'descr': '<f4', 'fortran_order': Maybe}"), "True or False expected");
  expect(header("{'descr': '<f4', 'fortran_order': False, 'shape': 4}"), "'(' expected");
  expect(header("{'descr': '<f4', 'fortran_order': False, 'shape': (-4,)}"), "negative dimension");
  expect(header("{'descr': '<f4', 'fortran_order': False, 'shape': (4 4)}"), "')' expected");
  expect(header("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}"),
         "too large");
  expect(header("{'descr': '<f4', 'fortran_order': False}"), "'shape' is missing");
  expect(header("{'shape': (4,), 'fortran_order': False}"), "'descr' is missing");
  expect(header("{'shape': (4,), 'descr': '<f4'}"), "'fortran_order' is missing");
  expect(header("{'descr': '<f4', 'descr': '<f4'}"), "'descr' is unknown or given twice");
  expect(header("{'descr': '<f4', 'colour': 'red'}"), "'colour' is unknown");
  expect(header(std::string(kGoodHeader) + "x"), "something follows");
  expect(header("{'descr': '>f4', 'fortran_order': False, 'shape': (4,)}"), "'>f4'");
  expect(header("{'descr': '<c8', 'fortran_order': False, 'shape': (2,)}"), "'<c8'");
  expect(header("{'descr': '<f4', 'fortran_order': False, 'shape': (5,)}"),
         "more than the 16 bytes");
  expect(header("{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}"),
         "needs 12 bytes, and 16 follow");
  expect(header("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}"),
         "more than the 16 bytes");
  EXPECT_NE(read_npy(folder_ / "absent.npy").error().err_msg.find("no such file"),
            std::string::npos);
  EXPECT_NE(read_npy(folder_).error().err_msg.find("not a regular file"), std::string::npos);
}

TEST_F(Npy, NoDamageDoesHarm) {
  const std::string good = file(kGoodHeader, kFourFloats);
  ASSERT_EQ(complaint(good), "");
  std::mt19937 random(1);
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string bad = good;
    for (unsigned changes = 1 + random() % 3; changes > 0; --changes) {
      bad[random() % bad.size()] = static_cast<char>(random());
    }
    if (i % 3 == 0) bad.resize(random() % bad.size());
    const Result<NpyArray> array = read_npy(write(bad));
    refused += array.is_bad();
    if (array.is_bad()) continue;
    int64_t elements = 1;
    for (int64_t dim : array.value().dims) elements *= dim;
    EXPECT_EQ(static_cast<int64_t>(array.value().data.size()),
              elements * detail::get_data_type_size(array.value().data_type));
  }
  EXPECT_GT(refused, 1000);
}

TEST_F(Npy, WritesWholeOrNotAtAll) {
  const NpyArray array{DataType_t::UINT8, {3}, {}, std::vector<std::byte>(3)};
  const fs::path absent = folder_ / "absent" / "y.npy";
  EXPECT_NE(write_npy(absent, array).err_msg.find("cannot be written"), std::string::npos);
  EXPECT_NE(write_npy(folder_, array).err_msg.find("is a folder"), std::string::npos);

  const fs::path path = folder_ / "y.npy";
  std::ofstream(path) << "before";
  fs::create_symlink(path, folder_ / "link.npy");
  ASSERT_TRUE(write_npy(folder_ / "link.npy", array).is_good());
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.npy"));
  EXPECT_TRUE(read_npy(path).is_good());
  const auto count = std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  EXPECT_EQ(count, 2) << "nothing is left beside the file";
}

}  // namespace
}  // namespace warploom::tools

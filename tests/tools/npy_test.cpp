// Tests reading and writing of .npy files, and conversions of tensor elements and shapes.
#include "tools/gantry/io/npy.h"

#include "tools/gantry/error.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>

namespace gantry::tool {
namespace {

/// Returns the bytes of a .npy file. major: the version of the format.
std::vector<uint8_t> npy(const std::string &header, std::vector<uint8_t> data = {},
                         uint8_t major = 1) {
  std::vector<uint8_t> bytes{0x93, 'N', 'U', 'M', 'P', 'Y', major, 0};
  for (size_t i = 0; i < (major == 1 ? 2u : 4u); ++i)
    bytes.push_back(static_cast<uint8_t>(header.size() >> (8 * i)));
  bytes.insert(bytes.end(), header.begin(), header.end());
  bytes.insert(bytes.end(), data.begin(), data.end());
  return bytes;
}

std::string header(const std::string &descr, const std::string &shape, bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }\n";
}

/// Returns the error message; fails the test if the file is accepted.
std::string refusal(const std::vector<uint8_t> &bytes) {
  try {
    parseNpy(bytes, "x.npy");
  } catch (const ToolError &error) {
    EXPECT_EQ(error.code(), ExitCode::kBadInput);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.what();
  }
  ADD_FAILURE() << "accepted";
  return "";
}

TEST(Npy, RoundTripsEveryType) {
  for (const TypeTraits &traits : allTypes())
    for (const std::vector<int64_t> &dims :
         {std::vector<int64_t>{}, {3}, {2, 3}, {0}, {2, 0, 4}, {1, 2, 3, 1, 2, 1, 1, 2}}) {
      Tensor tensor{traits.type, dims, {}};
      tensor.bytes.resize(*elementCount(dims, traits.sizeBytes) * traits.sizeBytes);
      for (uint64_t i = 0; i < elementCount(tensor); ++i)
        setElement(tensor, i, static_cast<double>(i % 2));
      std::vector<uint8_t> bytes = formatNpy(tensor);
      size_t dataBytes = tensor.bytes.size();
      EXPECT_EQ((bytes.size() - dataBytes) % 64, 0u);
      Tensor back = parseNpy(bytes, "x.npy");
      EXPECT_EQ(back.type, traits.type) << traits.name;
      EXPECT_EQ(back.dims, dims);
      EXPECT_EQ(back.bytes, tensor.bytes);
    }
}

TEST(Npy, ReadsAFileOfNumpy) {
  // This is the header that numpy.save writes for numpy.array([[1, 2, 3], [4, 5, 6]], dtype='<i2').
  std::string text = "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }";
  text.resize(117, ' ');
  text += '\n';
  Tensor tensor = parseNpy(npy(text, {1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0}), "x.npy");
  EXPECT_EQ(tensor.dims, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(elementAsInteger(tensor, 4), 5);
}

TEST(Npy, TransposesFortranOrder) {
  // The data are column-major with shape 2x3. Element (r, c) is 10 r + c.
  Tensor tensor = parseNpy(npy(header("|u1", "(2, 3)", true), {0, 10, 1, 11, 2, 12}), "x.npy");
  EXPECT_EQ(tensor.bytes, (std::vector<uint8_t>{0, 1, 2, 10, 11, 12}));
  tensor = parseNpy(npy(header("|u1", "(2, 1, 2)", true), {0, 10, 1, 11}), "x.npy");
  EXPECT_EQ(tensor.bytes, (std::vector<uint8_t>{0, 1, 10, 11}));
}

TEST(Npy, SwapsTheBytesOfBigEndianData) {
  Tensor tensor = parseNpy(npy(header(">i4", "(2,)"), {0, 0, 1, 2, 255, 255, 255, 254}), "x.npy");
  EXPECT_EQ(elementAsInteger(tensor, 0), 258);
  EXPECT_EQ(elementAsInteger(tensor, 1), -2);
}

TEST(Npy, ReadsVersions2And3) {
  for (uint8_t major : {2, 3})
    EXPECT_EQ(parseNpy(npy(header("|b1", "()"), {7}, major), "x").bytes, std::vector<uint8_t>{1});
}

TEST(Npy, ErrorsNameTheReason) {
  EXPECT_NE(refusal({}).find("magic"), std::string::npos);
  EXPECT_NE(refusal(npy(header("<f4", "(2,)"), {0, 0, 0, 0})).find("4 bytes"), std::string::npos);
  EXPECT_NE(refusal(npy(header("<f4", "(1,)"), {0, 0, 0, 0, 0})).find("needs 4"),
            std::string::npos);
  EXPECT_NE(refusal(npy(header("<c8", "(1,)"))).find("<c8"), std::string::npos);
  EXPECT_NE(refusal(npy(header("|O", "(1,)"))).find("|O"), std::string::npos);
  EXPECT_NE(refusal(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}"))
                .find("structured"),
            std::string::npos);
  EXPECT_NE(refusal(npy(header("<f4", "(4294967296, 4294967296)"))).find("impossible"),
            std::string::npos);
  refusal(npy(header("<f4", "(-1,)")));
  refusal(npy(header("<f4", "(99999999999999999999,)")));
  refusal(npy(header("<f4", "(1, 1, 1, 1, 1, 1, 1, 1, 1)"), {0, 0, 0, 0}));
  refusal(npy("{'descr': '<f4', 'shape': (1,)}", {0, 0, 0, 0}));
  refusal(npy(header("<f4", "(1,)"), {0, 0, 0, 0}, 9));
  std::vector<uint8_t> endless = npy(header("<f4", "(1,)"));
  endless[8] = endless[9] = 255;
  EXPECT_NE(refusal(endless).find("ends inside"), std::string::npos);
}

TEST(Npy, SurvivesMutation) {
  const unsigned seed = 20240607;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  Tensor tensor{GANTRY_TYPE_F32, {3, 5, 2}, std::vector<uint8_t>(120)};
  std::vector<uint8_t> good = formatNpy(tensor);
  size_t accepted = 0, refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<uint8_t> bytes = good;
    for (unsigned n = 1 + random() % 4; n > 0; --n)
      bytes[random() % 96] =
          static_cast<uint8_t>(random() % 3 ? "0123456789(),'<>fiTrue "[random() % 23] : random());
    if (random() % 8 == 0)
      bytes.resize(random() % bytes.size());
    try {
      Tensor result = parseNpy(bytes, "x.npy");
      auto count = elementCount(result.dims, traitsOf(result.type).sizeBytes);
      ASSERT_TRUE(count.has_value());
      ASSERT_EQ(result.bytes.size(), *count * traitsOf(result.type).sizeBytes);
      ++accepted;
    } catch (const ToolError &) {
      ++refused;
    }
  }
  EXPECT_GT(accepted, 0u);
  EXPECT_GT(refused, 1000u);
}

TEST(Tensor, HalvesRoundToNearestEven) {
  Tensor tensor{GANTRY_TYPE_F16, {1}, {0, 0}};
  // Every f16 except NaN must be unchanged after a conversion to double and back.
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    uint16_t half = static_cast<uint16_t>(bits);
    if ((half & 0x7c00) == 0x7c00 && (half & 0x3ff))
      continue;
    std::memcpy(tensor.bytes.data(), &half, 2);
    setElement(tensor, 0, elementAsDouble(tensor, 0));
    uint16_t back;
    std::memcpy(&back, tensor.bytes.data(), 2);
    ASSERT_EQ(back, half);
  }
  for (auto [value, expected] : {std::pair(1 + std::ldexp(1, -11), 1.0), // A tie rounds to even.
                                 std::pair(1 + 3 * std::ldexp(1, -11), 1 + std::ldexp(1, -9)),
                                 std::pair(65519.0, 65504.0), std::pair(1e30, HUGE_VAL)}) {
    setElement(tensor, 0, value);
    EXPECT_EQ(elementAsDouble(tensor, 0), expected) << value;
  }
  setElement(tensor, 0, NAN);
  EXPECT_TRUE(std::isnan(elementAsDouble(tensor, 0)));
}

TEST(Tensor, ParsesShapes) {
  EXPECT_EQ(parseShape("1x3x224x224"), (std::vector<int64_t>{1, 3, 224, 224}));
  EXPECT_EQ(parseShape("2,3"), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(parseShape("scalar"), std::vector<int64_t>{});
  for (const char *text :
       {"x", "1x", "1xx2", "-1", "a", "1x2y", "1x1x1x1x1x1x1x1x1", "99999999999999999999"})
    EXPECT_FALSE(parseShape(text)) << text;
}

TEST(Tensor, CountsWithoutOverflow) {
  EXPECT_EQ(elementCount(std::vector<int64_t>{1 << 30, 1 << 30}, 4),
            std::optional<uint64_t>(1ull << 60));
  EXPECT_FALSE(elementCount(std::vector<int64_t>{1 << 30, 1 << 30, 4}, 4));
  EXPECT_FALSE(elementCount(std::vector<int64_t>{-1}, 4));
  EXPECT_EQ(elementCount(std::vector<int64_t>{0, 1 << 30}, 4), std::optional<uint64_t>(0));
}

} // namespace
} // namespace gantry::tool

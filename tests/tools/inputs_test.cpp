// Tests how `gantry run` makes its input tensors: from files, at random, or as a range.
#include "tools/gantry/io/inputs.h"

#include "tools/gantry/error.h"

#include <gtest/gtest.h>

namespace gantry::tool {
namespace {

/// Replaces the reader of files: "f32:2x3" gives a tensor of zeros with this type and shape.
Tensor readFake(const std::string &path) {
  size_t colon = path.find(':');
  for (const TypeTraits &traits : allTypes())
    if (path.substr(0, colon) == traits.name) {
      Tensor tensor{traits.type, *parseShape(path.substr(colon + 1)), {}};
      tensor.bytes.resize(*elementCount(tensor.dims, traits.sizeBytes) * traits.sizeBytes);
      return tensor;
    }
  throw ToolError(ExitCode::kBadInput, "no such fake: " + path);
}

const std::vector<Port> kPorts = {
    {"tokens", GANTRY_TYPE_I64, {GANTRY_DYNAMIC, GANTRY_DYNAMIC}, {"batch", "time"}, false, ""},
    {"mask=1", GANTRY_TYPE_F32, {GANTRY_DYNAMIC, 4}, {"batch", ""}, false, ""},
};

/// Returns the error message of a request that must be refused.
std::string refusalOf(const InputRequest &request) {
  try {
    makeInputs(kPorts, request, readFake);
  } catch (const ToolError &error) {
    EXPECT_EQ(error.code(), ExitCode::kBadInput);
    return error.what();
  }
  ADD_FAILURE() << "accepted";
  return "";
}

TEST(Inputs, TakesFilesInOrderAndByName) {
  InputRequest request;
  request.files = {"mask=1=f32:2x4", "i64:2x3"};
  std::vector<Tensor> inputs = makeInputs(kPorts, request, readFake);
  EXPECT_EQ(inputs[0].dims, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(inputs[1].dims, (std::vector<int64_t>{2, 4}));
}

TEST(Inputs, SizesComeFromDimShapeAndOtherFiles) {
  InputRequest request;
  request.filling = Filling::kRandom;
  request.dims = {"batch=3", "time=7"};
  std::vector<Tensor> inputs = makeInputs(kPorts, request, readFake);
  EXPECT_EQ(inputs[0].dims, (std::vector<int64_t>{3, 7}));
  EXPECT_EQ(inputs[1].dims, (std::vector<int64_t>{3, 4}));
  request.dims = {};
  request.files = {"i64:5x6"};
  EXPECT_EQ(makeInputs(kPorts, request, readFake)[1].dims, (std::vector<int64_t>{5, 4}));
  request.files = {};
  request.shapes = {"tokens=1x2"};
  EXPECT_EQ(makeInputs(kPorts, request, readFake)[1].dims, (std::vector<int64_t>{1, 4}));
}

TEST(Inputs, ErrorsNameTheInputAndTheRemedy) {
  auto has = [](const std::string &text, const char *what) {
    EXPECT_NE(text.find(what), std::string::npos) << text;
  };
  InputRequest request;
  has(refusalOf(request), "'tokens' (i64 batchxtime)");
  has(refusalOf(request), "--random");
  request.filling = Filling::kRandom;
  has(refusalOf(request), "--dim batch=N");
  request.files = {"nosuch=f32:1"};
  has(refusalOf(request), "no input 'nosuch'");
  request.files = {"f32:2x3"};
  has(refusalOf(request), "elements of f32");
  request.files = {"i64:2"};
  has(refusalOf(request), "shape 2");
  request.files = {"i64:2x3", "f32:2x5"};
  has(refusalOf(request), "2x5");
  request.files = {"i64:2x3", "f32:3x4"};
  has(refusalOf(request), "'batch' is 3");
  request.files = {"i64:2x3", "f32:2x4", "f32:1"};
  has(refusalOf(request), "3 files");
  request.files = {"tokens=i64:2x3", "tokens=i64:2x3"};
  has(refusalOf(request), "twice");
  request.files = {"tokens="};
  has(refusalOf(request), "without a file");
  request.files = {};
  request.dims = {"batch"};
  has(refusalOf(request), "NAME=SIZE");
  request.dims = {"batch=-1"};
  has(refusalOf(request), "NAME=SIZE");
  request.dims = {"nosuch=1"};
  has(refusalOf(request), "nosuch");
  request.dims = {"batch=2", "time=3"};
  request.shapes = {"mask=1=3x4"};
  has(refusalOf(request), "'batch' is 3");
  request.shapes = {"mask=1=2x5"};
  has(refusalOf(request), "2x5");
  request.shapes = {"x=1"};
  has(refusalOf(request), "'x'");
  request.shapes = {};
  request.dims = {"batch=4294967296", "time=4294967296"};
  has(refusalOf(request), "memory");
}

TEST(Inputs, RandomIsDeterministicAndInRange) {
  Tensor a = randomTensor(GANTRY_TYPE_F32, {1000}, 7, 10);
  EXPECT_EQ(a.bytes, randomTensor(GANTRY_TYPE_F32, {1000}, 7, 10).bytes);
  EXPECT_NE(a.bytes, randomTensor(GANTRY_TYPE_F32, {1000}, 8, 10).bytes);
  double sum = 0;
  for (uint64_t i = 0; i < 1000; ++i) {
    EXPECT_GE(elementAsDouble(a, i), -1);
    EXPECT_LT(elementAsDouble(a, i), 1);
    sum += elementAsDouble(a, i);
  }
  EXPECT_LT(std::abs(sum / 1000), 0.1);
  Tensor b = randomTensor(GANTRY_TYPE_I64, {1000}, 7, 3);
  for (uint64_t i = 0; i < 1000; ++i)
    EXPECT_LT(static_cast<uint64_t>(elementAsInteger(b, i)), 3u);
  // The first value of SplitMix64 from seed 0 is 0xE220A8397B1DCDAF.
  EXPECT_EQ(elementAsDouble(randomTensor(GANTRY_TYPE_F32, {1}, 0, 1), 0),
            static_cast<double>(0xE220A8) / 0x800000 - 1);
}

TEST(Inputs, ArangeDividesTheIndexByTheCount) {
  Tensor tensor = arangeTensor(GANTRY_TYPE_F32, {2, 2}, 10);
  for (uint64_t i = 0; i < 4; ++i)
    EXPECT_EQ(elementAsDouble(tensor, i), static_cast<double>(i) / 4);
  EXPECT_EQ(elementAsInteger(arangeTensor(GANTRY_TYPE_I32, {12}, 10), 11), 1);
}

} // namespace
} // namespace gantry::tool

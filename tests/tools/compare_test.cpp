// Tests the comparison of tensors, the preview of tensors, and the statistics of `gantry bench`.
#include "tools/gantry/report/compare.h"

#include "tools/gantry/report/bench_statistics.h"
#include "tools/gantry/report/preview.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

namespace gantry::tool {
namespace {

Tensor tensorOf(std::vector<double> values, gantry_type_t type = GANTRY_TYPE_F32,
                std::vector<int64_t> dims = {}) {
  Tensor tensor{type,
                dims.empty() ? std::vector<int64_t>{static_cast<int64_t>(values.size())} : dims,
                std::vector<uint8_t>(values.size() * traitsOf(type).sizeBytes)};
  for (size_t i = 0; i < values.size(); ++i)
    setElement(tensor, i, values[i]);
  return tensor;
}

TEST(Compare, EqualTensorsAgree) {
  Tensor a = tensorOf({1, 2, NAN, INFINITY});
  Comparison c = compareTensors(a, a, {});
  EXPECT_TRUE(c.within);
  EXPECT_EQ(c.different, 0u);
  EXPECT_EQ(c.maxAbs, 0);
  EXPECT_EQ(c.l2, 0);
  EXPECT_EQ(worstText(c), "");
}

TEST(Compare, ReportsTheWorstElementAndTheErrors) {
  Tensor expected = tensorOf({3, 4, 0, 0, 0, 0}, GANTRY_TYPE_F32, {2, 3});
  Tensor actual = tensorOf({3, 4, 0, 0, 0.5, 0}, GANTRY_TYPE_F32, {2, 3});
  Comparison c = compareTensors(actual, expected, {});
  EXPECT_FALSE(c.within);
  EXPECT_EQ(c.different, 1u);
  EXPECT_EQ(c.worstIndex, (std::vector<int64_t>{1, 1}));
  EXPECT_DOUBLE_EQ(c.maxAbs, 0.5);
  EXPECT_DOUBLE_EQ(c.l2, 0.1);
  EXPECT_EQ(worstText(c), "worst at [1, 1]: 0.5, expected 0");
}

TEST(Compare, TheWorstElementExceedsItsToleranceByTheLargestFactor) {
  Comparison c = compareTensors(tensorOf({1001, 0.1}), tensorOf({1000, 0}), {1e-2, 1e-6, {}});
  EXPECT_EQ(c.worst, 1u); // The error of 1 at 1000 is within 1 %, although it is larger than 0.1.
  EXPECT_EQ(c.different, 1u);
  EXPECT_DOUBLE_EQ(c.maxAbs, 1);
}

TEST(Compare, UsesNumpysDefinitionOfTolerances) {
  EXPECT_TRUE(compareTensors(tensorOf({1.001}), tensorOf({1}), {1e-2, 0, {}}).within);
  EXPECT_FALSE(compareTensors(tensorOf({1.02}), tensorOf({1}), {1e-2, 0, {}}).within);
  EXPECT_TRUE(compareTensors(tensorOf({0.01}), tensorOf({0}), {0, 0.02, {}}).within);
  EXPECT_FALSE(compareTensors(tensorOf({0.01}), tensorOf({0}), {1, 0, {}}).within);
}

TEST(Compare, SpecialValuesDiffer) {
  for (double special : {double(NAN), double(INFINITY), -double(INFINITY)}) {
    Comparison c = compareTensors(tensorOf({1, special}), tensorOf({1, 2}), {1, 1, {}});
    EXPECT_FALSE(c.within) << special;
    EXPECT_EQ(c.worst, 1u);
    EXPECT_TRUE(std::isinf(c.maxAbs));
    EXPECT_FALSE(compareTensors(tensorOf({1, 2}), tensorOf({1, special}), {1, 1, {}}).within);
  }
  EXPECT_FALSE(compareTensors(tensorOf({INFINITY}), tensorOf({-INFINITY}), {}).within);
}

TEST(Compare, IntegersMustBeEqualUnlessAToleranceIsGiven) {
  Tensor a = tensorOf({1000}, GANTRY_TYPE_I64), b = tensorOf({1001}, GANTRY_TYPE_I64);
  EXPECT_FALSE(compareTensors(a, b, {}).within);
  EXPECT_TRUE(compareTensors(a, b, {{}, 1.0, {}}).within);
  // These neighbours above 2^53 are equal when they are converted to double.
  int64_t big = (int64_t{1} << 60) + 1;
  std::memcpy(a.bytes.data(), &big, 8);
  --big;
  std::memcpy(b.bytes.data(), &big, 8);
  EXPECT_FALSE(compareTensors(a, b, {}).within);
}

TEST(Compare, ShapesMustBeEqualButTypesMayDiffer) {
  Comparison c = compareTensors(tensorOf({1, 2}), tensorOf({1, 2}, GANTRY_TYPE_F32, {1, 2}), {});
  EXPECT_FALSE(c.within);
  EXPECT_EQ(c.problem, "the shape is 2, expected 1x2");
  EXPECT_TRUE(compareTensors(tensorOf({1, 2}), tensorOf({1, 2}, GANTRY_TYPE_F64), {}).within);
}

TEST(Compare, AnL2ToleranceWithoutOthersReplacesTheTolerancePerElement) {
  Tensor expected = tensorOf({100, 0}), actual = tensorOf({100, 0.5});
  EXPECT_TRUE(compareTensors(actual, expected, {{}, {}, 1e-2}).within);
  EXPECT_FALSE(compareTensors(actual, expected, {{}, {}, 1e-3}).within);
  EXPECT_FALSE(compareTensors(actual, expected, {1e-3, {}, 1e-2}).within);
  EXPECT_FALSE(compareTensors(tensorOf({1.0}), tensorOf({0.0}), {{}, {}, 1.0}).within);
}

TEST(Compare, EmptyTensorsAgree) {
  EXPECT_TRUE(compareTensors(tensorOf({}), tensorOf({}), {}).within);
}

TEST(Preview, ShowsTheBestClasses) {
  Tensor scores = tensorOf({0, 5, NAN, 7, 1, 2, 7}, GANTRY_TYPE_F32, {1, 7});
  EXPECT_TRUE(isClassVector(scores));
  EXPECT_EQ(topIndices(scores, 3), (std::vector<uint64_t>{3, 6, 1}));
  EXPECT_EQ(previewText(scores), "top 5: 3 (7), 6 (7), 1 (5), 5 (2), 4 (1)");
  EXPECT_FALSE(isClassVector(tensorOf({1, 2, 3, 4}, GANTRY_TYPE_F32, {2, 2})));
  EXPECT_FALSE(isClassVector(tensorOf({1, 2, 3, 4}, GANTRY_TYPE_I32)));
  EXPECT_EQ(previewText(tensorOf({1, 2}, GANTRY_TYPE_I32)), "1, 2");
  EXPECT_EQ(previewText(tensorOf({0, 1, 2, 3, 4, 5, 6, 11}, GANTRY_TYPE_I32)),
            "0, 1, 2, 3, 4, 5, ... (min 0, max 11, mean 4)");
}

TEST(BenchStatistics, Percentiles) {
  std::vector<double> samples;
  for (int i = 100; i >= 0; --i)
    samples.push_back(i);
  Spread spread = spreadOf(samples);
  EXPECT_DOUBLE_EQ(spread.median, 50);
  EXPECT_DOUBLE_EQ(spread.p10, 10);
  EXPECT_DOUBLE_EQ(spread.p90, 90);
  EXPECT_DOUBLE_EQ(spread.min, 0);
  EXPECT_EQ(spread.count, 101u);
  EXPECT_DOUBLE_EQ(spreadOf({1, 2}).median, 1.5);
  EXPECT_EQ(spreadOf({}).count, 0u);
}

} // namespace
} // namespace gantry::tool

// Tests the CSV format of `gantry plan`: lists of buffers, and plans.
#include "tools/gantry/error.h"
#include "tools/gantry/planning/buffer_csv.h"

#include <gtest/gtest.h>

namespace gantry::tool {
namespace {

TEST(BufferCsv, ReadsTheFormatOfMinimalloc) {
  const BufferList buffers = parseBuffers("id,lower,upper,size\nb1,0,3,4\nb2,3,1000000,8\n", "x");
  ASSERT_EQ(buffers.values.size(), 2u);
  EXPECT_EQ(buffers.ids[1], "b2");
  // The column `upper` is exclusive, so the two buffers are not alive together.
  EXPECT_EQ(buffers.values[0].lastUse, 0u);
  EXPECT_EQ(buffers.values[1].firstUse, 1u);
  EXPECT_EQ(buffers.values[1].lastUse, 1u);
  EXPECT_EQ(buffers.values[1].sizeBytes, 8u);
  EXPECT_EQ(buffers.moments, (std::vector<int64_t>{0, 3, 1000000}));
}

TEST(BufferCsv, ReadsColumnsInAnyOrderAndOptionalColumns) {
  const BufferList buffers = parseBuffers(
      "size, id, offset, upper, lower, alignment\r\n8, a, 64, -2, -9, 32\r\n\r\n4,b,,5,-9,", "x");
  ASSERT_EQ(buffers.values.size(), 2u);
  EXPECT_EQ(buffers.values[0].alignment, 32u);
  EXPECT_EQ(buffers.values[1].alignment, 1u);
}

TEST(BufferCsv, ReadsAPlanThatItHasWritten) {
  const BufferList buffers =
      parseBuffers("id,lower,upper,size,alignment\na,1,2,3,4\nb,0,5,6,1\n", "x");
  plan::Plan plan;
  plan.offsets = {8, 0};
  const std::string text = formatPlan(buffers, plan);
  EXPECT_EQ(text, "id,lower,upper,size,alignment,offset\na,1,2,3,4,8\nb,0,5,6,1,0\n");
  EXPECT_EQ(formatPlan(parseBuffers(text, "x"), plan), text);
}

TEST(BufferCsv, ErrorsNameTheLineAndTheCause) {
  const auto refused = [](const char *text, const char *words) {
    try {
      parseBuffers(text, "list.csv");
      FAIL() << "accepted: " << text;
    } catch (const ToolError &error) {
      EXPECT_EQ(error.code(), ExitCode::kBadInput);
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  };
  refused("", "list.csv is empty");
  refused("id,lower,upper\n", "line 1: the column 'size' is missing");
  refused("id,lower,upper,size,colour\n", "line 1: there is no column 'colour'");
  refused("id,lower,upper,size,id\n", "line 1: the column 'id' is named twice");
  refused("id,lower,upper,size\na,1,2,3\n\na,1,2\n", "line 4: 3 fields, but the first line");
  refused("id,lower,upper,size\na,2,2,3\n", "line 2: upper 2 is not above lower 2");
  refused("id,lower,upper,size\na,1,2,-3\n", "line 2: the size '-3' is no whole number from 0");
  refused("id,lower,upper,size\na,1,2x,3\n", "line 2: the upper '2x' is no whole number");
  refused("id,lower,upper,size\na,1,2,99999999999999999999\n", "does not fit 64 bits");
  refused("id,lower,upper,size,alignment\na,1,2,3,6\n", "alignment 6 is no power of two");
}

} // namespace
} // namespace gantry::tool

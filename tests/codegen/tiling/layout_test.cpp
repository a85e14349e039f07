// Tests layouts: every element has its own address, and the four channels of a vec4 are adjacent.
#include "codegen/tiling/layout.h"

#include <gtest/gtest.h>

#include <set>

namespace gantry::codegen {
namespace {

/// Returns the address of the element at `index`, in elements.
int64_t place(llvm::ArrayRef<int64_t> layout, llvm::ArrayRef<int64_t> shape,
              llvm::ArrayRef<int64_t> index) {
  IndexSpace space;
  llvm::SmallVector<IndexExpr> extents, at;
  for (int64_t extent : shape)
    extents.push_back(IndexExpr(extent));
  for (int64_t i : index)
    at.push_back(IndexExpr(i));
  IndexExpr address = linearAddress(space, layout, extents, at);
  EXPECT_TRUE(address.isConstant());
  return address.constant;
}

TEST(Layout, TheEmptyListIsRowMajor) { EXPECT_EQ(place({}, {2, 3, 5}, {1, 2, 4}), 29); }

TEST(Layout, BlockedChannelsPermuteTheElements) {
  const auto layout = channelsBlocked(4, 4);
  std::set<int64_t> places;
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t c = 0; c < 8; ++c)
      for (int64_t h = 0; h < 3; ++h)
        for (int64_t w = 0; w < 5; ++w)
          places.insert(place(layout, {2, 8, 3, 5}, {n, c, h, w}));
  EXPECT_EQ(places.size(), 240u);
  EXPECT_EQ(*places.begin(), 0);
  EXPECT_EQ(*places.rbegin(), 239);
}

TEST(Layout, FourChannelsOfOnePixelAreAdjacent) {
  const auto layout = channelsBlocked(4, 4);
  const int64_t first = place(layout, {1, 8, 3, 5}, {0, 4, 1, 2});
  EXPECT_EQ(first % 4, 0);
  for (int64_t c = 1; c < 4; ++c)
    EXPECT_EQ(place(layout, {1, 8, 3, 5}, {0, 4 + c, 1, 2}), first + c);
}

// The pixel is unknown, but the channel is a multiple of 4, so the address is one too.
TEST(Layout, AddressesOfUnknownPixelsHaveAKnownAlignment) {
  IndexSpace space;
  IndexExpr h = space.addVariable({}, 0, 2), w = space.addVariable({}, 0, 4),
            c = space.scale(space.addVariable({}, 0, 1), 4);
  IndexExpr shape[] = {IndexExpr(1), IndexExpr(8), IndexExpr(3), IndexExpr(5)};
  IndexExpr index[] = {IndexExpr(0), c, h, w};
  IndexExpr address = linearAddress(space, channelsBlocked(4, 4), shape, index);
  EXPECT_EQ(space.baseDivisor(address) % 4, 0);
  EXPECT_EQ(address.constant, 0);
}

} // namespace
} // namespace gantry::codegen

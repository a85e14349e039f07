// Tests the splitting of dispatches: the parts cover every workgroup once, and every slice of the
// buffers once. dispatch_split.h defines parts and slices.
#include "engine/program/dispatch_split.h"

#include <gtest/gtest.h>
#include <map>
#include <random>

namespace gantry::program {
namespace {

constexpr uint64_t kMiB = 1 << 20;

class DispatchSplitTest : public testing::Test {
protected:
  DispatchSplitTest() {
    profile_.maxStorageBufferRange = 128 * kMiB;
    profile_.maxTexelBufferElements = 128 * kMiB;
    profile_.computeUnits = 2;
  }
  /// Returns a kernel variant. workgroups: workgroups per slice; 0: the kernel has no slices.
  /// steps: bytes of each buffer per slice.
  const artifact::KernelVariant &variant(artifact::Binding binding, uint32_t workgroups,
                                         std::vector<uint64_t> steps) {
    artifact::KernelVariantT made;
    made.binding = binding;
    made.slice_workgroups = workgroups;
    made.slice_bytes = std::move(steps);
    if (binding == artifact::Binding::texel)
      made.texels.emplace_back(0, artifact::TexelFormat::rgba32f, true);
    builder_.Clear();
    builder_.Finish(artifact::KernelVariant::Pack(builder_, &made));
    return *flatbuffers::GetRoot<artifact::KernelVariant>(builder_.GetBufferPointer());
  }
  DeviceProfile profile_;
  flatbuffers::FlatBufferBuilder builder_;
};

TEST_F(DispatchSplitTest, ADispatchWithinTheLimitsIsNotSplit) {
  const auto &kernel = variant(artifact::Binding::storage_buffer, 0, {});
  const BoundBuffer buffers[] = {{128 * kMiB, 0}, {64, 0}};
  EXPECT_EQ(maxSlicesAtOnce(kernel, profile_, buffers), kBindWhole);
  const auto parts = splitDispatch(kernel, {7, 3, 1}, buffers, kBindWhole, 1e9, 0);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].count, (std::array<uint32_t, 3>{7, 3, 1}));
  EXPECT_EQ(rangeOfPart(kernel, parts[0], 0, buffers[0]).sizeBytes, 128 * kMiB);
}

TEST_F(DispatchSplitTest, ABufferAboveTheLimitNeedsSlices) {
  const BoundBuffer buffers[] = {{64, 0}, {128 * kMiB + 4, 0}};
  EXPECT_EQ(maxSlicesAtOnce(variant(artifact::Binding::storage_buffer, 0, {}), profile_, buffers),
            0u);
  EXPECT_EQ(
      maxSlicesAtOnce(variant(artifact::Binding::storage_buffer, 1, {512, 0}), profile_, buffers),
      0u)
      << "every part uses the whole large buffer";
  EXPECT_EQ(maxSlicesAtOnce(variant(artifact::Binding::storage_buffer, 1, {0, 129 * kMiB}),
                            profile_, buffers),
            0u)
      << "one slice exceeds the limit";
  EXPECT_EQ(maxSlicesAtOnce(variant(artifact::Binding::address, 0, {}), profile_, buffers),
            kBindWhole);
  EXPECT_GT(
      maxSlicesAtOnce(variant(artifact::Binding::storage_buffer, 1, {0, 512}), profile_, buffers),
      1u);
}

// The slices have several sizes. The range of each part must begin at an offset that every device
// can bind.
TEST_F(DispatchSplitTest, SlicesCoverTheBuffersOnce) {
  for (const uint64_t step : {16, 512, 1000, 4096, 3 * 1024 * 1024}) {
    const uint64_t count = 300 * kMiB / step;
    const uint32_t groups = step < 4096 ? 1 : 64;
    const auto &kernel = variant(artifact::Binding::texel, groups, {step / 2, 0, step});
    const BoundBuffer buffers[] = {{count * (step / 2), 0}, {100, 256}, {count * step, 512}};
    const uint64_t atOnce = maxSlicesAtOnce(kernel, profile_, buffers);
    ASSERT_GT(atOnce, 0u) << step;
    uint64_t next = 0, workgroups = 0;
    for (const DispatchPart &part : splitDispatch(
             kernel, {static_cast<uint32_t>(count * groups), 1, 1}, buffers, atOnce, 0, 1)) {
      EXPECT_EQ(part.slice, next);
      next += part.slices;
      workgroups += part.count[0];
      EXPECT_LE(part.count[0], artifact::kWorkgroupsAlongX);
      EXPECT_EQ(part.count[0], part.slices * groups);
      EXPECT_EQ(part.first[0], 0u) << "a slice begins with the kernel's first workgroup";
      for (uint32_t i = 0; i < 3; ++i) {
        const BoundBuffer range = rangeOfPart(kernel, part, i, buffers[i]);
        EXPECT_EQ(range.offsetBytes % 256, 0u) << i;
        EXPECT_LE(range.sizeBytes, i == 0 ? 16 * 128 * kMiB : 128 * kMiB);
      }
      EXPECT_EQ(rangeOfPart(kernel, part, 2, buffers[2]).offsetBytes, 512 + part.slice * step);
      EXPECT_EQ(rangeOfPart(kernel, part, 1, buffers[1]).sizeBytes, 100u);
    }
    EXPECT_EQ(next, count);
    EXPECT_EQ(workgroups, count * groups);
  }
}

TEST_F(DispatchSplitTest, LongDispatchesAreSplitIntoBoxesThatCoverAllWorkgroups) {
  const auto &kernel = variant(artifact::Binding::address, 0, {});
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const std::array<uint32_t, 3> count = {1 + static_cast<uint32_t>(random() % 40),
                                           1 + static_cast<uint32_t>(random() % 9),
                                           1 + static_cast<uint32_t>(random() % 3)};
    const double times = 1 + static_cast<double>(random() % 2000) / 10;
    std::map<std::array<uint32_t, 3>, int> seen;
    const auto parts = splitDispatch(kernel, count, {}, kBindWhole, times * 1e6, 1'000'000);
    const uint64_t all = uint64_t{count[0]} * count[1] * count[2];
    for (const DispatchPart &part : parts) {
      const uint64_t size = uint64_t{part.count[0]} * part.count[1] * part.count[2];
      EXPECT_LE(static_cast<double>(size), std::max(static_cast<double>(all) / times, 1.0));
      for (uint32_t z = 0; z < part.count[2]; ++z)
        for (uint32_t y = 0; y < part.count[1]; ++y)
          for (uint32_t x = 0; x < part.count[0]; ++x)
            ++seen[{part.first[0] + x, part.first[1] + y, part.first[2] + z}];
    }
    EXPECT_EQ(seen.size(), all);
    for (const auto &[workgroup, times] : seen) {
      EXPECT_EQ(times, 1);
      for (size_t i = 0; i < 3; ++i)
        EXPECT_LT(workgroup[i], count[i]);
    }
  }
}

TEST_F(DispatchSplitTest, TheTimeEstimateAssumesASlowDevice) {
  EXPECT_DOUBLE_EQ(slowEstimateNs(10'000, 0, profile_), 1000);
  EXPECT_DOUBLE_EQ(slowEstimateNs(10'000, 4000, profile_), 2000);
  profile_.computeUnits = 0; // The number of compute units is unknown.
  EXPECT_DOUBLE_EQ(slowEstimateNs(0, 4000, profile_), 4000);
}

} // namespace
} // namespace gantry::program

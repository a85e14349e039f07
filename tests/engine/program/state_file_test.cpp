// Tests state files: their round trip, and damaged files with right and with wrong checksums.
#include "engine/program/states/state_file.h"

#include "engine/artifact/format.h"
#include "tests/support/scratch.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <random>

namespace gantry::program {
namespace {

using artifact::ElementType;

/// Two tensors with elements and one without.
std::vector<SavedTensor> tensors() {
  static const std::vector<uint8_t> kBytes = [] {
    std::vector<uint8_t> values(64);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<uint8_t>(3 * i);
    return values;
  }();
  return {{"weights", {ElementType::f32, {3, 4}}, std::span(kBytes).first(48)},
          {"empty", {ElementType::i64, {0, 7}}, {}},
          {"step", {ElementType::i32, {}}, std::span(kBytes).first(4)}};
}

std::vector<uint8_t> fileBytes() {
  const test::ScratchFolder scratch;
  EXPECT_TRUE(writeStateFile(scratch.path("s"), tensors()).isOk());
  return test::readBytes(scratch.path("s"));
}

void repairChecksums(std::vector<uint8_t> &file) {
  StateFileHeader header;
  std::memcpy(&header, file.data(), sizeof(header));
  header.bodyHash = artifact::hashBytes(std::span<const uint8_t>(file).subspan(sizeof(header)));
  header.headerHash = artifact::hashBytes(
      {reinterpret_cast<const uint8_t *>(&header), offsetof(StateFileHeader, headerHash)});
  std::memcpy(file.data(), &header, sizeof(header));
}

TEST(StateFile, RoundTrip) {
  const std::vector<uint8_t> file = fileBytes();
  const auto parsed = parseStateFile(file, "s");
  ASSERT_TRUE(parsed.isOk()) << parsed.status().message();
  const std::vector<SavedTensor> expected = tensors();
  ASSERT_EQ(parsed->size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const SavedTensor &tensor = (*parsed)[i];
    EXPECT_EQ(tensor.name, expected[i].name);
    EXPECT_EQ(tensor.shape.type, expected[i].shape.type);
    EXPECT_EQ(tensor.shape.dims, expected[i].shape.dims);
    ASSERT_EQ(tensor.bytes.size(), expected[i].bytes.size());
    EXPECT_TRUE(std::equal(tensor.bytes.begin(), tensor.bytes.end(), expected[i].bytes.begin()));
  }
}

TEST(StateFile, EveryChangedByteAndEveryCutIsFound) {
  const std::vector<uint8_t> file = fileBytes();
  for (size_t i = 0; i < file.size(); ++i) {
    std::vector<uint8_t> changed = file;
    changed[i] ^= 0x10;
    const Status status = parseStateFile(changed, "s").status();
    EXPECT_EQ(status.code(), i < 8 ? StatusCode::kInvalidArgument : StatusCode::kDataLoss) << i;
    EXPECT_NE(status.message().find("'s' is"), std::string::npos) << status.message();
  }
  for (size_t size = 0; size < file.size(); ++size)
    EXPECT_FALSE(parseStateFile(std::span(file).first(size), "s").isOk()) << size;
  std::vector<uint8_t> longer = file;
  longer.push_back(0);
  EXPECT_EQ(parseStateFile(longer, "s").status().code(), StatusCode::kDataLoss);
}

TEST(StateFile, ANewerVersionIsRefusedAsSuch) {
  std::vector<uint8_t> file = fileBytes();
  file[offsetof(StateFileHeader, version)] = 9;
  repairChecksums(file);
  const Status status = parseStateFile(file, "s").status();
  EXPECT_EQ(status.code(), StatusCode::kVersionMismatch);
  EXPECT_NE(status.message().find("version 9"), std::string::npos) << status.message();
}

TEST(StateFile, VersionZeroIsDamage) {
  std::vector<uint8_t> file = fileBytes();
  file[offsetof(StateFileHeader, version)] = 0;
  repairChecksums(file);
  EXPECT_EQ(parseStateFile(file, "s").status().code(), StatusCode::kDataLoss);
}

/// Changes random bytes and words and corrects the checksums, so that only the checks of the
/// numbers in the header and in the records protect the reader. Each accepted file is read
/// completely.
TEST(StateFile, DamageWithRightChecksumsIsRefusedOrHarmless) {
  const char *given = std::getenv("GANTRY_FUZZ_SEED");
  const uint64_t seed = given ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::printf("GANTRY_FUZZ_SEED=%llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  static constexpr uint64_t kNumbers[] = {
      0, 1, 8, 9, 88, 255, 0x7FFFFFFF, 0xFFFFFFFF, UINT64_MAX, UINT64_MAX / 2, 1ULL << 61};
  const std::vector<uint8_t> original = fileBytes();
  size_t accepted = 0, refused = 0;
  uint64_t sum = 0;
  for (int round = 0; round < 100'000; ++round) {
    std::vector<uint8_t> file = original;
    for (uint64_t i = 0, count = 1 + random() % 3; i < count; ++i) {
      const uint64_t value = random() % 2 ? kNumbers[random() % std::size(kNumbers)] : random();
      const size_t size = size_t{1} << (random() % 4);
      const size_t at = 8 + random() % (file.size() - 16);
      std::memcpy(&file[at], &value, std::min(size, file.size() - at));
    }
    repairChecksums(file);
    const auto parsed = parseStateFile(file, "s");
    if (!parsed.isOk()) {
      ++refused;
      continue;
    }
    ++accepted;
    for (const SavedTensor &tensor : *parsed) {
      sum += tensor.name.size() + tensor.shape.dims.size();
      for (const uint8_t byte : tensor.bytes)
        sum += byte;
    }
  }
  std::printf("%zu accepted, %zu refused, sum %llu\n", accepted, refused,
              static_cast<unsigned long long>(sum));
  EXPECT_GT(accepted, 100u); // Files in which only elements or names changed.
  EXPECT_GT(refused, 100u);
}

} // namespace
} // namespace gantry::program

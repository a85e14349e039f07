// Tests boxes (the places of values inside of larger ones), and checkStorage(), which finds
// commands that overwrite a value before its last reader.
#include "engine/hazards/hazards.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace gantry::hazards {
namespace {

/// Returns the offsets of all bytes of a box, computed element by element.
std::set<uint64_t> bytesOf(const Box &box) {
  std::vector<uint64_t> elements{0};
  for (const BoxDim &dim : box.dims) {
    std::vector<uint64_t> next;
    for (const uint64_t element : elements)
      for (uint64_t i = dim.start; i < dim.start + dim.size; ++i)
        next.push_back(element * dim.extent + i);
    elements = std::move(next);
  }
  std::set<uint64_t> bytes;
  for (const uint64_t element : elements)
    for (uint64_t b = 0; b < box.elementBytes; ++b)
      bytes.insert(element * box.elementBytes + b);
  return bytes;
}

TEST(Box, RunsAreTheBytesOfTheBox) {
  std::mt19937 random(1);
  const auto below = [&](uint64_t n) { return n == 0 ? 0 : random() % n; };
  for (int i = 0; i < 2000; ++i) {
    Box box{uint64_t{1} << below(4), {}};
    for (size_t d = below(5); d-- > 0;) {
      BoxDim dim{1 + below(4), 0, 0};
      dim.start = below(dim.extent + 1);
      dim.size = below(3) == 0 ? dim.extent - dim.start : below(dim.extent - dim.start + 1);
      box.dims.push_back(dim);
    }
    ASSERT_TRUE(isValid(box));
    const std::set<uint64_t> expected = bytesOf(box);
    std::set<uint64_t> found;
    uint64_t end = 0;
    bool first = true;
    forEachRun(box, [&](const ByteRange &run) {
      EXPECT_GT(run.sizeBytes, 0u);
      EXPECT_TRUE(first || run.offset >= end) << "runs are in ascending order";
      first = false;
      end = run.offset + run.sizeBytes;
      for (uint64_t b = run.offset; b < end; ++b)
        found.insert(b);
      return true;
    });
    ASSERT_EQ(found, expected) << "box " << i;
    const ByteRange range = rangeOf(box);
    EXPECT_EQ(range.sizeBytes, expected.empty() ? 0 : *expected.rbegin() - *expected.begin() + 1);
    if (!expected.empty()) {
      EXPECT_EQ(range.offset, *expected.begin());
    }
  }
}

TEST(Box, RefusesIndicesBeyondTheExtent) {
  EXPECT_TRUE(isValid({4, {{8, 3, 5}}}));
  EXPECT_FALSE(isValid({4, {{8, 4, 5}}}));
  EXPECT_FALSE(isValid({4, {{8, 9, 0}}}));
  EXPECT_FALSE(isValid({4, {{UINT64_MAX / 2, 0, 1}, {4, 0, 1}}}));
}

/// A program that is built value by value.
struct TestProgram {
  std::vector<StoredValue> values;
  std::vector<StorageCommand> commands;

  uint32_t value(uint64_t offset, uint64_t sizeBytes) {
    const auto index = static_cast<uint32_t>(values.size());
    values.push_back({offset, boxOfRange(0, sizeBytes), index, false});
    return index;
  }
  uint32_t part(uint32_t storage, Box box) {
    values.push_back({values[storage].offset, std::move(box), storage, false});
    return static_cast<uint32_t>(values.size() - 1);
  }
  void run(std::vector<uint32_t> reads, std::vector<uint32_t> writes,
           std::optional<uint32_t> inPlace = {}) {
    commands.push_back({std::move(reads), std::move(writes), inPlace});
  }
  std::string check() const { return checkStorage(values, commands).message(); }
};

TEST(StorageChecker, AcceptsReuseAfterTheLastReader) {
  TestProgram p;
  const uint32_t a = p.value(0, 64), b = p.value(64, 64), c = p.value(0, 64);
  p.run({}, {a});
  p.run({a}, {b});
  p.run({b}, {c});
  p.run({c}, {});
  EXPECT_EQ(p.check(), "");
  p.run({a}, {});
  EXPECT_EQ(p.check(), "command 4 reads bytes 0 to 63 of value 0, which value 2 has overwritten");
}

TEST(StorageChecker, AResultTakesAnOperandsPlaceOnlyIfTheCommandSaysSo) {
  TestProgram p;
  const uint32_t a = p.value(0, 64), b = p.value(0, 64);
  p.run({}, {a});
  p.run({a}, {b}, a);
  p.run({b}, {});
  EXPECT_EQ(p.check(), "");
  p.commands[1].inPlace.reset();
  EXPECT_EQ(p.check(), "command 1 writes bytes 0 to 63 of value 1 over value 0, which it reads");
  p.commands[1].inPlace = a;
  p.values[b].offset = 32;
  EXPECT_EQ(p.check(), "command 1 writes bytes 32 to 63 of value 1 over value 0, which it reads");
}

TEST(StorageChecker, AWholeIsReadAfterItsParts) {
  TestProgram p;
  const uint32_t whole = p.value(256, 8 * 6 * 4);
  // The parts are the columns 0 to 1, 2 to 3 and 4 to 5 of a value with 8 rows and 6 columns.
  uint32_t parts[3];
  for (uint64_t i = 0; i < 3; ++i)
    parts[i] = p.part(whole, {4, {{8, 0, 8}, {6, 2 * i, 2}}});
  p.run({}, {parts[0]});
  p.run({}, {parts[2]});
  p.run({parts[2]}, {parts[1]});
  p.run({whole, parts[0]}, {});
  EXPECT_EQ(p.check(), "");
  std::swap(p.commands[2], p.commands[3]);
  EXPECT_EQ(p.check(), "command 2 reads bytes 264 to 271 of value 0, which no command has written");
  std::swap(p.commands[2], p.commands[3]);
  p.values[parts[1]].box.dims[1].start = 3;
  EXPECT_EQ(p.check(), "command 2 writes bytes 272 to 275 of value 2 over value 3, which it reads");
  p.commands[2].reads.clear();
  EXPECT_EQ(p.check(),
            "command 2 writes bytes 272 to 275 of value 2 over value 3, which is another "
            "part of the same storage");
}

TEST(StorageChecker, ADonatedInputIsFilledBefore) {
  TestProgram p;
  const uint32_t input = p.value(0, 16), result = p.value(16, 16);
  p.run({input}, {result});
  EXPECT_EQ(p.check(), "command 0 reads bytes 0 to 15 of value 0, which no command has written");
  p.values[input].isFilledBefore = true;
  EXPECT_EQ(p.check(), "");
}

} // namespace
} // namespace gantry::hazards

// Tests of engine/heap/heap.h with one thread: buffers, handles, statistics, retention, limits and
// the pressure ladder (what the heap does before it refuses a request, see growth.h).
#include "tests/engine/heap/heap_fixture.h"

#include <cstring>
#include <string>

namespace gantry::heap {
namespace {

TEST_F(HeapTest, GivesAlignedRangesOfEveryKind) {
  for (const MemoryKind kind :
       {MemoryKind::kDevice, MemoryKind::kUpload, MemoryKind::kReadback, MemoryKind::kUnified}) {
    for (const uint64_t alignment : {uint64_t{1}, uint64_t{256}, uint64_t{4096}, uint64_t{65536}}) {
      BufferRequest request;
      request.sizeBytes = 1000;
      request.alignment = alignment;
      request.kind = kind;
      const BufferHandle buffer = take(request);
      const Placement at = placed(buffer);
      EXPECT_EQ(at.offsetBytes % alignment, 0U);
      EXPECT_EQ(at.sizeBytes, 1000U);
      ASSERT_NE(at.memory, nullptr);
      EXPECT_EQ(at.memory->kind(), kind);
      EXPECT_EQ(at.mapped != nullptr, kind != MemoryKind::kDevice);
      if (at.mapped != nullptr)
        std::memset(at.mapped, 7, at.sizeBytes);
      EXPECT_EQ(validate(*heap), nullptr);
      drop(buffer);
    }
    EXPECT_EQ(stats(kind).liveBytes, 0U);
    EXPECT_EQ(stats(kind).liveBuffers, 0U);
  }
}

TEST_F(HeapTest, RefusesInvalidRequests) {
  const auto code = [&](auto change) {
    BufferRequest request;
    request.sizeBytes = 256;
    change(request);
    BufferHandle buffer{1};
    const HeapCode result = heap->allocate(request, &buffer);
    EXPECT_EQ(buffer.bits, 0U);
    EXPECT_FALSE(explain(*heap, result, request).message().empty());
    return result;
  };
  const auto invalid = HeapCode::kInvalidArgument;
  for (const bool hasSlab : {false, true}) {
    const uint32_t calls = gpu->counts().driverCalls;
    EXPECT_EQ(code([](auto &r) { r.sizeBytes = 0; }), invalid);
    EXPECT_EQ(code([](auto &r) { r.alignment = 0; }), invalid);
    EXPECT_EQ(code([](auto &r) { r.alignment = 3; }), invalid);
    EXPECT_EQ(code([](auto &r) { r.alignment = uint64_t{1} << 40; }), invalid);
    EXPECT_EQ(code([](auto &r) { r.kind = static_cast<MemoryKind>(9); }), invalid);
    EXPECT_EQ(code([](auto &r) { r.priority = 2; }), invalid);
    EXPECT_EQ(code([](auto &r) { r.priority = std::stof("nan"); }), invalid);
    EXPECT_EQ(code([](auto &r) { r.name = {70000}; }), invalid);
    const TimelinePoint unknown{3, 1};
    BufferRequest request;
    request.sizeBytes = 1000;
    BufferHandle buffer{1};
    EXPECT_EQ(ordered->allocate(request, {&unknown, 1}, &buffer), invalid);
    EXPECT_EQ(buffer.bits, 0U);
    for (const uint64_t size : {uint64_t{1} << 47, uint64_t{1} << 63, UINT64_MAX})
      EXPECT_EQ(code([&](auto &r) { r.sizeBytes = size; }), HeapCode::kTooLarge) << size;
    EXPECT_EQ(gpu->counts().driverCalls, calls) << "no request reaches the driver";
    if (!hasSlab)
      take(1000);
  }
}

TEST_F(HeapTest, RefusesStaleAndForeignHandles) {
  const BufferHandle buffer = take(1000);
  auto other = Heap::create(gpu, {}).take();
  Placement placement;
  for (Heap *wrong : {other.get()}) {
    EXPECT_EQ(wrong->release(buffer), HeapCode::kForeignHandle);
    EXPECT_EQ(wrong->resolve(buffer, &placement), HeapCode::kForeignHandle);
    EXPECT_EQ(wrong->retain(buffer), HeapCode::kForeignHandle);
    EXPECT_EQ(wrong->pin(buffer, &placement), HeapCode::kForeignHandle);
  }
  EXPECT_EQ(heap->release({}), HeapCode::kForeignHandle);
  EXPECT_EQ(heap->release({buffer.bits ^ 0xffff00}), HeapCode::kForeignHandle);
  EXPECT_EQ(heap->retain(buffer), HeapCode::kOk);
  drop(buffer);
  drop(buffer);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(heap->release(buffer), HeapCode::kStaleHandle);
    EXPECT_EQ(heap->retain(buffer), HeapCode::kStaleHandle);
    EXPECT_EQ(heap->resolve(buffer, &placement), HeapCode::kStaleHandle);
    EXPECT_EQ(heap->unpin(buffer), HeapCode::kStaleHandle);
    drop(take(1000)); // reuses the record (buffer_record.h) in its next generation
  }
  EXPECT_EQ(stats().liveBuffers, 0U);
}

TEST_F(HeapTest, DescribesABuffer) {
  BufferRequest request;
  request.sizeBytes = 1000;
  request.name = heap->intern("weights");
  BufferHandle buffer;
  ASSERT_EQ(heap->allocate(request, &buffer), HeapCode::kOk);
  const char *name = nullptr;
  uint32_t references = 0;
  ASSERT_EQ(heap->describe(buffer, &name, &references), HeapCode::kOk);
  EXPECT_STREQ(name, "weights");
  EXPECT_EQ(references, 1U);
  EXPECT_EQ(heap->retain(buffer), HeapCode::kOk);
  ASSERT_EQ(heap->describe(buffer, &name, &references), HeapCode::kOk);
  EXPECT_EQ(references, 2U);
  drop(buffer);
  drop(buffer);
  EXPECT_EQ(heap->describe(buffer, &name, &references), HeapCode::kStaleHandle);
  EXPECT_EQ(heap->describe({}, &name, &references), HeapCode::kForeignHandle);
}

TEST_F(HeapTest, SurvivesRandomHandles) {
  std::vector<BufferHandle> live;
  for (int i = 0; i < 100; ++i)
    live.push_back(take(512));
  uint64_t random = 88172645463325252U;
  Placement placement;
  uint64_t hits = 0;
  for (int i = 0; i < 200000; ++i) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    // One bit of a live handle is wrong.
    const BufferHandle guess{live[random % 100].bits ^ (uint64_t{1} << (random >> 32) % 64)};
    const bool known = std::find(live.begin(), live.end(), guess) != live.end();
    hits += heap->resolve(guess, &placement) == HeapCode::kOk ? 1 : 0;
    if (!known) {
      EXPECT_NE(heap->release(guess), HeapCode::kOk);
      EXPECT_NE(heap->pin(guess, &placement), HeapCode::kOk);
    }
  }
  EXPECT_EQ(stats().liveBuffers, 100U);
  EXPECT_GT(hits, 0U) << "some guesses are handles of other live buffers";
  for (const BufferHandle buffer : live)
    drop(buffer);
}

TEST_F(HeapTest, CountsExactlyPerKindAndName) {
  const NameId weights = heap->intern("weights");
  const NameId acts = heap->intern("activations");
  EXPECT_EQ(heap->intern("weights").index, weights.index);
  EXPECT_NE(acts.index, weights.index);
  BufferRequest request;
  request.sizeBytes = 3000;
  request.name = weights;
  const BufferHandle a = take(request);
  request.sizeBytes = 5 * kMiB;
  request.name = acts;
  const BufferHandle b = take(request);
  EXPECT_EQ(stats().liveBytes, 3000 + 5 * kMiB);
  EXPECT_EQ(stats().peakLiveBytes, 3000 + 5 * kMiB);
  EXPECT_EQ(stats().reservedBytes, gpu->counts().liveBytes);
  NameStatistics names[4];
  ASSERT_EQ(heap->names(names), 2U);
  EXPECT_STREQ(names[0].name, "activations");
  EXPECT_EQ(names[0].liveBytes, 5 * kMiB);
  EXPECT_STREQ(names[1].name, "weights");
  drop(b);
  ASSERT_EQ(heap->names(names), 2U);
  EXPECT_STREQ(names[0].name, "weights");
  EXPECT_EQ(names[0].liveBytes, 3000U);
  EXPECT_EQ(names[1].liveBytes, 0U);
  EXPECT_EQ(names[1].peakBytes, 5 * kMiB);
  char report[2048];
  EXPECT_LT(writeReport(*heap, report), sizeof report);
  EXPECT_NE(std::string(report).find("weights"), std::string::npos) << report;
  char tiny[8];
  EXPECT_GT(writeReport(*heap, tiny), sizeof tiny);
  EXPECT_EQ(tiny[7], 0);
  drop(a);
}

TEST_F(HeapTest, NamesKeepTheirIds) {
  for (int i = 0; i < 3000; ++i)
    ASSERT_EQ(heap->intern("name" + std::to_string(i)).index, static_cast<uint32_t>(i + 1));
  for (int i = 0; i < 3000; ++i)
    ASSERT_EQ(heap->intern("name" + std::to_string(i)).index, static_cast<uint32_t>(i + 1));
  EXPECT_EQ(heap->intern("").index, 0U);
}

TEST_F(HeapTest, SteadyLoopsMakeNoDriverCalls) {
  const auto step = [&] {
    std::vector<BufferHandle> live;
    for (uint64_t i = 0; i < 60; ++i)
      live.push_back(take((i * 7919 % 40 + 1) * 100 * kKiB));
    for (const BufferHandle buffer : live)
      drop(buffer);
  };
  step();
  step();
  const uint64_t before = gpu->counts().driverCalls;
  for (int i = 0; i < 20; ++i)
    step();
  EXPECT_EQ(gpu->counts().driverCalls, before);
}

TEST_F(HeapTest, SmallBuffersUseShortGapsInsteadOfPassingTheGrowthSlack) {
  // Each buffer takes a slab of 2 MiB. Reserved bytes are then 7.8 % above live bytes, which is
  // more than HeapOptions::growthSlack allows (5 %).
  for (int i = 0; i < 40; ++i)
    take(1900 * kKiB);
  const uint64_t before = gpu->counts().allocations;
  for (int i = 0; i < 40; ++i)
    take(60 * kKiB);
  EXPECT_EQ(gpu->counts().allocations, before);
  take(200 * kKiB);
  EXPECT_EQ(gpu->counts().allocations, before + 1) << "no gap is long enough";
  EXPECT_EQ(validate(*heap), nullptr);
}

TEST_F(HeapTest, SmallBuffersDoNotUseGapsThatFitLargeOnes) {
  // Each buffer leaves a gap of 648 KiB in its slab. Small buffers use gaps of up to 512 KiB
  // (growth.h, step 3a).
  for (int i = 0; i < 40; ++i)
    take(1400 * kKiB);
  const uint64_t before = gpu->counts().allocations;
  take(60 * kKiB);
  EXPECT_EQ(gpu->counts().allocations, before + 1);
  for (int i = 0; i < 40; ++i)
    take(640 * kKiB);
  EXPECT_EQ(gpu->counts().allocations, before + 1);
}

// Tests the largest size that the heap can represent, and a device limit that is not a multiple of
// the granule (slabs are multiples of 64 KiB, and ranges are multiples of 256 bytes).
TEST_F(HeapTest, TheLargestSizesAreAllocatedAndFreed) {
  test::FakeConfig config;
  config.maxAllocationBytes = uint64_t{1} << 43;
  config.heaps[0].sizeBytes = uint64_t{1} << 44;
  make({}, config);
  const TimelinePoint point{heap->addTimeline(), 1};
  BufferRequest request;
  request.sizeBytes = (uint64_t{1} << 42) - (64 << 10);
  const BufferHandle buffer = take(request);
  drop(buffer, {&point, 1});
  EXPECT_EQ(validate(*heap), nullptr) << validate(*heap);
  EXPECT_GE(stats().pendingBytes, request.sizeBytes);
  EXPECT_EQ(heap->advance(point.timeline, 1), HeapCode::kOk);
  EXPECT_EQ(stats().pendingBytes, 0U);
  EXPECT_GE(heap->trim(), request.sizeBytes);
  BufferHandle none;
  request.sizeBytes = uint64_t{1} << 42;
  EXPECT_EQ(heap->allocate(request, &none), HeapCode::kTooLarge);
  EXPECT_NE(explain(*heap, HeapCode::kTooLarge, request).message().find("4398046445568"),
            std::string::npos);

  config.maxAllocationBytes = 2 * kMiB + 100;
  make({}, config);
  std::vector<BufferHandle> live;
  for (int i = 0; i < 600; ++i)
    live.push_back(take(1500 * kKiB)); // in slabs of the maximum size
  for (const BufferHandle one : live)
    drop(one);
  heap->trim();
  EXPECT_EQ(stats().reservedBytes, 0U);
}

TEST_F(HeapTest, TrimReturnsMemory) {
  for (int i = 0; i < 10; ++i)
    drop(take(30 * kMiB));
  const BufferHandle kept = take(1000);
  EXPECT_GT(stats().reservedBytes, 30 * kMiB);
  EXPECT_GT(heap->trim(), 30 * kMiB - 1);
  EXPECT_EQ(gpu->counts().liveBytes, stats().reservedBytes);
  EXPECT_LT(stats().reservedBytes, kMiB);
  EXPECT_EQ(stats().emptySlabs, 0U);
  drop(kept);
  heap->trim();
  EXPECT_EQ(gpu->counts().liveBytes, 0U);
}

// Before the heap grows beyond HeapOptions::growthSlack, it gives the smallest sufficient empty
// slab back to the driver.
TEST_F(HeapTest, TheSmallestSufficientEmptySlabGoesBack) {
  std::vector<BufferHandle> empty;
  for (const uint64_t mib : {16, 4, 8, 3, 5})
    empty.push_back(take(mib * kMiB));
  for (int i = 0; i < 16; ++i)
    take(5 * kMiB);
  for (const BufferHandle buffer : empty)
    drop(buffer);
  const uint64_t before = stats().reservedBytes;
  EXPECT_EQ(stats().emptySlabs, 5U);
  for (int i = 0; i < 3; ++i)
    take(7 * kMiB); // two in the slab of 16 MiB, one in the slab of 8 MiB
  EXPECT_EQ(stats().reservedBytes, before);
  take(7 * kMiB); // a new slab: 1.2 MiB more than the slack allows
  EXPECT_EQ(stats().reservedBytes, before + 7 * kMiB - 3 * kMiB);
  EXPECT_EQ(gpu->counts().liveBytes, stats().reservedBytes);
}

TEST_F(HeapTest, RefusesBadOptions) {
  HeapOptions options;
  options.growthSlack = 0.5;
  EXPECT_EQ(Heap::create(gpu, options).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Heap::create(nullptr, {}).status().code(), StatusCode::kInvalidArgument);
}

// A released slab may be longer than the buffer that takes it over. The rest of that slab is not
// used for another dedicated buffer.
TEST_F(HeapTest, DedicatedBuffersNeverShareASlab) {
  BufferRequest request;
  request.dedicated = true;
  request.sizeBytes = 100 * kMiB;
  const BufferHandle first = take(request);
  request.sizeBytes = 3 * kMiB;
  const BufferHandle second = take(request);
  drop(first);
  request.sizeBytes = 97 * kMiB;
  const BufferHandle longer = take(request);
  drop(second);
  request.sizeBytes = 3 * kMiB;
  const BufferHandle again = take(request);
  EXPECT_NE(placed(longer).memory, placed(again).memory);
  drop(longer);
  drop(again);
}

TEST_F(HeapTest, DedicatedBuffersHaveASlabOfTheirOwn) {
  BufferRequest request;
  request.sizeBytes = 100000;
  request.dedicated = true;
  const BufferHandle buffer = take(request);
  EXPECT_EQ(placed(buffer).offsetBytes, 0U);
  EXPECT_NE(placed(buffer).memory, placed(take(100000)).memory);
  const auto *memory = placed(buffer).memory;
  drop(buffer);
  const BufferHandle again = take(request);
  EXPECT_EQ(placed(again).memory, memory) << "the slab is kept for the next dedicated buffer";
}

TEST_F(HeapTest, KeepsToTheUsersLimitAndExplainsTheRefusal) {
  HeapOptions options;
  options.limitBytes[0] = 64 * kMiB;
  make(options);
  BufferRequest request;
  request.sizeBytes = 24 * kMiB;
  const BufferHandle a = take(request);
  const BufferHandle b = take(request);
  BufferHandle c;
  EXPECT_EQ(heap->allocate(request, &c), HeapCode::kOverBudget);
  EXPECT_NE(explain(*heap, HeapCode::kOverBudget, request).message().find("25165824"),
            std::string::npos);
  EXPECT_LE(gpu->counts().peakBytes, 64 * kMiB);
  EXPECT_EQ(heap->setLimit(0, 128 * kMiB), HeapCode::kOk);
  EXPECT_EQ(heap->setLimit(99, 1), HeapCode::kInvalidArgument);
  EXPECT_EQ(heap->allocate(request, &c), HeapCode::kOk);
  for (const BufferHandle buffer : {a, b, c})
    drop(buffer);
}

TEST_F(HeapTest, WarnsOncePerCrossingOfAnEstimatedBudget) {
  make({}, smallDevice(100 * kMiB)); // the estimate is 80 MiB
  BufferRequest request;
  request.kind = MemoryKind::kDevice;
  request.sizeBytes = 30 * kMiB;
  request.dedicated = true;
  std::vector<BufferHandle> held;
  const auto warningsOf = [&](auto &&action) {
    testing::internal::CaptureStderr();
    action();
    return testing::internal::GetCapturedStderr();
  };
  const auto takeOne = [&] { held.push_back(take(request)); };
  EXPECT_EQ(warningsOf([&] {
              takeOne();
              takeOne();
            }),
            "");
  const std::string warning = warningsOf(takeOne);
  for (const char *word : {"gantry: warn", "0.09 GiB", "0.08 GiB", "0.10 GiB", "limit"})
    EXPECT_NE(warning.find(word), std::string::npos) << warning;
  request.sizeBytes = 5 * kMiB;
  EXPECT_EQ(warningsOf(takeOne), "") << "the warning was given before";
  for (const BufferHandle buffer : held)
    drop(buffer);
  heap->trim();
  request.sizeBytes = 45 * kMiB;
  EXPECT_NE(warningsOf([&] { held = {take(request), take(request)}; }), "") << "a second crossing";
  for (const BufferHandle buffer : held)
    drop(buffer);
}

TEST_F(HeapTest, KeepsToTheDriversBudget) {
  gpu->setBudget(0, 40 * kMiB);
  const BufferHandle a = take(24 * kMiB);
  BufferRequest request;
  request.sizeBytes = 24 * kMiB;
  BufferHandle b;
  EXPECT_EQ(heap->allocate(request, &b), HeapCode::kOverBudget);
  drop(a);
  EXPECT_EQ(heap->allocate(request, &b), HeapCode::kOk) << "the empty slab serves it";
  drop(b);
}

TEST_F(HeapTest, GivesEmptySlabsOfOtherKindsBackUnderPressure) {
  test::FakeConfig config;
  config.heaps = {{64 * kMiB, true}};
  config.types = {{0, true, true, true, true}};
  config.memoryBudgets = false;
  make({}, config);
  drop(take(30 * kMiB, MemoryKind::kUpload));
  drop(take(30 * kMiB, MemoryKind::kReadback));
  const BufferHandle big = take(60 * kMiB);
  drop(big);
}

TEST_F(HeapTest, WaitsForWorkInFlightBeforeItRefuses) {
  make({}, smallDevice(64 * kMiB));
  const BufferHandle a = take(48 * kMiB);
  gpu->hold();
  const TimelinePoint point{0, submit()};
  drop(a, {&point, 1});
  EXPECT_EQ(stats().pendingBytes, 48 * kMiB);
  gpu->release();
  const BufferHandle b = take(48 * kMiB);
  EXPECT_EQ(stats().pendingBytes, 0U);
  drop(b);
}

TEST_F(HeapTest, ARefusalLosesNothing) {
  make({}, smallDevice(64 * kMiB));
  BufferRequest request;
  request.sizeBytes = 40 * kMiB;
  request.name = heap->intern("the large one");
  const BufferHandle a = take(request);
  std::memset(bytes(a), 0x5a, 40 * kMiB);
  BufferHandle b;
  const uint64_t before = gpu->counts().liveBytes;
  EXPECT_EQ(heap->allocate(request, &b), HeapCode::kExhausted);
  EXPECT_EQ(gpu->counts().liveBytes, before);
  EXPECT_EQ(bytes(a)[40 * kMiB - 1], 0x5a);
  char report[2048];
  writeReport(*heap, report);
  EXPECT_NE(std::string(report).find("the large one"), std::string::npos) << report;
  drop(a);
}

TEST_F(HeapTest, SpillsOnlyIfAllowedAndRestoresTheContents) {
  for (const bool allowed : {false, true}) {
    HeapOptions options;
    allowSpill = allowed;
    make(options, smallDevice(64 * kMiB));
    BufferRequest request;
    request.sizeBytes = 40 * kMiB + 3;
    request.spillable = true;
    const BufferHandle a = take(request);
    std::memset(bytes(a), 0x5a, request.sizeBytes);
    bytes(a)[request.sizeBytes - 1] = 0x77;
    Placement pinned;
    ASSERT_EQ(heap->pin(a, &pinned), HeapCode::kOk);
    BufferHandle b;
    EXPECT_EQ(heap->allocate(request, &b), HeapCode::kExhausted) << "a is pinned";
    ASSERT_EQ(heap->unpin(a), HeapCode::kOk);
    ASSERT_EQ(heap->allocate(request, &b), allowed ? HeapCode::kOk : HeapCode::kExhausted);
    if (allowed) {
      Placement placement;
      EXPECT_EQ(heap->resolve(a, &placement), HeapCode::kBusy);
      EXPECT_EQ(spilling->spilledBytes(), request.sizeBytes);
      std::memset(bytes(b), 0x11, request.sizeBytes);
      ASSERT_EQ(heap->pin(a, &placement), HeapCode::kOk) << "b is spilled to make room";
      EXPECT_EQ(bytes(a)[0], 0x5a);
      EXPECT_EQ(bytes(a)[request.sizeBytes - 1], 0x77);
      EXPECT_EQ(spilling->restore(b), HeapCode::kExhausted) << "a is pinned now";
      ASSERT_EQ(heap->unpin(a), HeapCode::kOk);
      ASSERT_EQ(spilling->restore(b), HeapCode::kOk);
      EXPECT_EQ(bytes(b)[5], 0x11);
      drop(b);
      ASSERT_EQ(spilling->spill(a), HeapCode::kOk);
    }
    drop(a); // If spilling is allowed, `a` is spilled now.
  }
}

TEST_F(HeapTest, EventsHaveConsecutiveSequenceNumbers) {
  struct Log {
    std::vector<HeapEvent> events;
  } log;
  HeapOptions options;
  options.observer = {
      [](void *user, const HeapEvent &event) { static_cast<Log *>(user)->events.push_back(event); },
      &log};
  make(options);
  for (int i = 0; i < 50; ++i) {
    const BufferHandle a = take(1000 + 100 * i);
    const BufferHandle b = take(100000);
    drop(a);
    drop(b);
  }
  heap->trim();
  uint64_t live = 0;
  uint64_t reserved = 0;
  for (size_t i = 0; i < log.events.size(); ++i) {
    const HeapEvent &event = log.events[i];
    EXPECT_EQ(event.sequence, i + 1);
    live += event.type == HeapEvent::Type::kAllocate ? event.sizeBytes : 0;
    live -= event.type == HeapEvent::Type::kRelease ? event.sizeBytes : 0;
    reserved += event.type == HeapEvent::Type::kSlabAllocate ? event.sizeBytes : 0;
    reserved -= event.type == HeapEvent::Type::kSlabFree ? event.sizeBytes : 0;
  }
  EXPECT_GE(log.events.size(), 200U);
  EXPECT_EQ(live, 0U);
  EXPECT_EQ(reserved, 0U);
}

TEST_F(HeapTest, BufferObjectsHoldReferences) {
  {
    Buffer a(*heap, take(1000));
    const Buffer b = a;
    Buffer c = std::move(a);
    EXPECT_FALSE(static_cast<bool>(a)); // NOLINT(bugprone-use-after-move): moved-from is empty
    c.reset();
    EXPECT_EQ(stats().liveBuffers, 1U);
  }
  EXPECT_EQ(stats().liveBuffers, 0U);
}

} // namespace
} // namespace gantry::heap

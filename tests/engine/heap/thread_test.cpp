// Tests of many threads on one heap: threads allocate, share and release each other's buffers while
// another thread compacts, trims and reads statistics; and threads use each other's free memory.
#include "engine/heap/heap_components.h"
#include "tests/engine/heap/heap_fixture.h"

#include <array>
#include <atomic>
#include <random>
#include <thread>

namespace gantry::heap {
namespace {

class ThreadTest : public HeapTest {
protected:
  static constexpr int kThreads = 16;
  static constexpr size_t kShared = 64;
  std::array<std::atomic<uint64_t>, kShared> shared{}; // handles that any thread may take

  // Makes `steps` random operations.
  void work(uint32_t seed, int steps) {
    std::mt19937 random(seed);
    std::vector<BufferHandle> mine;
    for (int i = 0; i < steps; ++i) {
      const uint32_t choice = random() % 100;
      if (choice < 45 && mine.size() < 40) {
        BufferRequest request;
        request.sizeBytes = 1 + random() % (random() % 8 == 0 ? 400000 : 20000);
        request.movable = random() % 2 == 0;
        BufferHandle buffer;
        ASSERT_EQ(heap->allocate(request, &buffer), HeapCode::kOk);
        mine.push_back(buffer);
      } else if (choice < 80 && !mine.empty()) {
        // Puts a buffer into `shared` and releases the one that lay there, which may be that of
        // another thread.
        const BufferHandle given = mine.back();
        mine.pop_back();
        const BufferHandle old{shared[random() % kShared].exchange(given.bits)};
        if (old) {
          ASSERT_EQ(heap->release(old), HeapCode::kOk);
        }
      } else if (choice < 95 && !mine.empty()) {
        Placement at;
        const BufferHandle buffer = mine[random() % mine.size()];
        ASSERT_EQ(heap->pin(buffer, &at), HeapCode::kOk);
        ASSERT_NE(at.memory, nullptr);
        ASSERT_EQ(heap->retain(buffer), HeapCode::kOk);
        ASSERT_EQ(heap->release(buffer), HeapCode::kOk);
        ASSERT_EQ(heap->unpin(buffer), HeapCode::kOk);
      } else {
        // Uses the handle of another thread's buffer, which may have been released.
        const BufferHandle other{shared[random() % kShared].load()};
        Placement at;
        (void)heap->resolve(other, &at);
        if (heap->retain(other) == HeapCode::kOk) {
          ASSERT_EQ(heap->release(other), HeapCode::kOk);
        }
      }
    }
    for (const BufferHandle buffer : mine)
      ASSERT_EQ(heap->release(buffer), HeapCode::kOk);
  }
};

TEST_F(ThreadTest, SixteenThreadsShareOneHeap) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t)
    threads.emplace_back([this, t] { work(t + 1, 4000); });
  std::thread keeper([&] {
    for (int i = 0; !stop; ++i) {
      HeapStatistics seen;
      heap->statistics(&seen);
      EXPECT_EQ(compaction->compact(kMiB), HeapCode::kOk);
      EXPECT_EQ(heap->poll(), HeapCode::kOk);
      if (i % 10 == 0)
        (void)heap->trim(kMiB);
      std::this_thread::yield();
    }
  });
  for (std::thread &thread : threads)
    thread.join();
  stop = true;
  keeper.join();
  for (auto &entry : shared)
    if (const BufferHandle left{entry.load()}; left)
      drop(left);
  EXPECT_EQ(stats().liveBytes, 0U);
  EXPECT_EQ(stats().liveBuffers, 0U);
  heap->trim();
  EXPECT_EQ(stats().usedBytes, 0U) << "size classes or pending releases still hold ranges";
  EXPECT_EQ(gpu->counts().liveBytes, 0U);
}

TEST_F(ThreadTest, ExactlyOneOfRacingReleasesSucceeds) {
  for (int round = 0; round < 300; ++round) {
    const BufferHandle buffer = take(1000 + round);
    std::atomic<int> wins{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] { wins += heap->release(buffer) == HeapCode::kOk ? 1 : 0; });
    for (std::thread &thread : threads)
      thread.join();
    ASSERT_EQ(wins, 1);
  }
  EXPECT_EQ(stats().liveBuffers, 0U);
}

// One thread releases buffers in order. A second thread releases one of them at about the same
// time. Every buffer is released exactly once, by whichever thread comes first.
TEST_F(ThreadTest, AReleaseRacesWithTheReleasesOfTheAllocatingThread) {
  std::mt19937 random(5);
  for (int round = 0; round < 3000; ++round) {
    auto own = Heap::create(gpu, {}).take();
    std::vector<BufferHandle> buffers(400);
    BufferRequest request;
    request.sizeBytes = 1000;
    for (BufferHandle &buffer : buffers)
      ASSERT_EQ(own->allocate(request, &buffer), HeapCode::kOk);
    std::atomic<size_t> at{0};
    std::atomic<int> wins{0};
    const size_t start = 50 + random() % 200;
    const size_t ahead = random() % 30;
    std::thread other([&] {
      while (at.load(std::memory_order_relaxed) < start) {
      }
      wins += own->release(buffers[at + ahead]) == HeapCode::kOk ? 1 : 0;
    });
    for (size_t i = 0; i < 300; ++i) {
      at.store(i, std::memory_order_relaxed);
      wins += own->release(buffers[i]) == HeapCode::kOk ? 1 : 0;
    }
    other.join();
    for (size_t i = 300; i < buffers.size(); ++i)
      wins += own->release(buffers[i]) == HeapCode::kOk ? 1 : 0;
    ASSERT_EQ(wins, static_cast<int>(buffers.size())) << "round " << round;
    ASSERT_EQ(validate(*own), nullptr) << validate(*own);
  }
}

// A thread that runs a function and then stays alive, so that it keeps its arena. The constructor
// returns when the function is done; the destructor ends the thread.
class RestingThread {
public:
  template <typename Work> explicit RestingThread(const Work &work) {
    thread_ = std::thread([this, work] {
      work();
      state_ = 1;
      state_.notify_all();
      state_.wait(1);
    });
    state_.wait(0);
  }
  ~RestingThread() {
    state_ = 2;
    state_.notify_all();
    thread_.join();
  }

private:
  std::atomic<int> state_{0}; // 0: working, 1: waiting, 2: told to end
  std::thread thread_;
};

// A thread resolves a buffer while another one allocates, so that the heap's tables of buffers and
// of ranges grow.
TEST_F(ThreadTest, BuffersAreResolvedWhileTheTablesGrow) {
  std::vector<BufferHandle> all;
  for (int i = 0; i < 8; ++i)
    all.push_back(take(256));
  const Placement first = placed(all[3]);
  std::atomic<bool> done{false};
  std::thread other([&, buffer = all[3]] {
    while (!done) {
      Placement at;
      EXPECT_EQ(heap->resolve(buffer, &at), HeapCode::kOk);
      EXPECT_EQ(at.offsetBytes, first.offsetBytes);
      EXPECT_EQ(at.memory, first.memory);
    }
  });
  for (int i = 0; i < 200000; ++i)
    all.push_back(take(256));
  done = true;
  other.join();
  for (const BufferHandle buffer : all)
    drop(buffer);
}

// All threads intern the same texts at the same time. Each text gets one id, which every thread
// sees, and the text of an id is complete as soon as a thread has the id.
TEST_F(ThreadTest, EqualNamesHaveOneId) {
  make();
  constexpr uint32_t kTexts = 20000;
  std::vector<std::vector<uint32_t>> ids(kThreads, std::vector<uint32_t>(kTexts));
  std::atomic<uint32_t> torn{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (uint32_t i = 0; i < kTexts; ++i) {
        const std::string text(1 + i % 40, static_cast<char>('a' + i % 26));
        const std::string name = text + std::to_string(i);
        const uint32_t id = (t % 2 == 0 ? heap->intern(name) : heap->intern(name.c_str())).index;
        ids[t][i] = id;
        torn += heap->components().names.text(id) != name ? 1 : 0;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(torn, 0U);
  std::vector<uint32_t> sorted = ids[0];
  std::sort(sorted.begin(), sorted.end());
  for (uint32_t i = 0; i < kTexts; ++i)
    ASSERT_EQ(sorted[i], i + 1);
  for (int t = 1; t < kThreads; ++t)
    EXPECT_EQ(ids[t], ids[0]);
}

// Two threads allocate and release 256 MiB one after the other. The peak of live bytes is not the
// sum of both, because an arena subtracts a large decrease of its live bytes from the totals at
// once (counters.h). Requests with an alignment above 256 do not use the size classes.
TEST_F(ThreadTest, PeaksOfDifferentTimesAreNotAdded) {
  for (const auto &[even, odd] : {std::pair(256, 256), {512, 512}, {256, 512}}) {
    make();
    BufferRequest request;
    request.sizeBytes = 32 * kKiB;
    const auto work = [&] {
      std::vector<BufferHandle> all;
      for (uint64_t i = 0; i < 256 * kMiB / request.sizeBytes; ++i) {
        request.alignment = static_cast<uint64_t>(i % 2 == 0 ? even : odd);
        all.push_back(take(request));
      }
      for (const BufferHandle buffer : all)
        drop(buffer);
    };
    const RestingThread other(work);
    work();
    EXPECT_LT(stats().peakLiveBytes, 320 * kMiB) << "alignments " << even << ", " << odd;
  }
}

TEST_F(ThreadTest, EmptySlabsOfAnotherThreadAreUsedAgain) {
  drop(take(kMiB)); // makes this thread's arena first
  const auto fill = [&] {
    std::vector<BufferHandle> all;
    for (int i = 0; i < 100; ++i)
      all.push_back(take(kMiB));
    for (const BufferHandle buffer : all)
      drop(buffer);
  };
  const RestingThread other(fill);
  const uint64_t before = gpu->counts().allocations;
  fill();
  EXPECT_LE(gpu->counts().allocations, before + 2) << before << " driver allocations before";
}

TEST_F(ThreadTest, EmptySlabsOfAnotherThreadGoBackBeforeTheHeapGrows) {
  std::vector<BufferHandle> mine;
  for (int i = 0; i < 400; ++i)
    mine.push_back(take(kMiB));
  const RestingThread other([&] {
    std::vector<BufferHandle> all;
    for (int i = 0; i < 200; ++i)
      all.push_back(take(kMiB));
    for (const BufferHandle buffer : all)
      drop(buffer);
  });
  for (int i = 0; i < 66; ++i)
    mine.push_back(take(3 * kMiB));
  EXPECT_LT(stats().peakReservedBytes, 660 * kMiB);
  for (const BufferHandle buffer : mine)
    drop(buffer);
}

TEST_F(ThreadTest, FreeMemoryOfAnIdleThreadServesOthers) {
  for (const uint64_t size : {kMiB, 16 * kKiB}) { // the large pool, the small pool
    make();
    drop(take(size)); // makes this thread's arena first
    std::vector<BufferHandle> left;
    const uint64_t count = 128 * kMiB / size;
    const RestingThread other([&] {
      std::vector<BufferHandle> all;
      for (uint64_t i = 0; i < count; ++i)
        all.push_back(take(size));
      for (uint64_t i = 0; i < count; ++i) {
        if (i % 4 == 0)
          left.push_back(all[i]);
        else
          drop(all[i]);
      }
    });
    const uint64_t before = stats().reservedBytes;
    for (uint64_t i = 0; i < count / 8; ++i)
      left.push_back(take(size));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    for (uint64_t i = 0; i < count / 2; ++i)
      left.push_back(take(size));
    EXPECT_LE(stats().reservedBytes, before + 32 * kMiB);
    EXPECT_EQ(validate(*heap), nullptr) << validate(*heap);
    for (const BufferHandle buffer : left)
      drop(buffer);
  }
}

TEST_F(ThreadTest, PendingMemoryOfAnotherThreadServesOrderedAllocations) {
  const TimelinePoint point{heap->addTimeline(), 7};
  drop(take(2 * kMiB));
  uint64_t address = 0;
  const RestingThread other([&] {
    const BufferHandle buffer = take(kMiB);
    address = placed(buffer).address;
    drop(buffer, {&point, 1});
  });
  BufferRequest request;
  request.sizeBytes = kMiB;
  const BufferHandle buffer = takeAfter(request, {&point, 1});
  EXPECT_EQ(placed(buffer).address, address);
  drop(buffer);
  EXPECT_EQ(heap->advance(point.timeline, point.value), HeapCode::kOk);
}

TEST_F(ThreadTest, ThreadsOutliveHeapsAndHeapsOutliveThreads) {
  for (int i = 0; i < 20; ++i) {
    auto other = Heap::create(gpu, {}).take();
    BufferRequest request;
    request.sizeBytes = 1000;
    BufferHandle buffer;
    std::thread([&] { ASSERT_EQ(other->allocate(request, &buffer), HeapCode::kOk); }).join();
    ASSERT_EQ(other->release(buffer), HeapCode::kOk);
    drop(take(1000)); // this thread also uses a heap that lives on
  }
}

} // namespace
} // namespace gantry::heap

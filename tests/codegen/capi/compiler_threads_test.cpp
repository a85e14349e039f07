// Tests of what operator new does when memory runs out during a compilation: while other threads
// work, the process must end before an exception destroys the objects that these threads use.
// Each test runs in a child process.
#include "codegen/compiler_threads.h"
#include "tests/support/death_site.h"

#include <gtest/gtest.h>

#include <thread>

namespace gantry::codegen {
namespace {

using test::Death;
using test::runToDeath;

enum Outcome { kNone = 0, kCaught = 1, kUnwound = 2 };

/// Fails to allocate memory, and returns kCaught, or kUnwound if `isShared` was true while an
/// object of a frame between here and the allocation was destroyed.
Outcome failToAllocate(const std::atomic<bool> &isShared) {
  Outcome outcome = kNone;
  struct Object {
    ~Object() { outcome = isShared ? kUnwound : kCaught; }
    const std::atomic<bool> &isShared;
    Outcome &outcome;
  };
  try {
    const Object object{isShared, outcome};
    ::operator delete(::operator new(SIZE_MAX / 2));
  } catch (const std::bad_alloc &) {
  }
  return outcome;
}

/// Runs `body` while another thread runs a task of a pool of this thread.
template <typename Body> Outcome whileShared(Body &&body) {
  const OutOfMemoryHandlers handlers;
  CompilerThreads threads;
  if (threads.count() == 0)
    return kNone;
  std::atomic<bool> isRunning = false, isOver = false;
  threads.async([&] {
    isRunning = true;
    while (!isOver)
      std::this_thread::yield();
  });
  while (!isRunning)
    std::this_thread::yield();
  const Outcome outcome = body(isRunning);
  isOver = true;
  threads.wait();
  return outcome;
}

void expectEnd(const Death &death) {
  EXPECT_FALSE(death.isAlive) << "outcome " << death.code;
  EXPECT_TRUE(death.place.starts_with("SIGABRT")) << death.place;
  EXPECT_NE(death.lastLine.find("the host has no memory left to compile"), std::string::npos)
      << death.lastLine;
}

TEST(CompilerThreads, ProcessEndsWhereTasksAreUnfinished) {
  if (std::thread::hardware_concurrency() < 2)
    GTEST_SKIP() << "needs two processors";
  expectEnd(runToDeath([] { return whileShared(failToAllocate); }));
  expectEnd(runToDeath([] { // A thread of the pool fails.
    const OutOfMemoryHandlers handlers;
    CompilerThreads threads;
    std::atomic<bool> isShared = true, isOver = false;
    threads.async([&] {
      failToAllocate(isShared);
      isOver = true;
    });
    while (!isOver)
      std::this_thread::yield();
    return 0;
  }));
}

TEST(CompilerThreads, ExceptionIsThrownWhereNoTaskIsUnfinished) {
  const Death death = runToDeath([] {
    const OutOfMemoryHandlers handlers;
    CompilerThreads threads;
    std::atomic<bool> isShared = false;
    if (threads.count() > 0) {
      threads.async([] {});
      threads.wait();
    }
    return failToAllocate(isShared);
  });
  EXPECT_TRUE(death.isAlive) << death.place;
  EXPECT_EQ(death.code, kCaught);
}

TEST(CompilerThreads, OtherThreadsOfTheProgramAreNotAffected) {
  const Death death = runToDeath([] {
    return whileShared([](const std::atomic<bool> &) {
      Outcome outcome = kNone;
      std::thread([&] { outcome = failToAllocate(false); }).join();
      return outcome;
    });
  });
  EXPECT_TRUE(death.isAlive) << death.place;
  EXPECT_EQ(death.code, std::thread::hardware_concurrency() < 2 ? kNone : kCaught);
}

std::atomic<int> programsCalls = 0;
void programsHandler() {
  ++programsCalls;
  throw std::bad_alloc();
}

TEST(CompilerThreads, HandlerOfTheProgramIsCalledAndRestored) {
  const Death death = runToDeath([] {
    std::set_new_handler(programsHandler);
    {
      const OutOfMemoryHandlers handlers, others;
      if (failToAllocate(false) != kCaught || programsCalls != 1)
        return 10;
    }
    return std::get_new_handler() == programsHandler ? 0 : 11;
  });
  EXPECT_TRUE(death.isAlive) << death.place;
  EXPECT_EQ(death.code, 0);
  expectEnd(runToDeath([] {
    std::set_new_handler(programsHandler);
    return whileShared(failToAllocate);
  }));
}

} // namespace
} // namespace gantry::codegen

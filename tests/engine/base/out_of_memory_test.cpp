// Tests the marks that failed host allocations set for their thread (out_of_memory.h), the start of
// threads, and functions that run when a thread exits.
#include "engine/base/out_of_memory.h"
#include "engine/base/thread.h"
#include "engine/base/thread_exit.h"

#include <atomic>
#include <csignal>
#include <gtest/gtest.h>

namespace gantry {
namespace {

TEST(HostMemory, AScopeReportsItsFailuresAndMarksTheOuterScope) {
  const HostMemoryScope outer;
  EXPECT_TRUE(checkHostMemory().isOk());
  {
    const HostMemoryScope inner;
    noteFailedAllocation(112);
    noteFailedAllocation(7); // Has no effect: the first mark is kept.
    const Status status = checkHostMemory();
    EXPECT_EQ(status.code(), StatusCode::kOutOfMemory);
    EXPECT_NE(status.message().find("112 bytes"), std::string::npos) << status.message();
    const HostMemoryScope innermost;
    EXPECT_TRUE(checkHostMemory().isOk()) << "a new operation begins without a mark";
  }
  EXPECT_EQ(checkHostMemory().code(), StatusCode::kOutOfMemory);
}

TEST(HostMemory, MarksBelongToTheirThread) {
  const HostMemoryScope scope;
  auto thread = Thread::start("marks", [] { noteFailedAllocation(1); });
  ASSERT_TRUE(thread.isOk());
  thread->join();
  EXPECT_TRUE(checkHostMemory().isOk());
}

TEST(HostMemory, AnArrayThatIsTooLargeGivesAStatus) {
  std::vector<char> array(3, 'x');
  const Status refused = tryResize(array, size_t{1} << 60, "the test's array");
  EXPECT_EQ(refused.code(), StatusCode::kOutOfMemory);
  EXPECT_NE(refused.message().find("1152921504606846976 bytes of the test's array"),
            std::string::npos)
      << refused.message();
  EXPECT_EQ(array.size(), 3U);
  EXPECT_TRUE(tryResize(array, 1000, "the test's array").isOk());
  EXPECT_EQ(array.size(), 1000U);
  EXPECT_EQ(array[2], 'x');
}

TEST(Thread, BlocksSignalsAndSetsItsName) {
  char name[16] = "";
  bool blocked = false;
  auto thread = Thread::start("a-name-that-is-too-long", [&] {
    pthread_getname_np(pthread_self(), name, sizeof(name));
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    blocked = sigismember(&mask, SIGTERM) == 1 && sigismember(&mask, SIGSEGV) == 0;
  });
  ASSERT_TRUE(thread.isOk()) << thread.status().message();
  EXPECT_TRUE(thread->isStarted());
  thread->join();
  EXPECT_FALSE(thread->isStarted());
  EXPECT_STREQ(name, "a-name-that-is-");
  EXPECT_TRUE(blocked);
  sigset_t mine;
  pthread_sigmask(SIG_SETMASK, nullptr, &mine);
  EXPECT_EQ(sigismember(&mine, SIGTERM), 0) << "the starting thread keeps its own mask";
}

TEST(ThreadExit, RunsOnlyWhenAnArmedThreadExits) {
  static std::atomic<int> calls{0};
  static ThreadExit exit([](void *argument) { calls += *static_cast<int *>(argument); });
  int amount = 5;
  auto armed = Thread::start("armed", [&] { EXPECT_TRUE(exit.arm(&amount)); });
  ASSERT_TRUE(armed.isOk());
  armed->join();
  auto unarmed = Thread::start("unarmed", [] {});
  ASSERT_TRUE(unarmed.isOk());
  unarmed->join();
  EXPECT_EQ(calls, 5);
}

} // namespace
} // namespace gantry

// Starts threads with pthread_create(), which returns an error number instead of throwing.
#include "engine/base/thread.h"

#include "engine/base/crash.h"

#include <cassert>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>

namespace gantry {
namespace {

struct Start {
  std::function<void()> body;
  char name[16];
};

void *runStart(void *user) {
  const std::unique_ptr<Start> start(static_cast<Start *>(user));
  pthread_setname_np(pthread_self(), start->name);
  start->body();
  return nullptr;
}

} // namespace

Result<Thread> Thread::start(const char *name, std::function<void()> body) {
  std::unique_ptr<Start> start(new (std::nothrow) Start{std::move(body), {}});
  if (start == nullptr)
    return statusf(StatusCode::kOutOfMemory, "the host has no memory to start the thread '%s'",
                   name);
  std::snprintf(start->name, sizeof(start->name), "%s", name);
  // The mask is set before the thread starts, because a new thread inherits the mask of its
  // creator. If the thread set the mask itself, a signal could reach it before that.
  sigset_t blocked, before;
  sigfillset(&blocked);
  for (const int crash : crashSignals())
    sigdelset(&blocked, crash);
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  Thread thread;
  const int error = pthread_create(&thread.handle_, nullptr, runStart, start.get());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0)
    return statusf(StatusCode::kOutOfMemory,
                   "the system refuses the thread '%s': %s; raise the user's limit of threads "
                   "(ulimit -u) or the container's, or free memory",
                   name, std::strerror(error));
  (void)start.release(); // The new thread owns the object and frees it.
  thread.started_ = true;
  return thread;
}

Thread::Thread(Thread &&other) noexcept : handle_(other.handle_), started_(other.started_) {
  other.started_ = false;
}

Thread &Thread::operator=(Thread &&other) noexcept {
  assert(!started_);
  handle_ = other.handle_;
  started_ = other.started_;
  other.started_ = false;
  return *this;
}

Thread::~Thread() { assert(!started_); }

void Thread::join() {
  pthread_join(handle_, nullptr);
  started_ = false;
}

void Thread::detach() {
  pthread_detach(handle_);
  started_ = false;
}

} // namespace gantry

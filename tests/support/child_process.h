// Runs a function in a child process, for tests that crash or end the process.
#pragma once

#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

namespace gantry::test {

/// Forks a child that runs the function and then exits with code 0. Returns the wait status that
/// waitpid() sets. SIGALRM kills a child that hangs after 60 seconds. Call this function while the
/// process has one thread only.
template <typename Function> int runInChild(Function &&function) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    function();
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

} // namespace gantry::test

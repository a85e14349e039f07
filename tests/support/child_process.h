// Runs a function in a child process, for tests of how a process ends.
#pragma once

#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

namespace gantry::test {

/// Forks a child that runs the function and then exits with code 0. Returns the status of
/// waitpid(). A child that hangs is killed by SIGALRM after 60 seconds. Must be called while this
/// process has only one thread.
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

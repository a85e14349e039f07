// Running a function in a process of its own, to see how that ends.
#pragma once

#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

namespace gantry::test {

/// What waitpid() tells of a child that ran the function and then left with exit code 0. Call it
/// while this process has one thread. The child writes no core file.
template <typename Function> int runInChild(Function &&function) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60); // a child that hangs ends by SIGALRM
    function();
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

} // namespace gantry::test

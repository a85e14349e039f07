/* The control structures of the preloaded library failing_malloc.c.
 *
 * A test finds the library's functions (failingMallocWatch, failingMallocStart, failingMallocStop,
 * failingMallocCounts) with dlsym(RTLD_DEFAULT, ...), since it does not link the library. */
#ifndef GANTRY_TESTS_SUPPORT_FAILING_MALLOC_H_
#define GANTRY_TESTS_SUPPORT_FAILING_MALLOC_H_

#include <stddef.h> /* NOLINT(modernize-deprecated-headers): This is a C header. */

/* The calls that fail, counted from 1 since failingMallocStart(). 0 stands for no call. */
struct FailingMallocPlan {
  unsigned long long watchedFirst; /* The first failing call of the watched module. */
  unsigned long long otherFirst;   /* The first failing call of all other modules. */
  int persistent;                  /* 1: all later calls fail as well. */
};

struct FailingMallocCounts {
  unsigned long long watchedCalls, otherCalls; /* Calls since failingMallocStart(). */
  unsigned long long failed;                   /* Failed calls since failingMallocStart(). */
  unsigned long long liveBlocks, liveBytes;    /* The watched module's blocks now. */
  unsigned long long peakBytes, largestBytes;  /* The same since the start: peak, largest block. */
};

#endif

/* failing_malloc.h: control of the preloaded library failing_malloc.c. The functions are found with
 * dlsym(RTLD_DEFAULT, ...), since the program does not link the library. */
#ifndef GANTRY_TESTS_SUPPORT_FAILING_MALLOC_H_
#define GANTRY_TESTS_SUPPORT_FAILING_MALLOC_H_

#include <stddef.h> /* NOLINT(modernize-deprecated-headers): this is C */

/* Which calls fail, counted from 1 since failingMallocStart(); 0: none. */
struct FailingMallocPlan {
  unsigned long long watchedFirst; /* of the watched module */
  unsigned long long otherFirst;   /* of all other modules */
  int persistent;                  /* 1: that call and all later ones */
};

struct FailingMallocCounts {
  unsigned long long watchedCalls, otherCalls; /* since failingMallocStart() */
  unsigned long long failed;                   /* since failingMallocStart() */
  unsigned long long liveBlocks, liveBytes;    /* of the watched module, now */
  unsigned long long peakBytes, largestBytes;  /* of the watched module, since the start */
};

#endif

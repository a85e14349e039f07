/* The control structures of the preloaded library failing_malloc.c.
 *
 * A test does not link the library but finds these functions with dlsym(RTLD_DEFAULT, ...):
 *   int failingMallocWatch(const char *name)        watches the loaded module whose path contains
 *                                                   the name; returns 0 if there is none.
 *   void failingMallocStart(struct FailingMallocPlan)  resets the counts of calls. From then on,
 *                                                   calls are counted, and fail as planned.
 *   void failingMallocStop(void)                    stops counting calls and failing them.
 *   struct FailingMallocCounts failingMallocCounts(void) */
#ifndef GANTRY_TESTS_SUPPORT_FAILING_MALLOC_H_
#define GANTRY_TESTS_SUPPORT_FAILING_MALLOC_H_

#include <stddef.h> /* NOLINT(modernize-deprecated-headers): This is a C header. */

/* Numbers of the calls that fail, counted from 1 since failingMallocStart(); 0: no call fails. */
struct FailingMallocPlan {
  unsigned long long watchedFirst; /* The first failing call of the watched module. */
  unsigned long long otherFirst;   /* The first failing call of all other modules. */
  int persistent;                  /* 1: all later calls fail too. */
};

struct FailingMallocCounts {
  unsigned long long watchedCalls, otherCalls; /* Calls since failingMallocStart(). */
  unsigned long long failed;                   /* Failed calls since failingMallocStart(). */
  unsigned long long liveBlocks, liveBytes;    /* The watched module's live blocks. */
  unsigned long long peakBytes;                /* Max of liveBytes since failingMallocStart(). */
  unsigned long long largestBytes; /* Largest block of the watched module since the start. */
};

#endif

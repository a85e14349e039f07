/* A library for LD_PRELOAD that counts the allocations of one module and makes chosen ones fail.
 * The test program finds the library's functions with dlsym() (failing_malloc.h).
 *
 * An allocation belongs to the watched module if the instruction that called malloc, calloc,
 * realloc, aligned_alloc, posix_memalign or memalign lies in the module's executable segment. The
 * library counts the calls of all other modules together. It counts calls and lets them fail only
 * between failingMallocStart() and failingMallocStop(); it counts live blocks always.
 *
 * Thread safety: every function may be called from any thread. The library uses fixed tables and
 * allocates no memory itself.
 */
#define _GNU_SOURCE
#include "tests/support/failing_malloc.h"

#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);

/* ---- the watched module ---------------------------------------------------------------------- */

static const char *watchedName;
static uintptr_t watchedBegin, watchedEnd;

static int findModule(struct dl_phdr_info *info, size_t size, void *user) {
  (void)size;
  (void)user;
  if (info->dlpi_name == NULL || strstr(info->dlpi_name, watchedName) == NULL)
    return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD || (segment->p_flags & PF_X) == 0)
      continue;
    watchedBegin = info->dlpi_addr + segment->p_vaddr;
    watchedEnd = watchedBegin + segment->p_memsz;
  }
  return 1;
}

/* ---- live blocks of the watched module ---------------------------------------------------------
 * An open-addressing hash table, protected by a spin lock. */

enum { kSlots = 1 << 20 };
static struct {
  void *block;
  size_t bytes;
} slots[kSlots];
static atomic_flag tableLock = ATOMIC_FLAG_INIT;
static atomic_int active;
static struct FailingMallocCounts counts;
static atomic_ullong watchedCalls, otherCalls, failed;
static struct FailingMallocPlan plan;

static void lockTable(void) {
  while (atomic_flag_test_and_set_explicit(&tableLock, memory_order_acquire)) {
  }
}
static void unlockTable(void) { atomic_flag_clear_explicit(&tableLock, memory_order_release); }

static size_t homeOf(const void *block) {
  return (size_t)(((uintptr_t)block >> 4) * 0x9e3779b97f4a7c15u) >> 44;
}

static void addBlock(void *block, size_t bytes) {
  lockTable();
  size_t at = homeOf(block);
  while (slots[at].block != NULL)
    at = (at + 1) % kSlots;
  slots[at].block = block;
  slots[at].bytes = bytes;
  counts.liveBlocks += 1;
  counts.liveBytes += bytes;
  if (counts.liveBytes > counts.peakBytes)
    counts.peakBytes = counts.liveBytes;
  if (bytes > counts.largestBytes)
    counts.largestBytes = bytes;
  unlockTable();
}

static void removeBlock(const void *block) {
  lockTable();
  size_t at = homeOf(block);
  while (slots[at].block != NULL && slots[at].block != block)
    at = (at + 1) % kSlots;
  if (slots[at].block != NULL) {
    counts.liveBlocks -= 1;
    counts.liveBytes -= slots[at].bytes;
    /* Move later entries of the probe sequence into the gap, so that searches still find them. */
    for (size_t next = (at + 1) % kSlots; slots[next].block != NULL; next = (next + 1) % kSlots) {
      const size_t home = homeOf(slots[next].block);
      if ((next - home) % kSlots < (next - at) % kSlots)
        continue;
      slots[at] = slots[next];
      at = next;
    }
    slots[at].block = NULL;
  }
  unlockTable();
}

/* ---- control --------------------------------------------------------------------------------- */

__attribute__((visibility("default"))) int failingMallocWatch(const char *moduleName) {
  watchedName = moduleName;
  watchedBegin = watchedEnd = 0;
  dl_iterate_phdr(findModule, NULL);
  return watchedEnd != 0;
}

__attribute__((visibility("default"))) void failingMallocStart(struct FailingMallocPlan given) {
  plan = given;
  atomic_store(&watchedCalls, 0);
  atomic_store(&otherCalls, 0);
  atomic_store(&failed, 0);
  counts.peakBytes = counts.liveBytes;
  counts.largestBytes = 0;
  atomic_store(&active, 1);
}

__attribute__((visibility("default"))) void failingMallocStop(void) { atomic_store(&active, 0); }

__attribute__((visibility("default"))) struct FailingMallocCounts failingMallocCounts(void) {
  lockTable();
  struct FailingMallocCounts result = counts;
  unlockTable();
  result.watchedCalls = atomic_load(&watchedCalls);
  result.otherCalls = atomic_load(&otherCalls);
  result.failed = atomic_load(&failed);
  return result;
}

/* ---- the allocation functions ---------------------------------------------------------------- */

static int isWatched(const void *caller) {
  return (uintptr_t)caller >= watchedBegin && (uintptr_t)caller < watchedEnd;
}

/* Counts the call. Returns 1 and sets errno if the plan makes the call fail. */
static int fails(int watched) {
  if (!atomic_load_explicit(&active, memory_order_relaxed))
    return 0;
  const unsigned long long number = atomic_fetch_add(watched ? &watchedCalls : &otherCalls, 1) + 1;
  const unsigned long long first = watched ? plan.watchedFirst : plan.otherFirst;
  if (first == 0 || (plan.persistent ? number < first : number != first))
    return 0;
  atomic_fetch_add(&failed, 1);
  errno = ENOMEM;
  return 1;
}

/* Records the block if it belongs to the watched module. Returns the block. */
static void *took(void *block, size_t bytes, int watched) {
  if (block != NULL && watched)
    addBlock(block, bytes);
  return block;
}

__attribute__((visibility("default"))) void *malloc(size_t size) {
  const int watched = isWatched(__builtin_return_address(0));
  return fails(watched) ? NULL : took(__libc_malloc(size), size, watched);
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t size) {
  const int watched = isWatched(__builtin_return_address(0));
  return fails(watched) ? NULL : took(__libc_calloc(count, size), count * size, watched);
}

__attribute__((visibility("default"))) void *realloc(void *memory, size_t size) {
  const int watched = isWatched(__builtin_return_address(0));
  if (fails(watched))
    return NULL;
  if (watched && memory != NULL)
    removeBlock(memory);
  return took(__libc_realloc(memory, size), size, watched);
}

__attribute__((visibility("default"))) void *memalign(size_t alignment, size_t size) {
  const int watched = isWatched(__builtin_return_address(0));
  return fails(watched) ? NULL : took(__libc_memalign(alignment, size), size, watched);
}

__attribute__((visibility("default"))) void *aligned_alloc(size_t alignment, size_t size) {
  const int watched = isWatched(__builtin_return_address(0));
  return fails(watched) ? NULL : took(__libc_memalign(alignment, size), size, watched);
}

__attribute__((visibility("default"))) int posix_memalign(void **memory, size_t alignment,
                                                          size_t size) {
  const int watched = isWatched(__builtin_return_address(0));
  if (fails(watched))
    return ENOMEM;
  void *block = took(__libc_memalign(alignment, size), size, watched);
  if (block == NULL)
    return ENOMEM;
  *memory = block;
  return 0;
}

__attribute__((visibility("default"))) void free(void *memory) {
  if (memory != NULL)
    removeBlock(memory);
  __libc_free(memory);
}

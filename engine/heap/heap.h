// The memory manager of a device. It suballocates buffers from slabs (driver allocations), and
// counts the bytes of each memory kind and of each buffer name.
//
// A buffer is a reference-counted range of a slab. A 64-bit handle with a generation identifies it.
// A double release, the use of a released buffer, and the use of another heap's handle return an
// error code and never crash. One heap serves all parts of a program that use the device.
//
// The heap does not track hazards, record commands, allocate images, or plan the temporary tensors
// of programs (engine/plan). engine/heap/extras adds compaction and spilling to the host.
//
// Algorithm. An allocation checks the request. It then searches the thread's arena (arena.h): the
// size classes (lists of free ranges by length), then the pool (the arena's slabs for buffers of
// similar sizes). If the arena has no range, Growth (growth.h) tries other arenas, a new slab and
// the pressure ladder, a list of measures that free storage. A release returns the range to the
// size classes or to the pool of the buffer's arena. While the GPU may still use the range, it is a
// pending release. The heap never discards contents of live buffers; it refuses instead.
//
// Ownership: the heap keeps its device alive. The destructor of a HeapPtr destroys the heap and
// frees all of its buffers; the caller must wait before that until the device no longer uses them.
// A heap given to shareHeap() lives until its last buffer is released. Threads: every function may
// be called by any thread, unless its comment restricts this. A movable or spillable buffer must be
// pinned from the moment when its placement is read until the work that uses the placement is
// submitted. Costs: see benchmarks/heap. Errors: HeapCode (types.h). Units: bytes.
#pragma once

#include "engine/base/status.h"
#include "engine/device/device.h"
#include "engine/heap/types.h"

#include <memory>
#include <string_view>
#include <utility>

namespace gantry::heap {

class Heap;
class Arena;
struct HeapComponents;
struct HeapDeleter {
  void operator()(Heap *heap) const;
};
using HeapPtr = std::unique_ptr<Heap, HeapDeleter>;

/// Makes a heap that its buffers keep alive. It is destroyed when no shared_ptr to it is left and
/// its last buffer is released.
std::shared_ptr<Heap> shareHeap(HeapPtr heap);

class Heap {
public:
  /// Fails with kInvalidArgument if the device is nullptr or an option is out of range, and with
  /// kOutOfMemory if the host has no memory or 255 heaps are alive. Allocates no device memory.
  static Result<HeapPtr> create(std::shared_ptr<device::Device> device, const HeapOptions &options);
  /// For create() only.
  explicit Heap(HeapComponents &components) : components_(components) {}
  Heap(const Heap &) = delete;
  Heap &operator=(const Heap &) = delete;

  /// The live heap that made the handle, found by the heap's number in it; nullptr if there is
  /// none. The caller ensures that the heap is not destroyed while it uses the pointer.
  static Heap *of(BufferHandle buffer);

  device::Device &device() const;
  /// The number of the heap in traces.
  uint16_t traceId() const;

  // ---- buffers ---------------------------------------------------------------------------------

  /// Makes a buffer with one reference. Its contents are undefined. On failure *buffer is 0.
  HeapCode allocate(const BufferRequest &request, BufferHandle *buffer);

  /// Returns kOk if the request is valid, else the code with which allocate() refuses it. Does not
  /// examine how much memory is free.
  HeapCode check(const BufferRequest &request) const;

  /// Adds a reference. Returns kInvalidArgument if the buffer has 2^24 - 1 references.
  HeapCode retain(BufferHandle buffer);

  /// Gives a reference up. After the last release, the storage becomes free when all points have
  /// passed that were given to this call, to earlier releases of the buffer and to freeAfter(). If
  /// there are none, it becomes free at once. Never waits, and never fails for lack of memory.
  HeapCode release(BufferHandle buffer, std::span<const TimelinePoint> after = {});

  /// Keeps the storage in use until the point has passed, even if the last reference is released
  /// earlier. It is for work that uses the buffer when another owner may release it last.
  HeapCode freeAfter(BufferHandle buffer, const TimelinePoint &point);

  /// Writes the place of the buffer. Returns kBusy if the buffer is spilled; pin() restores it.
  HeapCode resolve(BufferHandle buffer, Placement *placement) const;

  /// Whether the buffer has a reference left.
  bool isLive(BufferHandle buffer) const;

  /// Writes the number of references to a live buffer, and the buffer's name ("" if it has none),
  /// a pointer that is valid until the heap is destroyed.
  HeapCode describe(BufferHandle buffer, const char **name, uint32_t *references) const;

  /// Pins a buffer and writes its place. While pinned, a buffer is neither moved nor spilled. Pins
  /// are counted. pin() waits for a relocation of the buffer (a move, spill or restore that has
  /// begun), and restores a spilled buffer, which may fail as allocate() does. If the buffer is
  /// mapped, pin() also waits for the submissions that are known to use its storage.
  HeapCode pin(BufferHandle buffer, Placement *placement);
  /// Removes a pin. Returns kInvalidArgument if a movable or spillable buffer has none.
  HeapCode unpin(BufferHandle buffer);

  // ---- timelines -------------------------------------------------------------------------------

  /// Adds a timeline (TimelinePoint) whose progress the caller reports with advance(). Returns its
  /// number (1 to 3), or 0 if three exist.
  uint32_t addTimeline();
  /// Declares that all work up to `value` of a timeline of the caller is done, and frees storage
  /// that waited for this.
  HeapCode advance(uint32_t timeline, uint64_t value);
  /// Reads from the device which work is done, and frees storage that waited for it. Allocations do
  /// this too when they find no free range. A program that calls poll() once in each iteration of
  /// its main loop frees ranges earlier, so that they merge with free neighbours. Does not wait for
  /// the device.
  HeapCode poll();

  // ---- retention -------------------------------------------------------------------------------

  /// Frees the ranges of all size classes, and then frees empty slabs until at most keepBytes of
  /// them are left. Also resets the retention policies, so that the heap limits its reserved bytes
  /// as strictly as at its beginning (retention.h). Returns the bytes of the slabs that were freed.
  uint64_t trim(uint64_t keepBytes = 0);

  /// Sets the user's limit for one memory heap of the device; UINT64_MAX: no limit. Memory above
  /// the limit that is already allocated stays allocated.
  HeapCode setLimit(uint32_t deviceHeap, uint64_t bytes);
  /// Records the present budgets in the trace. The heap does this whenever it allocates or frees a
  /// slab, but a budget also changes when other processes allocate memory.
  void traceBudgets() const;

  // ---- names and statistics --------------------------------------------------------------------

  /// Returns the id of a text. Equal texts have equal ids. The index is 0 if the text is empty or
  /// longer than 4096 bytes, if the host has no memory, or if 65,535 names exist.
  NameId intern(std::string_view name);
  /// The same for a text that ends with a zero byte; nullptr gives index 0.
  NameId intern(const char *name);
  void statistics(HeapStatistics *statistics) const;
  /// Writes the names with the largest live bytes, in descending order, up to names.size(). Returns
  /// how many it wrote.
  size_t names(std::span<NameStatistics> names) const;

  /// Copies the message of the last failed driver call, cut to the length of `text`, which is at
  /// least 1; "" if no call has failed. Returns the length of the copy.
  size_t lastDriverMessage(std::span<char> text) const;

  /// The components, for engine/heap/extras and tests.
  HeapComponents &components() const { return components_; }

private:
  HeapComponents &components_;
};

/// Owns one reference to a buffer, or none. The destructor releases the reference. A copy adds a
/// reference. Threads: one at a time. The heap must outlive the object or come from shareHeap().
class Buffer {
public:
  Buffer() = default;
  /// Takes over a reference that the caller owns.
  Buffer(Heap &heap, BufferHandle handle) : heap_(&heap), handle_(handle) {}
  Buffer(const Buffer &other) : heap_(other.heap_), handle_(other.handle_) {
    if (handle_)
      (void)heap_->retain(handle_);
  }
  Buffer(Buffer &&other) noexcept : heap_(other.heap_), handle_(other.handle_) {
    other.handle_ = {};
  }
  Buffer &operator=(Buffer other) noexcept {
    std::swap(heap_, other.heap_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Buffer() { reset(); }

  explicit operator bool() const { return static_cast<bool>(handle_); }
  BufferHandle handle() const { return handle_; }
  Heap *heap() const { return heap_; }
  /// Releases the reference now, as Heap::release().
  void reset(std::span<const TimelinePoint> after = {}) {
    if (handle_)
      (void)heap_->release(handle_, after);
    handle_ = {};
  }
  /// Returns the handle and hands the reference over to the caller.
  BufferHandle take() { return std::exchange(handle_, {}); }

private:
  Heap *heap_ = nullptr;
  BufferHandle handle_;
};

} // namespace gantry::heap

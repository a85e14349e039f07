// Host memory whose allocation may fail: an allocator that reports failure instead of ending the
// process, objects made in it, and two array types built on it.
//
// The modules that manage memory (engine/heap, engine/device) must survive a failing host
// allocation and return an error. They allocate their bookkeeping from a HostAllocator, which is
// two functions and a pointer, by default malloc and free. An embedder passes its own allocator; a
// test passes an allocator whose k-th call fails.
//
// All other code uses std::vector and reports a lack of memory as out_of_memory.h describes. This
// header does not allocate device memory.
//
// Errors: functions return false or nullptr on failure and leave the object unchanged.
// Threads: the functions of a HostAllocator are called from any thread that uses the heap or device
// to which the allocator was passed. An array is used by one thread at a time, with the exceptions
// that its comment states.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace gantry {

/// Two functions that allocate and free host memory, with the argument that both receive.
struct HostAllocator {
  /// Returns at least `bytes` bytes, aligned to 16 bytes, or nullptr. bytes > 0.
  void *(*allocate)(void *user, size_t bytes) = [](void *, size_t bytes) {
    return std::malloc(bytes);
  };
  /// Frees memory that allocate returned; `bytes` is the size that was passed to allocate.
  void (*free)(void *user, void *memory, size_t bytes) = [](void *, void *memory, size_t) {
    std::free(memory);
  };
  void *user = nullptr;

  /// Allocates memory and fills it with zero bytes; returns nullptr on failure. Writing the zeros
  /// makes the system commit the pages now, so a later write cannot run out of memory.
  void *allocateZeroed(size_t bytes) const {
    void *memory = allocate(user, bytes);
    if (memory != nullptr)
      std::memset(memory, 0, bytes);
    return memory;
  }
};

/// Makes a T from the arguments in memory of the allocator. Returns nullptr if the allocation
/// fails. hostDelete() destroys the object and frees its memory.
template <typename T, typename... Arguments>
T *hostNew(const HostAllocator &host, Arguments &&...arguments) {
  static_assert(alignof(T) <= 16, "a HostAllocator aligns to 16 bytes");
  void *memory = host.allocateZeroed(sizeof(T));
  return memory == nullptr ? nullptr : new (memory) T(std::forward<Arguments>(arguments)...);
}
template <typename T> void hostDelete(const HostAllocator &host, T *object) {
  if (object == nullptr)
    return;
  object->~T();
  host.free(host.user, object, sizeof(T));
}

/// The part of HostArray that does not depend on the element type: a growing block of memory. Only
/// HostArray uses it.
class HostStorage {
public:
  HostStorage(const HostStorage &) = delete;
  HostStorage &operator=(const HostStorage &) = delete;

protected:
  HostStorage(const HostAllocator &allocator, uint32_t elementBytes, bool othersRead);
  ~HostStorage();

  /// Makes the capacity at least `capacity`.
  [[nodiscard]] bool grow(uint32_t capacity);
  /// Changes the size; new elements are zero.
  [[nodiscard]] bool setSize(uint32_t size);

  HostAllocator allocator_;
  void *data_ = nullptr;
  uint32_t size_ = 0;                   // Elements in use.
  uint32_t capacity_ = 0;               // Elements that the block can hold.
  std::atomic<void *> shared_{nullptr}; // A copy of data_ for other threads.

private:
  size_t bytesFor(uint32_t capacity) const;
  /// Frees the current block and makes the block that it replaced current, if that was kept.
  void freeBlock();
  uint32_t elementBytes_;
  bool othersRead_;
};

/// A growing contiguous array of trivially copyable elements. It starts on a cache-line boundary.
/// Growth doubles the capacity and copies the elements, so appending is amortised O(1), and O(1)
/// after reserve(). Growth invalidates pointers to elements.
///
/// With kOthersRead, any thread may read through shared() while one thread changes or grows the
/// array. Blocks that growth replaced are then kept until the array is destroyed; they take at most
/// as many bytes as the current block. A reader may access an element through shared() only after
/// it has synchronised with the thread that wrote the element, for example if that thread published
/// the index with a release store and the reader loaded the index with acquire order. Readers and
/// the writer must access fields that change later atomically.
template <typename T, bool kOthersRead = false> class HostArray : HostStorage {
  static_assert(std::is_trivially_copyable_v<T>);

public:
  explicit HostArray(const HostAllocator &allocator)
      : HostStorage(allocator, sizeof(T), kOthersRead) {}

  uint32_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T &operator[](uint32_t index) { return begin()[index]; }
  const T &operator[](uint32_t index) const { return begin()[index]; }
  T *begin() { return static_cast<T *>(data_); }
  T *end() { return begin() + size_; }
  const T *begin() const { return static_cast<const T *>(data_); }
  const T *end() const { return begin() + size_; }
  T &back() { return begin()[size_ - 1]; }
  void popBack() { --size_; }
  void clear() { size_ = 0; }

  /// The first element, for readers in other threads.
  const T *shared() const {
    static_assert(kOthersRead);
    return static_cast<const T *>(shared_.load(std::memory_order_acquire));
  }

  /// Makes room for `capacity` elements in total. Returns false, with nothing changed, if the host
  /// has no memory.
  [[nodiscard]] bool reserve(uint32_t capacity) { return capacity <= capacity_ || grow(capacity); }

  [[nodiscard]] bool pushBack(const T &value) {
    const T copy = value; // The value may be an element of this array, which growth would move.
    if (size_ == capacity_ && !grow(size_ + 1))
      return false;
    begin()[size_++] = copy;
    return true;
  }

  /// Appends without a capacity check; the caller has called reserve().
  void pushBackReserved(const T &value) { begin()[size_++] = value; }

  /// New elements are zero bytes.
  [[nodiscard]] bool resize(uint32_t size) { return setSize(size); }
};

/// A growing array whose elements never move. The elements lie in segments: segment k holds
/// 2^(kFirstLog2 + k) elements and starts on a cache-line boundary. Each segment ends with a table
/// that has one pointer for every chunk of 2^kFirstLog2 elements in this segment and in all earlier
/// segments. The table of the newest segment is in use. An element is therefore found with two
/// loads, without a search for its segment.
///
/// Elements need not be copyable. They begin as zero bytes, and their destructors do not run.
/// Threads: grow() by one thread at a time; operator[] by any thread at any time.
template <typename T, uint32_t kFirstLog2 = 10> class SegmentedArray {
  static_assert(std::is_trivially_destructible_v<T> && sizeof(T) % alignof(T *) == 0);
  static constexpr uint32_t kMaxSegments = 21;
  static constexpr size_t kCacheLineBytes = 64;

public:
  explicit SegmentedArray(const HostAllocator &allocator) : allocator_(allocator) {}
  SegmentedArray(const SegmentedArray &) = delete;
  SegmentedArray &operator=(const SegmentedArray &) = delete;
  ~SegmentedArray() {
    for (uint32_t k = 0; k < kMaxSegments && segments_[k] != nullptr; ++k)
      allocator_.free(allocator_.user, segments_[k], segmentBytes(k));
  }

  /// The number of elements that exist; valid indices are below it.
  uint32_t capacity() const { return capacity_.load(std::memory_order_acquire); }

  /// Adds one segment. Returns false, with nothing changed, if the host has no memory or all
  /// kMaxSegments segments exist.
  [[nodiscard]] bool grow() {
    const uint32_t old = capacity_.load(std::memory_order_relaxed);
    const uint32_t k = std::bit_width(old + (1U << kFirstLog2)) - 1 - kFirstLog2;
    if (k >= kMaxSegments)
      return false;
    void *memory = allocator_.allocateZeroed(segmentBytes(k));
    if (memory == nullptr)
      return false;
    segments_[k] = memory;
    const auto at = reinterpret_cast<uintptr_t>(memory);
    T *elements = reinterpret_cast<T *>((at + kCacheLineBytes - 1) & ~(kCacheLineBytes - 1));
    T **table = reinterpret_cast<T **>(elements + (size_t{1} << (k + kFirstLog2)));
    const uint32_t chunks = old >> kFirstLog2;
    std::copy_n(table_.load(std::memory_order_relaxed), chunks, table);
    for (uint32_t i = 0; i < 1U << k; ++i)
      table[chunks + i] = elements + (size_t{i} << kFirstLog2);
    table_.store(table, std::memory_order_release);
    capacity_.store(old + (1U << (k + kFirstLog2)), std::memory_order_release);
    return true;
  }

  /// The element at `index`, which must be below capacity().
  T &operator[](uint32_t index) const {
    return table_.load(
        std::memory_order_acquire)[index >> kFirstLog2][index & ((1U << kFirstLog2) - 1)];
  }

private:
  static size_t segmentBytes(uint32_t k) {
    return kCacheLineBytes + (sizeof(T) << (k + kFirstLog2)) + ((size_t{2} << k) - 1) * sizeof(T *);
  }

  HostAllocator allocator_;
  std::array<void *, kMaxSegments> segments_{}; // The pointers that the allocator returned.
  std::atomic<T **> table_{nullptr};            // One pointer per chunk of 2^kFirstLog2 elements.
  std::atomic<uint32_t> capacity_{0};
};

} // namespace gantry

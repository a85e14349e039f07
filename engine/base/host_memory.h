// Host memory that may run out: allocation that reports failure instead of ending the process, and
// two arrays built on it.
//
// The rooms that manage memory (engine/heap, engine/device) must survive a failing host allocation
// and give an error. They take their bookkeeping from a HostAllocator: two functions and a pointer,
// malloc and free by default. An embedder passes its own; a test passes one whose k-th call fails.
//
// What it is not: no replacement for std::vector where failure is not expected, no allocator for
// device memory.
//
// Threads: the functions of a HostAllocator are called from any thread that uses its owner. The
// arrays are for one thread at a time, except where SegmentedArray says otherwise.
// Elements are trivially copyable and begin as zero bytes.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>

namespace gantry {

struct HostAllocator {
  /// At least `bytes` bytes, aligned to 16, or nullptr. bytes > 0.
  void *(*allocate)(void *user, size_t bytes) = [](void *, size_t bytes) {
    return std::malloc(bytes);
  };
  /// What allocate returned, with the same size.
  void (*free)(void *user, void *memory, size_t bytes) = [](void *, void *memory, size_t) {
    std::free(memory);
  };
  void *user = nullptr;

  /// Zeroed, and thereby already backed by the system's pages; nullptr where there is none.
  void *allocateZeroed(size_t bytes) const {
    void *memory = allocate(user, bytes);
    if (memory != nullptr)
      std::memset(memory, 0, bytes);
    return memory;
  }
};

/// What HostArrays of all types share: a piece of memory that grows. Not for itself.
class HostStorage {
  static constexpr size_t kLineBytes = 64;
  struct Piece {  // lies before the elements
    void *memory; // as the allocator gave it
    void *former;
    uint32_t formerCapacity;
  };

public:
  HostStorage(const HostStorage &) = delete;
  HostStorage &operator=(const HostStorage &) = delete;

protected:
  [[gnu::noinline]] HostStorage(const HostAllocator &allocator, uint32_t elementBytes,
                                bool othersRead)
      : allocator_(allocator), elementBytes_(elementBytes), othersRead_(othersRead) {}
  ~HostStorage() {
    while (data_ != nullptr)
      freePiece();
  }

  [[nodiscard, gnu::noinline]] bool grow(uint32_t capacity) {
    uint32_t larger = capacity_ < 16 ? 16 : capacity_;
    while (larger < capacity) {
      if (larger > UINT32_MAX / 2)
        return false;
      larger *= 2;
    }
    void *memory = allocator_.allocateZeroed(bytesFor(larger));
    if (memory == nullptr)
      return false;
    const auto at = reinterpret_cast<uintptr_t>(memory) + sizeof(Piece);
    void *data = reinterpret_cast<void *>((at + kLineBytes - 1) & ~(kLineBytes - 1));
    if (data_ != nullptr)
      std::memcpy(data, data_, size_t{size_} * elementBytes_);
    if (data_ != nullptr && !othersRead_)
      freePiece();
    pieceOf(data) = {memory, data_, capacity_};
    data_ = data;
    capacity_ = larger;
    shared_.store(data, std::memory_order_release);
    return true;
  }

  [[nodiscard, gnu::noinline]] bool setSize(uint32_t size) {
    if (size > capacity_ && !grow(size))
      return false;
    if (size > size_)
      std::memset(static_cast<char *>(data_) + size_t{size_} * elementBytes_, 0,
                  size_t{size - size_} * elementBytes_);
    size_ = size;
    return true;
  }

  HostAllocator allocator_;
  void *data_ = nullptr;
  uint32_t size_ = 0;
  uint32_t capacity_ = 0;
  std::atomic<void *> shared_{nullptr}; // data_

private:
  size_t bytesFor(uint32_t capacity) const {
    return kLineBytes + sizeof(Piece) + size_t{capacity} * elementBytes_;
  }
  static Piece &pieceOf(void *data) { return static_cast<Piece *>(data)[-1]; }
  [[gnu::noinline]] void freePiece() {
    const Piece piece = pieceOf(data_);
    allocator_.free(allocator_.user, piece.memory, bytesFor(capacity_));
    data_ = piece.former;
    capacity_ = piece.formerCapacity;
  }
  uint32_t elementBytes_;
  bool othersRead_;
};

/// A growing array in one piece, from the start of a cache line on. Growth copies: amortised O(1),
/// and O(1) after reserve().
/// With kOthersRead, any thread may read through shared() while the array's own thread changes or
/// grows it: pieces that growth has left stay until the end, at most as many bytes again. Who was
/// told of an element after it was written (by a release and an acquire) finds it there; he reads,
/// and its writer writes, atomically what may change meanwhile.
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

  /// For other threads.
  const T *shared() const {
    static_assert(kOthersRead);
    return static_cast<const T *>(shared_.load(std::memory_order_acquire));
  }

  /// Room for `capacity` elements in all; false where the host has no memory, with nothing changed.
  [[nodiscard]] bool reserve(uint32_t capacity) { return capacity <= capacity_ || grow(capacity); }

  [[nodiscard]] bool pushBack(const T &value) {
    const T copy = value; // may lie in this array
    if (size_ == capacity_ && !grow(size_ + 1))
      return false;
    begin()[size_++] = copy;
    return true;
  }

  /// For callers that have reserved.
  void pushBackReserved(const T &value) { begin()[size_++] = value; }

  /// New elements are zero bytes.
  [[nodiscard]] bool resize(uint32_t size) { return setSize(size); }
};

/// A growing array whose elements never move: segment k holds 2^(kFirstLog2 + k) of them, from the
/// start of a cache line on, and behind them a table of where each 2^kFirstLog2 elements lie, which
/// replaces the table of the segment before. So finding an element is two loads and no search for
/// its segment.
/// Elements need not be copyable; they begin as zero bytes and are not destroyed.
/// Threads: grow() by one thread at a time; find() by any thread at any time.
template <typename T, uint32_t kFirstLog2 = 10> class SegmentedArray {
  static_assert(std::is_trivially_destructible_v<T> && sizeof(T) % alignof(T *) == 0);
  static constexpr uint32_t kSegments = 21;
  static constexpr size_t kLineBytes = 64;

public:
  explicit SegmentedArray(const HostAllocator &allocator) : allocator_(allocator) {}
  SegmentedArray(const SegmentedArray &) = delete;
  SegmentedArray &operator=(const SegmentedArray &) = delete;
  ~SegmentedArray() {
    for (uint32_t k = 0; k < kSegments && segments_[k] != nullptr; ++k)
      allocator_.free(allocator_.user, segments_[k], segmentBytes(k));
  }

  /// The elements that exist: indices below it.
  uint32_t capacity() const { return capacity_.load(std::memory_order_acquire); }

  /// Adds one segment; false where the host has no memory, or at 2^31 elements.
  [[nodiscard]] bool grow() {
    const uint32_t old = capacity_.load(std::memory_order_relaxed);
    const uint32_t k = std::bit_width(old + (1U << kFirstLog2)) - 1 - kFirstLog2;
    if (k >= kSegments)
      return false;
    void *memory = allocator_.allocateZeroed(segmentBytes(k));
    if (memory == nullptr)
      return false;
    segments_[k] = memory;
    const auto at = reinterpret_cast<uintptr_t>(memory);
    T *elements = reinterpret_cast<T *>((at + kLineBytes - 1) & ~(kLineBytes - 1));
    T **table = reinterpret_cast<T **>(elements + (size_t{1} << (k + kFirstLog2)));
    const uint32_t chunks = old >> kFirstLog2;
    std::copy_n(table_.load(std::memory_order_relaxed), chunks, table);
    for (uint32_t i = 0; i < 1U << k; ++i)
      table[chunks + i] = elements + (size_t{i} << kFirstLog2);
    table_.store(table, std::memory_order_release);
    capacity_.store(old + (1U << (k + kFirstLog2)), std::memory_order_release);
    return true;
  }

  /// index < capacity().
  T &operator[](uint32_t index) const {
    return table_.load(
        std::memory_order_acquire)[index >> kFirstLog2][index & ((1U << kFirstLog2) - 1)];
  }

  /// nullptr where index is not below capacity().
  T *find(uint32_t index) const {
    if (index >= capacity())
      return nullptr;
    return &(*this)[index];
  }

private:
  static size_t segmentBytes(uint32_t k) {
    return kLineBytes + (sizeof(T) << (k + kFirstLog2)) + ((size_t{2} << k) - 1) * sizeof(T *);
  }

  HostAllocator allocator_;
  std::array<void *, kSegments> segments_{}; // as the allocator gave them
  std::atomic<T **> table_{nullptr};
  std::atomic<uint32_t> capacity_{0};
};

} // namespace gantry

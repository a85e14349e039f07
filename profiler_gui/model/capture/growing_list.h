// A resizable array of trivially copyable values that grows with realloc().
//
// glibc moves large allocations by remapping their pages (mremap), so growing neither copies nor
// touches the old contents. std::vector copies its contents at each growth and again when it
// shrinks; in the lists of a large capture those copies were two thirds of all the memory that
// loading touched.
//
// Pointers and iterators are invalid after push_back(), reserve(), resize() and shrink().
// If memory runs out, the process aborts, as with std::vector when exceptions are disabled.
// Threads: like std::vector, one writer or several readers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>

namespace gantry::profiler {

template <typename T> class GrowingList {
  static_assert(std::is_trivially_copyable_v<T>);

public:
  GrowingList() = default;
  GrowingList(const GrowingList &other) {
    setCapacity(other.size_);
    size_ = other.size_;
    if (size_ > 0)
      std::memcpy(items_, other.items_, size_ * sizeof(T));
  }
  GrowingList(GrowingList &&other) noexcept { swap(other); }
  GrowingList &operator=(GrowingList other) noexcept {
    swap(other);
    return *this;
  }
  ~GrowingList() { setCapacity(0); }

  size_t size() const { return size_; }
  /// Number of items for which memory is allocated.
  size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  const T *data() const { return items_; }
  T *begin() { return items_; }
  T *end() { return items_ + size_; }
  const T *begin() const { return items_; }
  const T *end() const { return items_ + size_; }
  T &operator[](size_t i) { return items_[i]; }
  const T &operator[](size_t i) const { return items_[i]; }
  T &back() { return items_[size_ - 1]; }
  const T &back() const { return items_[size_ - 1]; }
  const T &front() const { return items_[0]; }

  void push_back(T item) { // NOLINT(readability-identifier-naming): like std::vector
    if (size_ == capacity_)
      setCapacity(std::max<size_t>(16, 2 * capacity_));
    items_[size_++] = item;
  }
  void reserve(size_t capacity) {
    if (capacity > capacity_)
      setCapacity(capacity);
  }
  /// Added items are T{}.
  void resize(size_t size) {
    reserve(size);
    for (; size_ < size; ++size_)
      items_[size_] = T{};
    size_ = size;
  }
  void clear() { size_ = 0; }
  /// Frees the memory beyond size().
  void shrink() { setCapacity(size_); }

private:
  void swap(GrowingList &other) noexcept {
    std::swap(items_, other.items_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }
  void setCapacity(size_t capacity) {
    if (capacity == capacity_)
      return;
    if (capacity == 0) {
      std::free(std::exchange(items_, nullptr));
    } else {
      auto *items =
          static_cast<T *>(std::realloc(static_cast<void *>(items_), capacity * sizeof(T)));
      if (items == nullptr)
        std::abort();
      items_ = items;
    }
    capacity_ = capacity;
  }

  T *items_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

} // namespace gantry::profiler

// Frees the unused capacity of a std::vector. libstdc++'s shrink_to_fit() does nothing when
// exceptions are disabled, as they are in this project.
//
// Threads: changes its argument only.
#pragma once

#include <utility>
#include <vector>

namespace gantry::profiler {

/// Moves the items into a vector whose capacity equals its size. Iterators become invalid.
template <typename T> void shrink(std::vector<T> &items) {
  if (items.capacity() == items.size())
    return;
  std::vector<T> exact;
  exact.reserve(items.size());
  for (T &item : items)
    exact.push_back(std::move(item));
  items = std::move(exact);
}

} // namespace gantry::profiler

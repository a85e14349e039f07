// Gives back what a vector reserved for more. libstdc++'s shrink_to_fit() does nothing where
// exceptions are off, as they are here.
//
// Threads: pure function.
#pragma once

#include <utility>
#include <vector>

namespace gantry::profiler {

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

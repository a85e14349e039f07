// Implements the registry of sources, the objects that describe what exists already.
#include "engine/trace/record/source.h"

#include <mutex>

namespace gantry::trace {
namespace {

struct Registry {
  std::mutex mutex;
  Source *first = nullptr; // Sorted by increasing `order`.
};

Registry &registry() {
  static auto *const instance = new Registry;
  return *instance;
}

} // namespace

void addSource(Source &source) {
  Registry &sources = registry();
  const std::lock_guard<std::mutex> locked(sources.mutex);
  Source **at = &sources.first;
  while (*at != nullptr && (*at)->order <= source.order)
    at = &(*at)->next;
  source.next = *at;
  *at = &source;
  if (isOn() && source.listen != nullptr)
    source.listen(source.user, true);
}

void removeSource(Source &source) {
  Registry &sources = registry();
  const std::lock_guard<std::mutex> locked(sources.mutex);
  for (Source **at = &sources.first; *at != nullptr; at = &(*at)->next)
    if (*at == &source) {
      *at = source.next;
      return;
    }
}

namespace detail {

void describeSources(Describer &describer) {
  Registry &sources = registry();
  const std::lock_guard<std::mutex> locked(sources.mutex);
  for (Source *source = sources.first; source != nullptr; source = source->next)
    source->describe(source->user, describer);
}

void setOn(bool wanted) {
  Registry &sources = registry();
  const std::lock_guard<std::mutex> locked(sources.mutex);
  isOn.store(wanted, std::memory_order_seq_cst);
  for (Source *source = sources.first; source != nullptr; source = source->next)
    if (source->listen != nullptr)
      source->listen(source->user, wanted);
}

} // namespace detail

} // namespace gantry::trace

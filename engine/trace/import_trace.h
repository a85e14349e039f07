// An import, as viewers see it: memory that another owner allocated is in use here.
//
// A backend keeps one beside each memory that it has imported, for as long as it uses it. Viewers
// that attach late hear of it too.
//
// Threads: made and destroyed on any thread; not while the registry's lock is held (source.h).
#pragma once

#include "engine/trace/source.h"

namespace gantry::trace {

class ImportTrace {
public:
  /// name: of the names table; in what way it came. Takes no memory.
  ImportTrace(uint32_t device, uint64_t sizeBytes, uint32_t name);
  ~ImportTrace();
  ImportTrace(const ImportTrace &) = delete;
  ImportTrace &operator=(const ImportTrace &) = delete;

private:
  ImportEvent event_;
  Source source_;
};

} // namespace gantry::trace

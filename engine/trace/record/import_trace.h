// ImportTrace records that this process uses memory that another owner allocated.
//
// A backend keeps one object for each imported memory for as long as it uses the memory. The object
// records kImport and kImportEnd events, and describes the import to viewers that attach later.
//
// Thread safety: may be created and destroyed on any thread, but not inside a source's callbacks
// (source.h).
#pragma once

#include "engine/trace/record/source.h"

namespace gantry::trace {

class ImportTrace {
public:
  /// Records the import. device: the device's id. name: id of a text that says how the memory was
  /// imported. Allocates no memory, except for the ring of a thread that has none (record.h).
  ImportTrace(uint32_t device, uint64_t sizeBytes, uint32_t name);
  ~ImportTrace();
  ImportTrace(const ImportTrace &) = delete;
  ImportTrace &operator=(const ImportTrace &) = delete;

private:
  ImportEvent event_;
  Source source_;
};

} // namespace gantry::trace

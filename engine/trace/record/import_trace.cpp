// Records the events of one import, and describes the import to late viewers.
#include "engine/trace/record/import_trace.h"

namespace gantry::trace {

ImportTrace::ImportTrace(uint32_t device, uint64_t sizeBytes, uint32_t name) {
  event_.id = newId(IdKind::kImport);
  event_.sizeBytes = sizeBytes;
  event_.device = device;
  event_.name = name;
  event_.header = makeEvent<ImportEvent>(EventType::kImport).header;
  source_.order = 1;
  source_.user = this;
  source_.describe = [](void *user, Describer &describer) {
    describer.add(static_cast<ImportTrace *>(user)->event_);
  };
  addSource(source_);
  record(event_);
}

ImportTrace::~ImportTrace() {
  removeSource(source_);
  event_.header.type = EventType::kImportEnd;
  record(event_);
}

} // namespace gantry::trace

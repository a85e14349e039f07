// The writers of the export formats. export.h is the public interface; it chooses one of them.
//
// Each function reads the whole capture from its beginning, writes the contents of the file, and
// leaves the commit to its caller. Errors are those of the reader and of the file.
//
// Thread safety: one thread at a time uses a reader and a file.
#pragma once

#include "engine/base/file.h"
#include "engine/trace/wire/capture.h"

namespace gantry::trace {

Status exportChrome(CaptureReader &reader, AtomicFile &file);
Status exportPerfetto(CaptureReader &reader, AtomicFile &file);
Status exportPytorch(CaptureReader &reader, AtomicFile &file);
Status exportCsv(CaptureReader &reader, AtomicFile &file);

} // namespace gantry::trace

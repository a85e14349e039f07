// The functions that write the export formats. export.h is the public interface; exportCapture()
// calls one of these functions.
//
// Each function reads the whole capture from its beginning and writes the contents of the file; the
// caller commits the file. Errors are those of the reader and of the file.
//
// Thread safety: one thread at a time per reader and per file.
#pragma once

#include "engine/base/file.h"
#include "engine/trace/wire/capture.h"

namespace gantry::trace {

Status exportChrome(CaptureReader &reader, AtomicFile &file);
Status exportPerfetto(CaptureReader &reader, AtomicFile &file);
Status exportPytorch(CaptureReader &reader, AtomicFile &file);
Status exportCsv(CaptureReader &reader, AtomicFile &file);

} // namespace gantry::trace

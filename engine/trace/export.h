// Captures for other tools.
//
//   perfetto  Perfetto's protobuf: spans and GPU lanes as slices, live bytes of each heap and the
//             caller's counters as counters, marks as instants. For ui.perfetto.dev.
//   chrome    the same as Chrome's JSON, for chrome://tracing and what else reads it.
//   pytorch   a memory snapshot of PyTorch (pickle, protocol 4), for pytorch.org/memory_viz: slabs
//             as segments, blocks as allocations. Times in microseconds.
//   csv       one line for each event: time, thread, type, heap, and the fields that most have.
//
// Dispatches that overlap lie in different lanes, so that none hides another. Their times are the
// device's, moved to the host's clock by the capture's records (clock.h); without one, the device's
// first dispatch is put where its run began.
//
// Threads: pure functions over a reader. Errors: the reader's, and the file's.
#pragma once

#include "engine/trace/capture.h"

#include <string>

namespace gantry::trace {

enum class ExportFormat { kPerfetto, kChrome, kPytorch, kCsv };

/// kInvalidArgument names those that there are.
Result<ExportFormat> exportFormatOf(const std::string &name);

/// Of a file, from its beginning. The file at `path` is whole or absent.
Status exportCapture(CaptureReader &reader, ExportFormat format, const std::string &path);

} // namespace gantry::trace

// Export of captures to the formats of other tools.
//
//   perfetto  Perfetto's protobuf, for ui.perfetto.dev. Slices: spans of threads and commands of
//             devices. Counters: the live bytes of each heap and the user's counters. Instants:
//             marks. Spans that are open at the end of the capture are left out.
//   chrome    The same contents as Chrome's JSON trace events, for chrome://tracing and others.
//   pytorch   PyTorch's memory snapshot (pickle, protocol 4), for pytorch.org/memory_viz: slabs
//             (the driver's allocations) are segments, blocks (the buffers in them) are
//             allocations. Times are in microseconds. All devices are written as device 0.
//   csv       One row for each event (docs/capture-csv.md).
//
// In perfetto and chrome, commands that overlap on a device are placed on different lanes, so that
// each is visible. The times of commands are device times, converted to the host's clock by the
// capture's clock records (record/clock.h). Without a record, the device's first command is placed
// at the beginning of its run.
//
// Thread safety: one thread at a time per reader. Errors: those of the reader and of the file.
#pragma once

#include "engine/trace/wire/capture.h"

#include <string>

namespace gantry::trace {

enum class ExportFormat { kPerfetto, kChrome, kPytorch, kCsv };

/// Returns the format with this name in the list above, and kInvalidArgument for another name.
Result<ExportFormat> exportFormatOf(const std::string &name);

/// Exports a capture from its beginning. The reader must read a file, not a live process. The file
/// at `path` appears completely or not at all (AtomicFile in engine/base/file.h).
Status exportCapture(CaptureReader &reader, ExportFormat format, const std::string &path);

} // namespace gantry::trace

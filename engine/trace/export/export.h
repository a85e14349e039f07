// Export of captures to the formats of other tools.
//
//   perfetto  Perfetto's protobuf, for ui.perfetto.dev: spans and the commands of each device as
//             slices, live bytes of each heap and the user's counters as counters, marks as
//             instants.
//   chrome    The same contents as Chrome's JSON trace events, for chrome://tracing and others.
//   pytorch   PyTorch's memory snapshot (pickle, protocol 4), for pytorch.org/memory_viz: slabs as
//             segments, blocks as allocations. Times are in microseconds.
//   csv       One row for each event (docs/capture-csv.md).
//
// Commands that overlap on a device are placed on different lanes, so that each is visible. Their
// times are device times, converted to the host's clock by the capture's clock records
// (record/clock.h). Without a record, the device's first command is placed at the begin of its run.
//
// Thread safety: pure functions over a reader, which one thread at a time uses. Errors: those of
// the reader and of the file.
#pragma once

#include "engine/trace/wire/capture.h"

#include <string>

namespace gantry::trace {

enum class ExportFormat { kPerfetto, kChrome, kPytorch, kCsv };

/// Returns the format of a name as in the list above. kInvalidArgument for another name.
Result<ExportFormat> exportFormatOf(const std::string &name);

/// Exports a capture file from its beginning. The file at `path` is written completely or not at
/// all.
Status exportCapture(CaptureReader &reader, ExportFormat format, const std::string &path);

} // namespace gantry::trace

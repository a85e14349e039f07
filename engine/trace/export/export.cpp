// The names of the formats, and the export to a file that appears only when it is complete.
#include "engine/trace/export/export.h"

#include "engine/base/file.h"
#include "engine/trace/export/formats.h"

namespace gantry::trace {

Result<ExportFormat> exportFormatOf(const std::string &name) {
  if (name == "perfetto")
    return ExportFormat::kPerfetto;
  if (name == "chrome")
    return ExportFormat::kChrome;
  if (name == "pytorch")
    return ExportFormat::kPytorch;
  if (name == "csv")
    return ExportFormat::kCsv;
  return statusf(StatusCode::kInvalidArgument,
                 "unknown export format '%s'; the formats are perfetto, chrome, pytorch and csv",
                 name.c_str());
}

Status exportCapture(CaptureReader &reader, ExportFormat format, const std::string &path) {
  GANTRY_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::create(path));
  Status status;
  switch (format) {
  case ExportFormat::kPerfetto:
    status = exportPerfetto(reader, file);
    break;
  case ExportFormat::kChrome:
    status = exportChrome(reader, file);
    break;
  case ExportFormat::kPytorch:
    status = exportPytorch(reader, file);
    break;
  case ExportFormat::kCsv:
    status = exportCsv(reader, file);
    break;
  }
  GANTRY_RETURN_IF_ERROR(status);
  return file.commit();
}

} // namespace gantry::trace

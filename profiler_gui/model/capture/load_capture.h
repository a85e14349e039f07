// Loads a complete capture from a file: a recorded trace (.gtrace), or an artifact, a compiled
// model, that was never run (.gantry, see unrun_capture.h). Running processes are read by
// live_capture.h.
//
// A trace file is decoded on a second thread while the calling thread adds the decoded events to
// the model.
#pragma once

#include "engine/base/status.h"
#include "engine/trace/wire/capture.h"
#include "profiler_gui/model/capture/capture_model.h"
#include "profiler_gui/model/capture/unrun_capture.h"

#include <memory>
#include <string>

namespace gantry::profiler {

/// A finished model and the name table that it refers to. Do not move or copy it: the model keeps
/// the table's address.
struct LoadedCapture {
  trace::NameTable names; // Names of a .gtrace file.
  UnrunCapture unrun;     // Names and events of an artifact.
  CaptureModel model;
  /// Whether the writer was killed before it completed the file. The model then has the events of
  /// all complete chunks of the file.
  bool cutOff = false;
};

/// Reads the file at `path`. Blocks until the whole file is read. Errors: those of
/// trace::CaptureReader::openFile() and read(), or of openUnrun() for a path that ends in
/// ".gantry".
Result<std::unique_ptr<LoadedCapture>> loadCapture(const std::string &path);

} // namespace gantry::profiler

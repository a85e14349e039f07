// Traces of gantry.h, and what the environment asks of them.
#include "engine/capi/trace_api.h"

#include "engine/base/log.h"
#include "engine/capi/handles.h"
#include "engine/trace/file_recording.h"
#include "engine/trace/record.h"
#include "engine/trace/server.h"

#include <cstdlib>
#include <cstring>
#include <mutex>

using namespace gantry;

namespace {

struct Traces {
  std::mutex mutex;
  std::unique_ptr<trace::FileRecording> recording;
  std::string path;
  std::unique_ptr<trace::Server> server;
};

/// Lives to the end of the process; what is in it ends in stopTraces().
Traces &traces() {
  static auto *const instance = new Traces;
  return *instance;
}

/// At the end of the process: the file gets its index, viewers see the stream's end.
void stopTraces() {
  Traces &state = traces();
  const std::lock_guard<std::mutex> locked(state.mutex);
  if (state.recording != nullptr)
    if (const Status status = state.recording->stop(); !status.isOk())
      logf(LogLevel::kError, "the recording to %s failed: %s", state.path.c_str(),
           status.message().c_str());
  state.recording.reset();
  state.server.reset();
}

void stopAtExit() {
  static const bool registered = std::atexit(stopTraces) == 0;
  (void)registered;
}

Status startFile(const std::string &path) {
  Traces &state = traces();
  const std::lock_guard<std::mutex> locked(state.mutex);
  if (state.recording != nullptr)
    return statusf(StatusCode::kFailedPrecondition,
                   "this process is recorded to %s already; stop that first", state.path.c_str());
  GANTRY_ASSIGN_OR_RETURN(state.recording, trace::FileRecording::start(path));
  state.path = path;
  stopAtExit();
  return {};
}

Status listen(const trace::ServerOptions &options) {
  Traces &state = traces();
  const std::lock_guard<std::mutex> locked(state.mutex);
  if (state.server != nullptr)
    return statusf(StatusCode::kFailedPrecondition, "this process listens on %s already",
                   state.server->address().c_str());
  GANTRY_ASSIGN_OR_RETURN(state.server, trace::Server::start(options));
  stopAtExit();
  return {};
}

} // namespace

namespace gantry::capi {

void startTracesFromEnvironment() {
  static std::once_flag once;
  std::call_once(once, [] {
    const char *file = std::getenv("GANTRY_TRACE");
    if (file != nullptr && file[0] != '\0')
      if (const Status status = startFile(file); !status.isOk())
        logf(LogLevel::kError, "GANTRY_TRACE: %s", status.message().c_str());
    const char *attach = std::getenv("GANTRY_ATTACH");
    if (attach != nullptr && std::strcmp(attach, "0") == 0)
      return;
    if (const Status status = listen({}); !status.isOk())
      logf(LogLevel::kInfo, "viewers cannot attach: %s", status.message().c_str());
  });
}

} // namespace gantry::capi

extern "C" {

gantry_status_t gantry_trace_start_file(const char *path) {
  if (path == nullptr)
    return capi::nullArgument("gantry_trace_start_file", "path");
  return capi::report(startFile(path));
}

gantry_status_t gantry_trace_stop_file(void) {
  Traces &state = traces();
  const std::lock_guard<std::mutex> locked(state.mutex);
  if (state.recording == nullptr)
    return capi::report(
        Status(StatusCode::kFailedPrecondition, "this process is not being recorded"));
  const Status status = state.recording->stop();
  state.recording.reset();
  return capi::report(status);
}

gantry_status_t gantry_trace_listen(const char *host, uint16_t port, const char *token) {
  trace::ServerOptions options;
  if (host != nullptr) {
    options.tcpHost = host;
    options.tcpPort = port;
    if (token == nullptr || token[0] == '\0')
      return capi::report(Status(
          StatusCode::kInvalidArgument,
          "gantry_trace_listen: TCP needs a token of 1 to 64 bytes, which every viewer brings"));
    options.token = token;
  }
  return capi::report(listen(options));
}

void gantry_trace_stop_listening(void) {
  Traces &state = traces();
  const std::lock_guard<std::mutex> locked(state.mutex);
  state.server.reset();
}

int32_t gantry_trace_is_on(void) { return trace::isOn() ? 1 : 0; }

uint32_t gantry_trace_name(const char *text) { return text == nullptr ? 0 : trace::intern(text); }

void gantry_trace_mark(uint32_t name, int64_t value) { trace::mark(name, value); }
void gantry_trace_counter(uint32_t name, int64_t value) { trace::counter(name, value); }
void gantry_trace_begin_span(uint32_t name) { trace::beginSpan(name); }
void gantry_trace_end_span(void) { trace::endSpan(); }

void gantry_trace_name_thread(const char *name) {
  if (name != nullptr)
    trace::nameThread(name);
}

} // extern "C"

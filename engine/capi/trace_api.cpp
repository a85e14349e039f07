// The functions of gantry.h for traces, and the environment variables that control them.
#include "engine/capi/trace_api.h"

#include "engine/base/log.h"
#include "engine/capi/call.h"
#include "engine/capi/handles.h"
#include "engine/trace/record/file_recording.h"
#include "engine/trace/record/flight_recorder.h"
#include "engine/trace/record/record.h"
#include "engine/trace/live/server.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unistd.h>
#include <vector>

using namespace gantry;

namespace {

/// The recording, the flight recorder and the servers of this process; `mutex` protects them.
struct Traces {
  std::mutex mutex;
  std::unique_ptr<trace::FileRecording> recording;
  std::string path;
  std::unique_ptr<trace::FlightRecorder> flight;
  /// One server for the socket in the folder of the user's sockets (GANTRY_ATTACH in gantry.h), and
  /// one for each TCP port.
  std::vector<std::unique_ptr<trace::Server>> servers;
};

/// Returns the only Traces object of the process. The object is never destroyed; stopTraces() stops
/// the traces in it.
Traces &traces() {
  static auto *const instance = new Traces;
  return *instance;
}

/// The process whose end stops the traces.
pid_t tracedProcess = -1;

/// Runs at the end of the process. Writes the index of the recorded file, which completes it, and
/// ends the viewers' streams. Does nothing in a forked child, which has none of the traces'
/// threads.
void stopTraces() {
  if (getpid() != tracedProcess)
    return;
  Traces &state = traces();
  const std::lock_guard<std::mutex> locked(state.mutex);
  if (state.recording != nullptr)
    if (const Status status = state.recording->stop(); !status.isOk())
      logf(LogLevel::kError, "the recording to %s failed: %s", state.path.c_str(),
           status.message().c_str());
  state.recording.reset();
  state.flight.reset();
  state.servers.clear();
}

void stopAtExit() {
  static const bool kIsRegistered = [] {
    tracedProcess = getpid();
    return std::atexit(stopTraces) == 0;
  }();
  (void)kIsRegistered;
}

Status startFile(const std::string &path) {
  Traces &state = traces();
  const std::lock_guard<std::mutex> locked(state.mutex);
  if (state.recording != nullptr)
    return statusf(StatusCode::kFailedPrecondition,
                   "this process is already being recorded to %s; stop that recording first",
                   state.path.c_str());
  GANTRY_ASSIGN_OR_RETURN(auto recording, trace::FileRecording::start(path));
  GANTRY_RETURN_IF_ERROR(checkHostMemory());
  state.recording = std::move(recording);
  state.path = path;
  stopAtExit();
  return {};
}

Status startFlight(const trace::FlightOptions &options) {
  Traces &state = traces();
  const std::lock_guard<std::mutex> locked(state.mutex);
  if (state.flight != nullptr)
    return Status(StatusCode::kFailedPrecondition,
                  "this process already has a flight recorder; stop it first");
  GANTRY_ASSIGN_OR_RETURN(auto flight, trace::FlightRecorder::start(options));
  GANTRY_RETURN_IF_ERROR(checkHostMemory());
  state.flight = std::move(flight);
  stopAtExit();
  return {};
}

Status startFlightFromEnvironment(const char *crashPath) {
  trace::FlightOptions options;
  options.crashPath = crashPath;
  if (const char *text = std::getenv("GANTRY_FLIGHT_SECONDS"); text != nullptr && *text != '\0') {
    const char *end = text + std::strlen(text);
    const auto parsed = std::from_chars(text, end, options.seconds);
    if (parsed.ec != std::errc() || parsed.ptr != end)
      return statusf(StatusCode::kInvalidArgument,
                     "GANTRY_FLIGHT_SECONDS is '%s'; it must be a whole number of seconds", text);
  }
  return startFlight(options);
}

/// Listens at one more socket. Returns the port of a TCP socket, or 0 for the socket in the user's
/// folder, which is used if the options name no TCP host.
Result<uint16_t> listen(const trace::ServerOptions &options) {
  Traces &state = traces();
  const std::lock_guard<std::mutex> locked(state.mutex);
  for (const auto &server : state.servers)
    if (server->port() == 0 && options.tcpHost.empty())
      return statusf(StatusCode::kFailedPrecondition, "this process already listens on %s",
                     server->address().c_str());
  GANTRY_ASSIGN_OR_RETURN(std::unique_ptr<trace::Server> server, trace::Server::start(options));
  GANTRY_RETURN_IF_ERROR(checkHostMemory());
  state.servers.push_back(std::move(server));
  stopAtExit();
  return state.servers.back()->port();
}

/// Listens on a TCP port; on the user's own socket if `host` is "". Implements
/// gantry_trace_listen_tcp, and gantry_trace_listen with a host.
Result<uint16_t> listenTcp(const char *function, const char *host, uint16_t port,
                           const char *token) {
  if (token == nullptr || token[0] == '\0')
    return statusf(StatusCode::kInvalidArgument,
                   "%s: TCP needs a token of 1 to 64 bytes, which every viewer must send",
                   function);
  trace::ServerOptions options;
  options.tcpHost = host;
  options.tcpPort = port;
  options.token = token;
  return listen(options);
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
    const char *crash = std::getenv("GANTRY_FLIGHT_RECORDER");
    if (crash != nullptr && crash[0] != '\0')
      if (const Status status = startFlightFromEnvironment(crash); !status.isOk())
        logf(LogLevel::kError, "GANTRY_FLIGHT_RECORDER: %s", status.message().c_str());
    const char *attach = std::getenv("GANTRY_ATTACH");
    if (attach != nullptr && std::strcmp(attach, "0") == 0)
      return;
    if (const auto port = listen({}); !port.isOk())
      logf(port.status().code() == StatusCode::kOutOfMemory ? LogLevel::kWarn : LogLevel::kInfo,
           "viewers cannot attach: %s", port.status().message().c_str());
  });
}

} // namespace gantry::capi

extern "C" {

gantry_status_t gantry_trace_start_file(const char *path) {
  if (path == nullptr)
    return capi::nullArgument("gantry_trace_start_file", "path");
  const capi::Call call("gantry_trace_start_file");
  if (!call.isAdmitted())
    return call.refused();
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

gantry_status_t gantry_trace_start_flight_recorder(const char *crash_path, uint32_t seconds,
                                                   uint64_t max_bytes) {
  const capi::Call call("gantry_trace_start_flight_recorder");
  if (!call.isAdmitted())
    return call.refused();
  trace::FlightOptions options;
  if (crash_path != nullptr)
    options.crashPath = crash_path;
  if (seconds != 0)
    options.seconds = seconds;
  if (max_bytes != 0)
    options.maxBytes = max_bytes;
  return capi::report(startFlight(options));
}

gantry_status_t gantry_trace_write_flight_recorder(const char *path) {
  if (path == nullptr)
    return capi::nullArgument("gantry_trace_write_flight_recorder", "path");
  const capi::Call call("gantry_trace_write_flight_recorder");
  if (!call.isAdmitted())
    return call.refused();
  Traces &state = traces();
  const std::lock_guard<std::mutex> locked(state.mutex);
  if (state.flight == nullptr)
    return capi::report(Status(StatusCode::kFailedPrecondition,
                               "this process has no flight recorder; start one first"));
  return capi::report(state.flight->write(path));
}

void gantry_trace_stop_flight_recorder(void) {
  Traces &state = traces();
  const std::lock_guard<std::mutex> locked(state.mutex);
  state.flight.reset();
}

gantry_status_t gantry_trace_listen(const char *host, uint16_t port, const char *token) {
  const capi::Call call("gantry_trace_listen");
  if (!call.isAdmitted())
    return call.refused();
  const auto bound =
      host == nullptr ? listen({}) : listenTcp("gantry_trace_listen", host, port, token);
  return capi::report(bound.status());
}

gantry_status_t gantry_trace_listen_tcp(const char *host, uint16_t port, const char *token,
                                        uint16_t *bound_port) {
  const capi::Call call("gantry_trace_listen_tcp");
  if (!call.isAdmitted())
    return call.refused();
  if (host == nullptr || bound_port == nullptr)
    return capi::nullArgument("gantry_trace_listen_tcp", host == nullptr ? "host" : "bound_port");
  const auto bound = listenTcp("gantry_trace_listen_tcp", host, port, token);
  if (bound.isOk())
    *bound_port = *bound;
  return capi::report(bound.status());
}

void gantry_trace_stop_listening(void) {
  Traces &state = traces();
  const std::lock_guard<std::mutex> locked(state.mutex);
  state.servers.clear();
}

uint32_t gantry_trace_viewers(void) {
  Traces &state = traces();
  const std::lock_guard<std::mutex> locked(state.mutex);
  uint32_t viewers = 0;
  for (const auto &server : state.servers)
    viewers += server->viewers();
  return viewers;
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

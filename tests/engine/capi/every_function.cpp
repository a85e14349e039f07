// Implements the scenario of every_function.h, which calls every function of gantry.h.
#include "tests/engine/capi/every_function.h"

#include "tests/support/test_model.h"

#include <cstdio>
#include <initializer_list>
#include <utility>

namespace gantry::test {

// ---- checks ------------------------------------------------------------------------------------

void Caller::fail(const char *name, const char *what, int number) {
  ++violations;
  std::fprintf(stderr, "%s: %s (%d): %s\n", name, what, number, gantry_last_error());
}

void Caller::note(const char *name) {
  char line[128];
  std::snprintf(line, sizeof(line), "\n%s\n", name);
  if (std::strstr(called, line) != nullptr)
    return;
  const size_t length = std::strlen(called);
  std::snprintf(called + length, sizeof(called) - length, "%s", line + 1);
}

void Caller::judge(const char *name, gantry_status_t status) {
  if (status == GANTRY_STATUS_OK)
    return;
  if (gantry_last_error()[0] == '\0')
    fail(name, "a failure without a message", status);
  const bool isDrivers = status == GANTRY_STATUS_NOT_FOUND || status == GANTRY_STATUS_INTERNAL ||
                         status == GANTRY_STATUS_DEVICE_LOST;
  if (status == GANTRY_STATUS_OUT_OF_MEMORY || (driverFails && isDrivers))
    ++refusals;
  else
    fail(name, "an unexpected status", status);
}

void Caller::judgeNull(const char *name, size_t argument, bool isAllowed, gantry_status_t status) {
  if (isAllowed && status != GANTRY_STATUS_OK)
    fail(name, "NULL is allowed for the argument", static_cast<int>(argument));
  if (!isAllowed && status != GANTRY_STATUS_INVALID_ARGUMENT)
    fail(name, "NULL was not refused for the argument", static_cast<int>(argument));
  if (!isAllowed && gantry_last_error()[0] == '\0')
    fail(name, "NULL was refused without a message for the argument", static_cast<int>(argument));
}

// ---- the scenario ------------------------------------------------------------------------------

namespace {

constexpr int64_t kElements = 16;

gantry_tensor_t tensorOf(float (&values)[kElements]) {
  gantry_tensor_t tensor = {};
  tensor.type = GANTRY_TYPE_F32;
  tensor.rank = 1;
  tensor.dims[0] = kElements;
  tensor.data = values;
  tensor.size_bytes = sizeof(values);
  return tensor;
}

void callNames(Caller &caller) {
  caller.call("gantry_status_name", {}, gantry_status_name, GANTRY_STATUS_OK);
  caller.call("gantry_last_error", {}, gantry_last_error);
  caller.call("gantry_version", {}, gantry_version);
  caller.call("gantry_type_name", {}, gantry_type_name, GANTRY_TYPE_F32);
  caller.call("gantry_type_size", {}, gantry_type_size, GANTRY_TYPE_F32);
  caller.call("gantry_memory_kind_name", {}, gantry_memory_kind_name, GANTRY_MEMORY_DEVICE);
}

void callDevice(Caller &caller, gantry_device_t *device) {
  gantry_device_info_t info;
  caller.call("gantry_device_get_info", {}, gantry_device_get_info, device, &info);
  caller.call("gantry_device_validation_messages", {}, gantry_device_validation_messages, device);
  caller.call("gantry_device_memory_heap_count", {}, gantry_device_memory_heap_count, device);
  gantry_memory_heap_t heap = {};
  heap.struct_size = sizeof(heap);
  caller.call("gantry_device_memory_heap", {}, gantry_device_memory_heap, device, 0U, &heap);
  gantry_memory_statistics_t statistics = {};
  statistics.struct_size = sizeof(statistics);
  caller.call("gantry_device_memory_statistics", {}, gantry_device_memory_statistics, device,
              GANTRY_MEMORY_DEVICE, &statistics);
  caller.call("gantry_device_set_memory_limit", {}, gantry_device_set_memory_limit, device, 0U,
              UINT64_MAX);
  char text[256];
  caller.call("gantry_device_memory_report", {}, gantry_device_memory_report, device, text,
              sizeof(text));
  caller.call("gantry_device_trim", {}, gantry_device_trim, device, uint64_t{0});
}

void callTraces(Caller &caller, const ScenarioFiles &files) {
  const uint32_t name = caller.call("gantry_trace_name", {}, gantry_trace_name, "scenario");
  const bool recording = caller.callThen(
                             "gantry_trace_start_file", {}, [] { (void)gantry_trace_stop_file(); },
                             gantry_trace_start_file, files.capture.c_str()) == GANTRY_STATUS_OK;
  caller.call("gantry_trace_is_on", {}, gantry_trace_is_on);
  caller.call("gantry_trace_name_thread", {}, gantry_trace_name_thread, "scenario");
  caller.call("gantry_trace_begin_span", {}, gantry_trace_begin_span, name);
  caller.call("gantry_trace_mark", {}, gantry_trace_mark, name, int64_t{1});
  caller.call("gantry_trace_counter", {}, gantry_trace_counter, name, int64_t{1});
  caller.call("gantry_trace_end_span", {}, gantry_trace_end_span);
  if (recording)
    caller.call("gantry_trace_stop_file", {}, gantry_trace_stop_file);
  const bool flying =
      caller.callThen(
          "gantry_trace_start_flight_recorder", {0}, [] { gantry_trace_stop_flight_recorder(); },
          gantry_trace_start_flight_recorder, files.flight.c_str(), 1U,
          uint64_t{4} << 20) == GANTRY_STATUS_OK;
  if (flying) {
    caller.call("gantry_trace_write_flight_recorder", {}, gantry_trace_write_flight_recorder,
                files.capture.c_str());
    caller.call("gantry_trace_stop_flight_recorder", {}, gantry_trace_stop_flight_recorder);
  }
  gantry_trace_stop_listening(); // The first device may have let viewers attach.
  caller.callThen(
      "gantry_trace_listen", {0}, [] { gantry_trace_stop_listening(); }, gantry_trace_listen,
      "127.0.0.1", uint16_t{0}, "secret");
  uint16_t port = 0;
  caller.callThen(
      "gantry_trace_listen_tcp", {}, [] { gantry_trace_stop_listening(); }, gantry_trace_listen_tcp,
      "127.0.0.1", uint16_t{0}, "secret", &port);
  caller.call("gantry_trace_viewers", {}, gantry_trace_viewers);
  caller.call("gantry_trace_stop_listening", {}, gantry_trace_stop_listening);
}

void callProgram(Caller &caller, gantry_program_t *program) {
  caller.call("gantry_program_verify", {}, gantry_program_verify, program);
  caller.call("gantry_program_input_count", {}, gantry_program_input_count, program);
  caller.call("gantry_program_output_count", {}, gantry_program_output_count, program);
  gantry_port_info_t port;
  caller.call("gantry_program_input", {}, gantry_program_input, program, size_t{0}, &port);
  caller.call("gantry_program_output", {}, gantry_program_output, program, size_t{0}, &port);
  caller.call("gantry_program_variant_count", {}, gantry_program_variant_count, program);
  caller.call("gantry_program_variant_profile", {}, gantry_program_variant_profile, program,
              size_t{0});
  gantry_program_t *variant = nullptr;
  caller.callThen(
      "gantry_program_variant", {},
      [&] { gantry_program_release(std::exchange(variant, nullptr)); }, gantry_program_variant,
      program, size_t{0}, &variant);
  gantry_program_release(variant);
  char *json = nullptr;
  const int64_t unused[1] = {0}; // The program is static, so it has no symbols.
  caller.callThen(
      "gantry_program_describe", {1}, [&] { gantry_free(std::exchange(json, nullptr)); },
      gantry_program_describe, program, unused, size_t{0}, &json);
  caller.call("gantry_free", {}, gantry_free, static_cast<void *>(json));
  uint64_t bytes = 0;
  caller.call("gantry_program_arena_bytes", {1}, gantry_program_arena_bytes, program, unused,
              size_t{0}, &bytes);
}

void callRuns(Caller &caller, gantry_device_t *device, gantry_session_t *session) {
  float in[kElements], out[kElements] = {};
  for (int64_t i = 0; i < kElements; ++i)
    in[i] = static_cast<float>(i);
  gantry_tensor_t input = tensorOf(in), output = tensorOf(out);
  caller.call("gantry_session_output_shapes", {}, gantry_session_output_shapes, session, &input,
              size_t{1}, &output, size_t{1});
  if (caller.call("gantry_session_run", {}, gantry_session_run, session, &input, size_t{1}, &output,
                  size_t{1}) == GANTRY_STATUS_OK)
    for (int64_t i = 0; i < kElements; ++i)
      if (out[i] != chainResult(in[i], 3.0F))
        caller.fail("gantry_session_run", "a wrong element", static_cast<int>(i));

  gantry_buffer_t *buffer = nullptr;
  caller.callThen(
      "gantry_buffer_create", {}, [&] { gantry_buffer_release(buffer); }, gantry_buffer_create,
      device, uint64_t{256}, &buffer);
  gantry_buffer_release(buffer);
  buffer = nullptr;
  if (caller.callThen(
          "gantry_buffer_create_kind", {3}, [&] { gantry_buffer_release(buffer); },
          gantry_buffer_create_kind, device, GANTRY_MEMORY_UNIFIED, uint64_t{256}, "input",
          &buffer) != GANTRY_STATUS_OK)
    return;
  caller.call("gantry_buffer_size", {}, gantry_buffer_size, buffer);
  if (void *data = caller.call("gantry_buffer_data", {}, gantry_buffer_data, buffer))
    std::memcpy(data, in, sizeof(in));
  gantry_tensor_t bound = input;
  bound.data = nullptr;
  bound.buffer = buffer;
  gantry_run_t *run = nullptr;
  if (caller.callThen(
          "gantry_session_submit", {}, [&] { gantry_run_release(run); }, gantry_session_submit,
          session, &bound, size_t{1}, &output, size_t{1}, &run) == GANTRY_STATUS_OK) {
    if (caller.call("gantry_run_donate", {}, gantry_run_donate, run, buffer) == GANTRY_STATUS_OK)
      buffer = nullptr;
    int32_t done = 0;
    caller.call("gantry_run_wait", {2}, gantry_run_wait, run, UINT64_MAX, &done);
    caller.call("gantry_run_release", {}, gantry_run_release, run);
  }
  caller.call("gantry_buffer_release", {}, gantry_buffer_release, buffer);
  gantry_statistics_t statistics;
  caller.call("gantry_session_statistics", {}, gantry_session_statistics,
              static_cast<const gantry_session_t *>(session), &statistics);
  gantry_dispatch_info_t dispatch;
  if (statistics.runs > 0)
    caller.call("gantry_session_dispatch", {}, gantry_session_dispatch, session, size_t{0},
                &dispatch);
}

void callSessionProgram(Caller &caller, const gantry_session_t *session) {
  gantry_program_t *program = nullptr;
  caller.callThen(
      "gantry_session_program", {},
      [&] { gantry_program_release(std::exchange(program, nullptr)); }, gantry_session_program,
      session, &program);
  gantry_program_release(program);
}

void callSession(Caller &caller, gantry_device_t *device, gantry_program_t *program) {
  gantry_session_options_t options = {};
  options.struct_size = sizeof(options);
  options.timestamps = 1;
  options.cache_path = "";
  gantry_session_t *session = nullptr;
  if (caller.callThen(
          "gantry_session_create", {2}, [&] { gantry_session_release(session); },
          gantry_session_create, program, device, &options, &session) == GANTRY_STATUS_OK) {
    callSessionProgram(caller, session);
    callRuns(caller, device, session);
  } else {
    session = nullptr;
  }
  caller.call("gantry_session_release", {}, gantry_session_release, session);
}

/// Calls the functions that need an entry (a tensor of the state object) with a value.
void callStateValues(Caller &caller, gantry_state_t *state, const ScenarioFiles &files) {
  float values[kElements], read[kElements] = {};
  for (int64_t i = 0; i < kElements; ++i)
    values[i] = static_cast<float>(i);
  const gantry_tensor_t given = tensorOf(values);
  if (caller.call("gantry_state_write", {}, gantry_state_write, state, "w", &given) !=
      GANTRY_STATUS_OK)
    return;
  gantry_tensor_t taken = tensorOf(read);
  if (caller.call("gantry_state_read", {}, gantry_state_read, state, "w", &taken) ==
      GANTRY_STATUS_OK)
    for (int64_t i = 0; i < kElements; ++i)
      if (read[i] != values[i])
        caller.fail("gantry_state_read", "a wrong element", static_cast<int>(i));
  if (caller.call("gantry_state_save", {}, gantry_state_save, state, files.savedState.c_str()) ==
      GANTRY_STATUS_OK)
    caller.call("gantry_state_restore", {}, gantry_state_restore, state, files.savedState.c_str());
}

void callState(Caller &caller, gantry_device_t *device, gantry_program_t *program,
               const ScenarioFiles &files) {
  caller.call("gantry_program_state_count", {}, gantry_program_state_count, program);
  gantry_state_port_t port = {};
  port.struct_size = sizeof(port);
  caller.call("gantry_program_state", {}, gantry_program_state, program, size_t{0}, &port);
  gantry_state_t *state = nullptr;
  if (caller.callThen(
          "gantry_state_create", {}, [&] { gantry_state_release(state); }, gantry_state_create,
          program, device, &state) != GANTRY_STATUS_OK)
    return;
  caller.call("gantry_state_count", {}, gantry_state_count, state);
  gantry_state_info_t info = {};
  info.struct_size = sizeof(info);
  caller.call("gantry_state_get_info", {}, gantry_state_get_info, state, size_t{0}, &info);
  callStateValues(caller, state, files);
  gantry_buffer_t *buffer = nullptr;
  if (gantry_buffer_create(device, 256, &buffer) == GANTRY_STATUS_OK) {
    float none[kElements];
    gantry_tensor_t range = tensorOf(none);
    range.data = nullptr;
    range.buffer = buffer;
    caller.call("gantry_state_bind", {}, gantry_state_bind, state, "w", &range);
    gantry_buffer_release(buffer);
  }
  gantry_session_options_t options = {};
  options.struct_size = sizeof(options);
  options.cache_path = "";
  options.state = state;
  gantry_session_t *session = nullptr;
  if (gantry_session_create(program, device, &options, &session) == GANTRY_STATUS_OK) {
    gantry_state_t *same = nullptr;
    caller.callThen(
        "gantry_session_state", {}, [&] { gantry_state_release(std::exchange(same, nullptr)); },
        gantry_session_state, session, &same);
    gantry_state_release(same);
    gantry_session_release(session);
  }
  caller.call("gantry_state_release", {}, gantry_state_release, state);
}

} // namespace

void callEveryFunction(Caller &caller, const ScenarioFiles &files, const ScenarioParts &parts) {
  callNames(caller);
  gantry_device_t *device = parts.given;
  if (parts.device) {
    gantry_device_info_t infos[4];
    size_t count = 4;
    caller.call("gantry_devices", {0}, gantry_devices, infos, &count);
    if (caller.callThen(
            "gantry_device_create", {0}, [&] { gantry_device_release(device); },
            gantry_device_create, "", &device) != GANTRY_STATUS_OK)
      return;
    callDevice(caller, device);
  }
  if (parts.traces)
    callTraces(caller, files);
  if (parts.runs) {
    gantry_program_t *program = nullptr;
    const auto release = [&] { gantry_program_release(program); };
    if (caller.callThen("gantry_program_load_memory", {}, release, gantry_program_load_memory,
                        files.artifact, files.artifactBytes, &program) == GANTRY_STATUS_OK) {
      callProgram(caller, program);
      callSession(caller, device, program);
      caller.call("gantry_program_release", {}, gantry_program_release, program);
    }
    program = nullptr;
    if (caller.callThen("gantry_program_load", {}, release, gantry_program_load,
                        files.dynamicModel.c_str(), &program) == GANTRY_STATUS_OK) {
      callSession(caller, device, program);
      gantry_program_release(program);
    }
    program = nullptr;
    if (caller.callThen("gantry_program_load", {}, release, gantry_program_load,
                        files.stateModel.c_str(), &program) == GANTRY_STATUS_OK) {
      callState(caller, device, program, files);
      gantry_program_release(program);
    }
  }
  if (parts.device)
    caller.call("gantry_device_release", {}, gantry_device_release, device);
}

} // namespace gantry::test

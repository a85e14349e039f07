// The functions of gantry.h for states.
#include "engine/capi/call.h"
#include "engine/capi/donations.h"
#include "engine/capi/tensors.h"

using namespace gantry;

namespace {

using Condition = program::State::Condition;
static_assert(GANTRY_STATE_UNSET == static_cast<int>(Condition::kUnset));
static_assert(GANTRY_STATE_VALID == static_cast<int>(Condition::kValid));
static_assert(GANTRY_STATE_INVALID == static_cast<int>(Condition::kInvalid));
static_assert(SIZE_MAX == GANTRY_NO_OUTPUT);

/// Returns kInvalidArgument if a struct's struct_size (`given`) is smaller than minSize, the
/// struct's size in its first version, or so large that it was probably not set. size: its present
/// size.
Status checkStructSize(const char *what, size_t given, size_t minSize, size_t size) {
  if (given >= minSize && given <= 4096)
    return {};
  return statusf(StatusCode::kInvalidArgument, "%s: struct_size is %zu; set it to its sizeof, %zu",
                 what, given, size);
}

/// Finds the entry named `name` in the object, which has one entry for each state of a program.
/// Calls use(state, index of the entry) and reports the status.
template <typename Use>
gantry_status_t withEntry(const char *function, gantry_state_t *state, const char *name,
                          const Use &use) {
  const capi::Call call(function);
  if (!call.isAdmitted())
    return call.refused();
  const Result<size_t> index = state->state->find(name);
  if (!index.isOk())
    return capi::report(index.status());
  if (const Status used = use(*state->state, *index); !used.isOk())
    return capi::report(used);
  return GANTRY_STATUS_OK;
}

Status write(program::State &state, size_t index, const gantry_tensor_t &tensor) {
  GANTRY_ASSIGN_OR_RETURN(const program::TensorShape shape,
                          capi::readShape(tensor, "state", index));
  if (tensor.buffer || (!tensor.data && tensor.size_bytes > 0))
    return statusf(StatusCode::kInvalidArgument,
                   "the state '%s' is written from host memory: set data and leave buffer NULL, or "
                   "call gantry_state_bind for a buffer",
                   state.entries()[index].name.c_str());
  return state.write(index, shape, {static_cast<const uint8_t *>(tensor.data), tensor.size_bytes});
}

Status read(program::State &state, size_t index, gantry_tensor_t &tensor) {
  if (tensor.buffer || (!tensor.data && tensor.size_bytes > 0))
    return statusf(StatusCode::kInvalidArgument,
                   "the state '%s' is read to host memory: set data and leave buffer NULL",
                   state.entries()[index].name.c_str());
  GANTRY_RETURN_IF_ERROR(
      state.read(index, {static_cast<uint8_t *>(tensor.data), tensor.size_bytes}));
  const program::State::Entry &entry = state.entries()[index];
  capi::fillShape(entry.shape, entry.sizeBytes, &tensor);
  return {};
}

Status bind(program::State &state, size_t index, const gantry_tensor_t &tensor) {
  program::TensorArgument range;
  GANTRY_ASSIGN_OR_RETURN(range.shape, capi::readShape(tensor, "state", index));
  GANTRY_RETURN_IF_ERROR(capi::readMemory(tensor, *state.heap(), "state", index, range));
  if (!range.buffer || range.data)
    return statusf(StatusCode::kInvalidArgument,
                   "the state '%s' is bound to a buffer: set buffer and leave data NULL",
                   state.entries()[index].name.c_str());
  return state.bind(index, range);
}

} // namespace

extern "C" {

size_t gantry_program_state_count(const gantry_program_t *program) {
  return program ? program->program->states().size() : 0;
}

gantry_status_t gantry_program_state(const gantry_program_t *program, size_t index,
                                     gantry_state_port_t *info) {
  if (!program || !info)
    return capi::nullArgument("gantry_program_state", program ? "info" : "program");
  if (const Status valid =
          checkStructSize("state port", info->struct_size, sizeof(*info), sizeof(*info));
      !valid.isOk())
    return capi::report(valid);
  const std::vector<program::StatePort> &states = program->program->states();
  if (index >= states.size())
    return capi::report(statusf(StatusCode::kInvalidArgument,
                                "there is no state %zu; the program has %zu, numbered from 0",
                                index, states.size()));
  const size_t size = info->struct_size;
  std::memset(static_cast<void *>(info), 0, size);
  info->struct_size = size;
  info->name = states[index].name.c_str();
  info->input = states[index].input;
  info->output = states[index].output ? *states[index].output : GANTRY_NO_OUTPUT;
  info->capacity_bytes = states[index].capacityBytes;
  info->has_initial = states[index].initial ? 1 : 0;
  return GANTRY_STATUS_OK;
}

gantry_status_t gantry_state_create(gantry_program_t *program, gantry_device_t *device,
                                    gantry_state_t **state) {
  if (!program || !device || !state)
    return capi::nullArgument("gantry_state_create", !program  ? "program"
                                                     : !device ? "device"
                                                               : "state");
  const capi::Call call("gantry_state_create");
  if (!call.isAdmitted())
    return call.refused();
  auto created = program::State::create(*program->program, device->heap,
                                        program::State::kindFor(*device->device));
  if (!created.isOk())
    return capi::report(created.status());
  auto made = std::make_unique<gantry_state>();
  made->state = created.take();
  return call.publish(std::move(made), state);
}

gantry_status_t gantry_session_state(const gantry_session_t *session, gantry_state_t **state) {
  if (!session || !state)
    return capi::nullArgument("gantry_session_state", session ? "state" : "session");
  const capi::Call call("gantry_session_state");
  if (!call.isAdmitted())
    return call.refused();
  if (!session->session->state())
    return capi::report(Status(StatusCode::kFailedPrecondition,
                               "the session's program has no states; declare them when the model "
                               "is compiled (gantry compile --state INPUT=OUTPUT)"));
  auto made = std::make_unique<gantry_state>();
  made->state = session->session->state();
  return call.publish(std::move(made), state);
}

void gantry_state_release(gantry_state_t *state) { delete state; }

size_t gantry_state_count(const gantry_state_t *state) {
  return state ? state->state->entries().size() : 0;
}

gantry_status_t gantry_state_get_info(gantry_state_t *state, size_t index,
                                      gantry_state_info_t *info) {
  if (!state || !info)
    return capi::nullArgument("gantry_state_get_info", state ? "info" : "state");
  // Callers that were built before stored_dims existed have a smaller struct.
  constexpr size_t kMinSize = offsetof(gantry_state_info_t, stored_dims);
  if (const Status valid =
          checkStructSize("state info", info->struct_size, kMinSize, sizeof(*info));
      !valid.isOk())
    return capi::report(valid);
  const std::vector<program::State::Entry> &entries = state->state->entries();
  if (index >= entries.size())
    return capi::report(statusf(StatusCode::kInvalidArgument,
                                "there is no state %zu; the object has %zu, numbered from 0", index,
                                entries.size()));
  state->state->refresh();
  const program::State::Entry &entry = entries[index];
  const size_t size = info->struct_size;
  std::memset(static_cast<void *>(info), 0, size);
  info->struct_size = size;
  info->name = entry.name.c_str();
  info->condition = static_cast<gantry_state_condition_t>(entry.condition);
  info->type = static_cast<gantry_type_t>(entry.shape.type);
  info->rank = static_cast<uint32_t>(entry.portDims.size());
  for (size_t d = 0; d < entry.portDims.size(); ++d)
    info->dims[d] = d < entry.shape.dims.size() ? entry.shape.dims[d] : entry.portDims[d];
  info->size_bytes = entry.sizeBytes;
  info->capacity_bytes = entry.capacityBytes;
  for (uint32_t d = 0; size >= sizeof(*info) && d < info->rank; ++d)
    info->stored_dims[d] = entry.order.empty() ? d : entry.order[d];
  return GANTRY_STATUS_OK;
}

gantry_status_t gantry_state_write(gantry_state_t *state, const char *name,
                                   const gantry_tensor_t *tensor) {
  if (!state || !name || !tensor)
    return capi::nullArgument("gantry_state_write", !state ? "state" : !name ? "name" : "tensor");
  return withEntry("gantry_state_write", state, name, [&](program::State &target, size_t index) {
    return write(target, index, *tensor);
  });
}

gantry_status_t gantry_state_read(gantry_state_t *state, const char *name,
                                  gantry_tensor_t *tensor) {
  if (!state || !name || !tensor)
    return capi::nullArgument("gantry_state_read", !state ? "state" : !name ? "name" : "tensor");
  return withEntry("gantry_state_read", state, name, [&](program::State &source, size_t index) {
    return read(source, index, *tensor);
  });
}

gantry_status_t gantry_state_bind(gantry_state_t *state, const char *name,
                                  const gantry_tensor_t *tensor) {
  if (!state || !name || !tensor)
    return capi::nullArgument("gantry_state_bind", !state ? "state" : !name ? "name" : "tensor");
  return withEntry("gantry_state_bind", state, name, [&](program::State &target, size_t index) {
    return bind(target, index, *tensor);
  });
}

gantry_status_t gantry_state_save(gantry_state_t *state, const char *path) {
  if (!state || !path)
    return capi::nullArgument("gantry_state_save", state ? "path" : "state");
  const capi::Call call("gantry_state_save");
  return call.isAdmitted() ? capi::report(state->state->save(path)) : call.refused();
}

gantry_status_t gantry_state_restore(gantry_state_t *state, const char *path) {
  if (!state || !path)
    return capi::nullArgument("gantry_state_restore", state ? "path" : "state");
  const capi::Call call("gantry_state_restore");
  return call.isAdmitted() ? capi::report(state->state->restore(path)) : call.refused();
}

} // extern "C"

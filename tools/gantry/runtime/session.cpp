// Implements session.h.
#include "tools/gantry/runtime/session.h"

#include <algorithm>
#include <fmt/format.h>

namespace gantry::tool {
namespace {

gantry_binding_t bindingOf(const std::string &name) {
  return name == "storage-buffer" ? GANTRY_BINDING_STORAGE_BUFFER
         : name == "address"      ? GANTRY_BINDING_ADDRESS
         : name == "texel"        ? GANTRY_BINDING_TEXEL
                                  : GANTRY_BINDING_AUTO;
}

gantry_tensor_t viewOf(const Tensor &tensor) {
  gantry_tensor_t view{};
  view.type = tensor.type;
  view.rank = static_cast<uint32_t>(tensor.dims.size());
  std::copy(tensor.dims.begin(), tensor.dims.end(), view.dims);
  view.data = const_cast<uint8_t *>(tensor.bytes.data()); // The session only reads inputs.
  view.size_bytes = tensor.bytes.size();
  return view;
}

} // namespace

HostSession::HostSession(gantry_program_t *program, const SessionRequest &request)
    : device_(openDevice(request.device)), outputCount_(gantry_program_output_count(program)) {
  gantry_session_options_t options{};
  options.struct_size = sizeof(options);
  options.binding = bindingOf(request.binding);
  options.timestamps = request.timestamps;
  options.check_memory = request.checkMemory;
  options.dispatch_limit_ns = static_cast<uint64_t>(request.dispatchLimitMs * 1e6);
  gantry_session_t *session = nullptr;
  check(gantry_session_create(program, device_.get(), &options, &session));
  session_.reset(session);
  states_.resize(gantry_program_state_count(program));
  for (size_t i = 0; i < states_.size(); ++i) {
    states_[i].struct_size = sizeof(states_[i]);
    check(gantry_program_state(program, i, &states_[i]));
  }
  if (states_.empty())
    return;
  gantry_state_t *state = nullptr;
  check(gantry_session_state(session, &state));
  state_.reset(state);
}

void HostSession::bind(const std::vector<Tensor> &inputs) {
  inputViews_.clear();
  for (const Tensor &input : inputs)
    inputViews_.push_back(viewOf(input));
  for (const gantry_state_port_t &state : states_) {
    gantry_tensor_t &view = inputViews_[state.input];
    if (!inputs[state.input].bytes.empty() || !inputs[state.input].dims.empty())
      check(gantry_state_write(state_.get(), state.name, &view));
    view = {};
  }
  outputViews_.assign(outputCount_, gantry_tensor_t{});
  check(gantry_session_output_shapes(session_.get(), inputViews_.data(), inputViews_.size(),
                                     outputViews_.data(), outputViews_.size()));
  outputs_.clear();
  outputs_.resize(outputCount_);
  for (size_t i = 0; i < outputCount_; ++i) {
    gantry_tensor_t &view = outputViews_[i];
    outputs_[i].type = view.type;
    outputs_[i].dims.assign(view.dims, view.dims + view.rank);
    outputs_[i].bytes.resize(view.size_bytes);
    view.data = outputs_[i].bytes.data();
    view.buffer = nullptr;
  }
  for (const gantry_state_port_t &state : states_)
    if (state.output != GANTRY_NO_OUTPUT)
      outputViews_[state.output].data = nullptr;
}

void HostSession::readStates() {
  for (const gantry_state_port_t &state : states_) {
    if (state.output == GANTRY_NO_OUTPUT)
      continue;
    Tensor &tensor = outputs_[state.output];
    gantry_tensor_t view{};
    view.data = tensor.bytes.data();
    view.size_bytes = tensor.bytes.size();
    check(gantry_state_read(state_.get(), state.name, &view));
  }
}

void HostSession::restoreStates(const std::string &path) {
  if (!state_)
    throw ToolError(ExitCode::kBadInput,
                    fmt::format("cannot read states from '{}': the model has no states", path));
  check(gantry_state_restore(state_.get(), path.c_str()));
}

void HostSession::saveStates(const std::string &path) {
  if (!state_)
    throw ToolError(ExitCode::kBadInput,
                    fmt::format("cannot write states to '{}': the model has no states", path));
  check(gantry_state_save(state_.get(), path.c_str()));
}

void HostSession::run() {
  check(gantry_session_run(session_.get(), inputViews_.data(), inputViews_.size(),
                           outputViews_.data(), outputViews_.size()));
}

ProgramHandle HostSession::program() const {
  gantry_program_t *program = nullptr;
  check(gantry_session_program(session_.get(), &program));
  return ProgramHandle(program);
}

gantry_statistics_t HostSession::statistics() const {
  gantry_statistics_t statistics{};
  gantry_session_statistics(session_.get(), &statistics);
  return statistics;
}

gantry_device_info_t HostSession::deviceInfo() const {
  gantry_device_info_t info{};
  gantry_device_get_info(device_.get(), &info);
  return info;
}

uint64_t HostSession::validationMessages() const {
  return gantry_device_validation_messages(device_.get());
}

std::vector<gantry_dispatch_info_t> HostSession::dispatches() const {
  std::vector<gantry_dispatch_info_t> result;
  gantry_dispatch_info_t info{};
  while (gantry_session_dispatch(session_.get(), result.size(), &info) == GANTRY_STATUS_OK)
    result.push_back(info);
  return result;
}

std::string deviceText(const gantry_device_info_t &info) {
  return fmt::format("{}, {}", info.name, deviceKindName(info.kind));
}

const char *deviceKindName(gantry_device_kind_t kind) {
  switch (kind) {
  case GANTRY_DEVICE_DISCRETE:
    return "discrete";
  case GANTRY_DEVICE_INTEGRATED:
    return "integrated";
  case GANTRY_DEVICE_VIRTUAL:
    return "virtual";
  case GANTRY_DEVICE_SOFTWARE:
    return "software";
  }
  return "unknown";
}

const char *bindingName(gantry_binding_t binding) {
  switch (binding) {
  case GANTRY_BINDING_AUTO:
    return "auto";
  case GANTRY_BINDING_STORAGE_BUFFER:
    return "storage-buffer";
  case GANTRY_BINDING_ADDRESS:
    return "address";
  case GANTRY_BINDING_TEXEL:
    return "texel";
  }
  return "unknown";
}

} // namespace gantry::tool

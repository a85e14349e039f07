// Implements generated.h.
#include "benchmarks/kernels/generated.h"

#include "benchmarks/kernels/halves.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace gantry::bench {

namespace {

void check(gantry_status_t status, const std::string &what) {
  if (status != GANTRY_STATUS_OK)
    throw GpuError(what + ": " + gantry_last_error());
}

std::string textOf(std::span<const int64_t> dims) {
  std::string text = "[";
  for (int64_t dim : dims)
    text += (text.size() > 1 ? ", " : "") + std::to_string(dim);
  return text + "]";
}

gantry_tensor_t tensorOf(const gantry_port_info_t &port, gantry_buffer_t *buffer, uint64_t bytes) {
  gantry_tensor_t tensor{};
  tensor.type = port.type;
  tensor.rank = port.rank;
  std::copy_n(port.dims, port.rank, tensor.dims);
  tensor.buffer = buffer;
  tensor.size_bytes = bytes;
  return tensor;
}

uint64_t bytesOf(const gantry_port_info_t &port) {
  uint64_t bytes = gantry_type_size(port.type);
  for (uint32_t d = 0; d < port.rank; ++d)
    bytes *= static_cast<uint64_t>(port.dims[d]);
  return bytes;
}

} // namespace

Runtime::Runtime(const std::string &selector) {
  check(gantry_device_create(selector.c_str(), &device_), "the runtime's device");
  gantry_device_get_info(device_, &info_);
}

Generated::Generated(Runtime &runtime, const std::string &artifact,
                     const std::vector<Tensor> &inputs)
    : runtime_(runtime) {
  check(gantry_program_load(artifact.c_str(), &program_), artifact);
  gantry_session_options_t options{};
  options.struct_size = sizeof options;
  options.timestamps = runtime.software() ? 0 : 1;
  options.cache_path = "";
  check(gantry_session_create(program_, runtime.device(), &options, &session_), artifact);
  bind(inputs);
  run(timedInputs_, timedOutputs_); // The driver compiles its kernels in the first run.
  repeats_ = repeatsOf(seconds());
}

Generated::~Generated() {
  gantry_session_release(session_);
  for (gantry_buffer_t *buffer : buffers_)
    gantry_buffer_release(buffer);
  gantry_program_release(program_);
}

gantry_buffer_t *Generated::buffer(uint64_t bytes) {
  gantry_buffer_t *buffer = nullptr;
  check(gantry_buffer_create(runtime_.device(), bytes, &buffer), "a buffer");
  buffers_.push_back(buffer);
  return buffer;
}

void Generated::bind(const std::vector<Tensor> &inputs) {
  const size_t count = gantry_program_input_count(program_);
  if (count != inputs.size() || gantry_program_output_count(program_) != 1)
    throw GpuError("the artifact has " + std::to_string(count) + " inputs and " +
                   std::to_string(gantry_program_output_count(program_)) +
                   " outputs, but make_models.py writes a model with " +
                   std::to_string(inputs.size()) + " and 1; compile that model");
  for (size_t i = 0; i < count; ++i) {
    gantry_port_info_t port{};
    check(gantry_program_input(program_, i, &port), "an input");
    const std::span<const int64_t> dims(port.dims, port.rank);
    const gantry_type_t type = inputs[i].halves ? GANTRY_TYPE_F16 : GANTRY_TYPE_F32;
    if (port.type != type || !std::ranges::equal(dims, inputs[i].dims))
      throw GpuError("input " + std::string(port.name) + " of the artifact is " +
                     gantry_type_name(port.type) + textOf(dims) +
                     ", but make_models.py writes a model with " + gantry_type_name(type) +
                     textOf(inputs[i].dims) + "; compile that model");
    const uint64_t bytes = bytesOf(port);
    gantry_buffer_t *memory = buffer(bytes);
    const std::vector<uint8_t> content = bytesOf(inputs[i]);
    std::memcpy(gantry_buffer_data(memory), content.data(), bytes);
    inputs_.push_back(tensorOf(port, memory, bytes));
  }
  gantry_port_info_t port{};
  check(gantry_program_output(program_, 0, &port), "the output");
  if (port.type != GANTRY_TYPE_F32 && port.type != GANTRY_TYPE_F16)
    throw GpuError("output " + std::string(port.name) + " of the artifact is " +
                   gantry_type_name(port.type) + ", neither f32 nor f16");
  outputs_.push_back(tensorOf(port, buffer(bytesOf(port)), bytesOf(port)));

  timedInputs_ = inputs_;
  timedOutputs_ = outputs_;
  if (runtime_.software())
    return;
  for (auto *tensors : {&timedInputs_, &timedOutputs_})
    for (gantry_tensor_t &tensor : *tensors) {
      check(gantry_buffer_create_kind(runtime_.device(), GANTRY_MEMORY_DEVICE, tensor.size_bytes,
                                      "kernel_bench", &tensor.buffer),
            "device memory");
      buffers_.push_back(tensor.buffer);
    }
  // Operand values affect power and thereby the GPU's clock, so the timed inputs must not be zero.
  // Only a run of the program can write device memory here. For each input that has the output's
  // size, the program therefore runs once with this input's buffer as its output.
  for (const gantry_tensor_t &input : timedInputs_)
    if (input.size_bytes == outputs_[0].size_bytes) {
      std::vector<gantry_tensor_t> target = outputs_;
      target[0].buffer = input.buffer;
      run(inputs_, target);
    }
}

void Generated::run(std::vector<gantry_tensor_t> &inputs, std::vector<gantry_tensor_t> &outputs) {
  check(gantry_session_run(session_, inputs.data(), inputs.size(), outputs.data(), outputs.size()),
        "a run");
}

double Generated::seconds() {
  const double before = cpuSeconds();
  double deviceNs = 0;
  for (uint32_t i = 0; i < repeats_; ++i) {
    run(timedInputs_, timedOutputs_);
    gantry_statistics_t statistics{};
    gantry_session_statistics(session_, &statistics);
    deviceNs += static_cast<double>(statistics.last_run_gpu_ns);
  }
  const double total = runtime_.software() ? cpuSeconds() - before : deviceNs * 1e-9;
  return total / repeats_;
}

std::vector<float> Generated::result() {
  run(inputs_, outputs_);
  const auto *memory = static_cast<const uint8_t *>(gantry_buffer_data(outputs_[0].buffer));
  return floatsOf({memory, outputs_[0].size_bytes}, outputs_[0].type == GANTRY_TYPE_F16);
}

} // namespace gantry::bench

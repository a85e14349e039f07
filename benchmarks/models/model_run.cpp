// Implements model_run.h.
#include "benchmarks/models/model_run.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

namespace gantry::bench {

namespace {

constexpr double kSampleSeconds = 0.2;
constexpr uint32_t kMaxRepeats = 1000;

void check(gantry_status_t status, const std::string &what) {
  if (status != GANTRY_STATUS_OK)
    throw GpuError(what + ": " + gantry_last_error());
}

int64_t sizeOf(const gantry_port_info_t &port, uint32_t d,
               const std::map<std::string, int64_t> &dims) {
  if (port.dims[d] != GANTRY_DYNAMIC)
    return port.dims[d];
  const std::string name = port.dim_names[d] ? port.dim_names[d] : "";
  const auto found = dims.find(name);
  if (found == dims.end())
    throw GpuError("input " + std::string(port.name) + " has the dynamic dimension \"" + name +
                   "\"; give its size with --dim " + name + "=N");
  return found->second;
}

} // namespace

std::map<std::string, int64_t> parseDims(const std::vector<std::string> &texts) {
  std::map<std::string, int64_t> dims;
  for (const std::string &text : texts) {
    const size_t equals = text.find('=');
    int64_t value = 0;
    const char *end = text.data() + text.size();
    if (equals == std::string::npos ||
        std::from_chars(text.data() + equals + 1, end, value).ptr != end || value < 1)
      throw GpuError("--dim " + text + ": write NAME=N with N of at least 1");
    dims[text.substr(0, equals)] = value;
  }
  return dims;
}

ModelRun::ModelRun(Runtime &runtime, const std::string &artifact,
                   const std::map<std::string, int64_t> &dims)
    : runtime_(runtime) {
  check(gantry_program_load(artifact.c_str(), &program_), "loading");
  gantry_session_options_t options{};
  options.struct_size = sizeof options;
  options.timestamps = runtime.software() ? 0 : 1;
  check(gantry_session_create(program_, runtime.device(), &options, &session_), "a session");
  bindInputs(dims);
  bindOutputs();
  readCommands(dims);
  runOnce(); // The driver compiles its kernels in the first run.
  const double once = std::max(seconds(), 1e-6);
  repeats_ =
      static_cast<uint32_t>(std::clamp<double>(std::ceil(kSampleSeconds / once), 1, kMaxRepeats));
}

ModelRun::~ModelRun() {
  gantry_session_release(session_);
  for (gantry_buffer_t *buffer : buffers_)
    gantry_buffer_release(buffer);
  gantry_program_release(program_);
}

gantry_buffer_t *ModelRun::buffer(uint64_t bytes) {
  gantry_buffer_t *made = nullptr;
  check(gantry_buffer_create(runtime_.device(), std::max<uint64_t>(bytes, 1), &made), "a buffer");
  buffers_.push_back(made);
  return made;
}

void ModelRun::bindInputs(const std::map<std::string, int64_t> &dims) {
  for (size_t i = 0; i < gantry_program_input_count(program_); ++i) {
    gantry_port_info_t port{};
    check(gantry_program_input(program_, i, &port), "an input");
    gantry_tensor_t tensor{};
    tensor.type = port.type;
    tensor.rank = port.rank;
    uint64_t count = 1;
    for (uint32_t d = 0; d < port.rank; ++d) {
      tensor.dims[d] = sizeOf(port, d, dims);
      count *= static_cast<uint64_t>(tensor.dims[d]);
    }
    tensor.size_bytes = count * gantry_type_size(port.type);
    tensor.buffer = buffer(tensor.size_bytes);
    void *data = gantry_buffer_data(tensor.buffer);
    std::memset(data, 0, tensor.size_bytes);
    if (port.type == GANTRY_TYPE_F32) {
      const std::vector<float> values = pattern(count, static_cast<uint32_t>(i));
      std::memcpy(data, values.data(), tensor.size_bytes);
    }
    inputs_.push_back(tensor);
  }
}

void ModelRun::bindOutputs() {
  outputs_.resize(gantry_program_output_count(program_));
  check(gantry_session_output_shapes(session_, inputs_.data(), inputs_.size(), outputs_.data(),
                                     outputs_.size()),
        "the outputs' shapes");
  for (gantry_tensor_t &output : outputs_)
    output.buffer = buffer(output.size_bytes);
}

void ModelRun::readCommands(const std::map<std::string, int64_t> &dims) {
  using Json = nlohmann::json;
  char *text = nullptr;
  check(gantry_program_describe(program_, nullptr, 0, &text), "the description");
  Json json = Json::parse(text);
  gantry_free(text);
  std::vector<int64_t> symbols;
  for (const Json &symbol : json["symbols"])
    symbols.push_back(dims.at(symbol["name"].get<std::string>()));
  if (!symbols.empty()) {
    check(gantry_program_describe(program_, symbols.data(), symbols.size(), &text),
          "the description");
    json = Json::parse(text);
    gantry_free(text);
  }
  for (const Json &command : json["commands"]) {
    dispatches_ += command["kind"] == "dispatch" ? 1 : 0;
    flops_ += command["flops"].get<double>();
  }
}

void ModelRun::runOnce() {
  check(gantry_session_run(session_, inputs_.data(), inputs_.size(), outputs_.data(),
                           outputs_.size()),
        "a run");
}

double ModelRun::seconds() { return secondsOf(repeats_); }

double ModelRun::secondsOf(uint32_t runs) {
  const double before = cpuSeconds();
  double deviceNs = 0;
  for (uint32_t i = 0; i < runs; ++i) {
    runOnce();
    deviceNs += static_cast<double>(statistics().last_run_gpu_ns);
  }
  const double total = runtime_.software() ? cpuSeconds() - before : deviceNs * 1e-9;
  return total / runs;
}

gantry_statistics_t ModelRun::statistics() const {
  gantry_statistics_t statistics{};
  gantry_session_statistics(session_, &statistics);
  return statistics;
}

} // namespace gantry::bench

// Measures calls of a program through the C API, for calls.py, which measures the same calls from
// Python.
//
//   call_bench ARTIFACT RUNS
//
// Prints two numbers, in microseconds for one run: with inputs and outputs in memory of the host,
// and with inputs and outputs in buffers.
#include <gantry/gantry.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

using namespace gantry;

[[noreturn]] void fail(const Error &error) {
  std::fprintf(stderr, "call_bench: %s\n", error.message().c_str());
  std::exit(1);
}

template <typename T> T valueOf(Expected<T> expected) {
  if (!expected)
    fail(expected.error());
  return std::move(*expected);
}

/// The tensors of a program's ports, and their memory.
struct Tensors {
  std::vector<gantry_tensor_t> tensors;
  std::vector<std::vector<float>> host;
  std::vector<Buffer> buffers;

  Tensors(const std::vector<gantry_port_info_t> &ports, const Device *device) {
    for (const gantry_port_info_t &port : ports) {
      gantry_tensor_t tensor{};
      tensor.type = port.type;
      tensor.rank = port.rank;
      tensor.size_bytes = gantry_type_size(port.type);
      for (uint32_t d = 0; d < port.rank; ++d) {
        tensor.dims[d] = port.dims[d];
        tensor.size_bytes *= static_cast<uint64_t>(port.dims[d]);
      }
      if (device) {
        buffers.push_back(valueOf(Buffer::create(*device, tensor.size_bytes)));
        tensor.buffer = buffers.back().get();
      } else {
        tensor.data = host.emplace_back(tensor.size_bytes / sizeof(float) + 1).data();
      }
      tensors.push_back(tensor);
    }
  }
};

/// Returns the microseconds of one run.
double measure(Session &session, Tensors inputs, Tensors outputs, int runs) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < runs; ++i)
    if (const Error error = session.run(inputs.tensors, outputs.tensors); !error.ok())
      fail(error);
  const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
  return time.count() / runs;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: call_bench ARTIFACT RUNS\n");
    return 2;
  }
  const int runs = std::atoi(argv[2]);
  const Device device = valueOf(Device::open());
  const Program program = valueOf(Program::load(argv[1]));
  Session session = valueOf(Session::create(program, device));
  double times[2];
  for (bool inBuffers : {false, true}) {
    const Device *where = inBuffers ? &device : nullptr;
    measure(session, {program.inputs(), where}, {program.outputs(), where}, 50);
    times[inBuffers] =
        measure(session, {program.inputs(), where}, {program.outputs(), where}, runs);
  }
  std::printf("%.3f %.3f\n", times[0], times[1]);
}

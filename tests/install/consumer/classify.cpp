// The program of classify.c in C++, with gantry.hpp.
#include <gantry/compiler.h>
#include <gantry/gantry.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace {

[[noreturn]] void fail(const char *what, const gantry::Error &error) {
  std::fprintf(stderr, "classify: %s: %s\n", what, error.message().c_str());
  std::exit(1);
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 4)
    return 2;
  static_assert(GANTRY_VERSION_AT_LEAST(GANTRY_VERSION_MAJOR, GANTRY_VERSION_MINOR, 0));
  if (gantry_compile(argv[1], argv[2], nullptr) != GANTRY_COMPILE_OK)
    return 1;
  auto program = gantry::Program::load(argv[2]);
  if (!program)
    fail("load", program.error());
  auto device = gantry::Device::open();
  if (!device)
    fail("open a device", device.error());
  auto session = gantry::Session::create(*program, *device);
  if (!session)
    fail("bind", session.error());

  const gantry_port_info_t port = program->inputs()[0];
  size_t count = 1;
  std::vector<gantry_tensor_t> inputs(1), outputs(1);
  inputs[0].type = port.type;
  inputs[0].rank = port.rank;
  for (uint32_t i = 0; i < port.rank; ++i)
    count *= static_cast<size_t>(inputs[0].dims[i] = port.dims[i]);
  std::vector<float> pixels(count);
  inputs[0].data = pixels.data();
  inputs[0].size_bytes = count * sizeof(float);
  std::ifstream(argv[3], std::ios::binary)
      .read(reinterpret_cast<char *>(pixels.data()),
            static_cast<std::streamsize>(count * sizeof(float)));
  if (const gantry::Error error = session->outputShapes(inputs, outputs); !error.ok())
    fail("compute the output's size", error);
  std::vector<float> scores(outputs[0].size_bytes / sizeof(float));
  outputs[0].data = scores.data();
  if (const gantry::Error error = session->run(inputs, outputs); !error.ok())
    fail("run", error);
  const auto best = std::max_element(scores.begin(), scores.end());
  std::printf("class %zu of %zu, score %.5f\n", static_cast<size_t>(best - scores.begin()),
              scores.size(), static_cast<double>(*best));
  return 0;
}

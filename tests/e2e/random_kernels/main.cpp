// random_kernels: compiles and runs random models of one kernel or a short chain of operators, and
// compares each output with that of plain loops on the host.
//
//   random_kernels [--seed N] [--count 60] [--only INDEX] [--profile NAME]...
//   random_kernels --large SIZE [--profile NAME]...   the convolution [1, 64, SIZE, SIZE] *
//                                                     [256, 64, 3, 3] in f32, f16 and int8
//   random_kernels ... --models FOLDER                only writes the models; models that end in
//                                                     .f16.onnx are for --precision f16
//
// Each case is compiled for each profile and run on the device that GANTRY_DEVICE names, or on the
// first one. The NAME of a profile may end in /KIB, a limit of shared memory. The default profiles
// are vulkan:generic, vulkan:lavapipe, vulkan:staging/16 and vulkan:staging/32; the last two use
// shared memory. For each failure, the program prints the command that repeats the case. Exit
// codes: 0: all cases passed; 1: a case failed, or the validation layers reported a message; 2: an
// option is wrong or the models cannot be written; 77: there is no device.
#include "tests/e2e/random_kernels/generators.h"
#include "tests/support/scratch.h"

#include <gantry/compiler.h>
#include <gantry/gantry.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace gantry::test {
namespace {

constexpr int kSkipped = 77;

struct Options {
  uint64_t seed = 1;
  int64_t count = 60, only = -1, large = 0;
  std::string models; // Folder to write the models to, without running them; empty: run them.
  std::vector<std::string> profiles;
};

/// Compiles the case for the profile. Returns a description of the problem, or "" on success.
std::string compile(const KernelCase &test, const std::string &folder, const std::string &profile) {
  const std::string model = folder + "model.onnx";
  std::ofstream(model, std::ios::binary) << test.model;
  std::string message;
  gantry_compile_options_t options{};
  options.struct_size = sizeof options;
  const std::string name = profile.substr(0, profile.find('/'));
  options.profile = name.c_str();
  if (name.size() < profile.size())
    options.shared_memory_bytes =
        static_cast<uint32_t>(1024 * std::atoi(profile.c_str() + name.size() + 1));
  options.half_precision = test.halfPrecision ? 1 : 0;
  options.user = &message;
  options.diagnostic = [](void *user, int severity, const char *text) {
    if (severity == 0)
      static_cast<std::string *>(user)->append(text);
  };
  const auto result = gantry_compile(model.c_str(), (folder + "model.gantry").c_str(), &options);
  if (result == GANTRY_COMPILE_OK)
    return "";
  return "does not compile: " + message;
}

/// Runs the compiled case. Returns a description of the problem, or "" if the output is right.
std::string runAndCompare(const KernelCase &test, const std::string &folder, const Device &device) {
  auto program = Program::load(folder + "model.gantry");
  if (!program)
    return "cannot be loaded: " + program.error().message();
  auto session = Session::create(*program, device);
  if (!session)
    return "has no session: " + session.error().message();
  auto port = [](gantry_tensor_t &tensor, Type type, const std::vector<int64_t> &dims) {
    std::memset(&tensor, 0, sizeof tensor);
    tensor.type = static_cast<gantry_type_t>(type);
    tensor.rank = static_cast<uint32_t>(dims.size());
    std::copy(dims.begin(), dims.end(), tensor.dims);
  };
  std::vector<gantry_tensor_t> inputs(test.inputs.size()), outputs(1);
  std::vector<std::string> bytes;
  for (const Tensor &tensor : test.inputs)
    bytes.push_back(tensor.bytes());
  for (size_t i = 0; i < inputs.size(); ++i) {
    port(inputs[i], test.inputs[i].type, test.inputs[i].dims);
    inputs[i].data = bytes[i].data();
    inputs[i].size_bytes = bytes[i].size();
  }
  const gantry_port_info_t info = program->outputs().at(0);
  std::vector<int64_t> dims(info.dims, info.dims + info.rank);
  for (size_t d = 0; d < dims.size() && d < test.expected.dims.size(); ++d)
    if (dims[d] < 0) // The size is dynamic.
      dims[d] = test.expected.dims[d];
  if (test.samples.empty() && dims != test.expected.dims)
    return "has the output's shape " + describe(dims) + ", expected " +
           describe(test.expected.dims);
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  std::string result(static_cast<size_t>(count) * sizeOf(test.expected.type), '\0');
  port(outputs[0], test.expected.type, dims);
  outputs[0].data = result.data();
  outputs[0].size_bytes = result.size();
  if (Error error = session->run(inputs, outputs); !error.ok())
    return "does not run: " + error.message();
  Tensor actual = Tensor::fromBytes(test.expected.type, dims, result.data());
  if (!test.samples.empty()) {
    Tensor picked(test.expected.type, test.expected.dims);
    for (size_t i = 0; i < test.samples.size(); ++i)
      picked.values[i] = actual.values[test.samples[i]];
    actual = picked;
  }
  const double error = relativeError(actual, test.expected);
  if (error <= test.tolerance)
    return "";
  std::ostringstream text;
  text << "has a relative error of " << error << ", allowed " << test.tolerance;
  for (size_t i = 0; i < actual.values.size(); ++i)
    if (actual.values[i] != test.expected.values[i] &&
        (test.tolerance == 0 || !(std::abs(actual.values[i] - test.expected.values[i]) <=
                                  test.tolerance * (1 + std::abs(test.expected.values[i]))))) {
      text << "; element " << i << " is " << actual.values[i] << ", expected "
           << test.expected.values[i];
      break;
    }
  return text.str();
}

/// Compiles and runs the case for each profile. Returns the number of profiles for which it fails.
/// again: the options that repeat the case.
int check(const KernelCase &test, const Options &options, const Device &device,
          const std::string &again) {
  int failures = 0;
  for (const std::string &profile : options.profiles) {
    ScratchFolder scratch;
    std::string problem = compile(test, scratch.path(""), profile);
    if (problem.empty())
      problem = runAndCompare(test, scratch.path(""), device);
    if (problem.empty())
      continue;
    ++failures;
    std::printf("FAILED %s\n  for %s %s\n  again: random_kernels %s --profile %s\n",
                test.what.c_str(), profile.c_str(), problem.c_str(), again.c_str(),
                profile.c_str());
  }
  return failures;
}

int64_t numberOf(const char *text, const char *option) {
  char *end = nullptr;
  const long long value = std::strtoll(text, &end, 10);
  if (*text == '\0' || *end != '\0' || value < 0) {
    std::fprintf(stderr, "%s takes a number of at least 0, not '%s'\n", option, text);
    std::exit(2);
  }
  return value;
}

Options parse(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) {
      std::fprintf(stderr, "%s needs a value\n", name.c_str());
      std::exit(2);
    }
    if (name == "--profile")
      options.profiles.push_back(argv[i + 1]);
    else if (name == "--models")
      options.models = argv[i + 1];
    else if (name == "--seed")
      options.seed = static_cast<uint64_t>(numberOf(argv[i + 1], "--seed"));
    else if (name == "--count")
      options.count = numberOf(argv[i + 1], "--count");
    else if (name == "--only")
      options.only = numberOf(argv[i + 1], "--only");
    else if (name == "--large")
      options.large = numberOf(argv[i + 1], "--large");
    else {
      std::fprintf(stderr,
                   "unknown option %s; known are --seed, --count, --only, --large, "
                   "--models and --profile\n",
                   name.c_str());
      std::exit(2);
    }
  }
  if (options.profiles.empty())
    options.profiles = {"vulkan:generic", "vulkan:lavapipe", "vulkan:staging/16",
                        "vulkan:staging/32"};
  return options;
}

/// Calls what(case, options that repeat the case) for each case. Returns the number of cases.
template <typename What> int forEachCase(const Options &options, What &&what) {
  int cases = 0;
  if (options.large > 0) {
    for (const char *format : {"f32", "f16", "int8"}) {
      what(largeConvolution(format, options.large, options.seed),
           "--large " + std::to_string(options.large));
      ++cases;
    }
    return cases;
  }
  std::printf("seed %llu\n", static_cast<unsigned long long>(options.seed));
  for (int64_t i = 0; i < options.count; ++i) {
    if (options.only >= 0 && i != options.only)
      continue;
    // Because of the factor, seeds do not share cases.
    what(randomKernel(options.seed * 1000003 + static_cast<uint64_t>(i)),
         "--seed " + std::to_string(options.seed) + " --count " + std::to_string(options.count) +
             " --only " + std::to_string(i));
    ++cases;
  }
  return cases;
}

int writeModels(const Options &options) {
  std::error_code error;
  std::filesystem::create_directories(options.models, error);
  int written = 0;
  bool good = !error;
  forEachCase(options, [&](const KernelCase &test, const std::string &) {
    char name[32];
    std::snprintf(name, sizeof name, "%05d%s.onnx", written++, test.halfPrecision ? ".f16" : "");
    std::ofstream file(options.models + "/" + name, std::ios::binary);
    good = good && (file << test.model).flush().good();
  });
  if (!good)
    std::fprintf(stderr, "cannot write to %s\n", options.models.c_str());
  return good ? 0 : 2;
}

int run(const Options &options) {
  if (!options.models.empty())
    return writeModels(options);
  auto device = Device::open();
  if (!device) {
    std::printf("skipped: %s\n", device.error().message().c_str());
    return kSkipped;
  }
  int failures = 0;
  const int cases = forEachCase(options, [&](const KernelCase &test, const std::string &again) {
    failures += check(test, options, *device, again);
  });
  if (const uint64_t messages = gantry_device_validation_messages(device->get())) {
    std::printf("FAILED: %llu messages from the validation layers\n",
                static_cast<unsigned long long>(messages));
    ++failures;
  }
  std::printf("%d kernels for %zu profiles, %d failed\n", cases, options.profiles.size(), failures);
  return failures > 0 ? 1 : 0;
}

} // namespace
} // namespace gantry::test

int main(int argc, char **argv) { return gantry::test::run(gantry::test::parse(argc, argv)); }

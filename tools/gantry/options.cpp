// The options that several commands share (commands/commands.h).
#include "tools/gantry/commands/commands.h"

#include "tools/gantry/error.h"

#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <limits>

namespace gantry::tool {

void InputOptions::add(CLI::App &command) {
  options::repeated(command, "-i,--input", request.files, "[NAME=]FILE",
                    "An input, in the model's order or by name: .npy, or .pb (an ONNX tensor)")
      ->group(kInputs);
  random = command.add_option("--random", request.seed,
                              "Fill inputs that have no file with random values from this seed: "
                              "floats in [-1, 1), integers in [0, --int-range)");
  options::whole(random, "SEED", 0, UINT64_MAX)->group(kInputs);
  command
      .add_flag("--arange", arange,
                "Fill inputs that have no file with 0, 1/n, 2/n and so on, for n elements")
      ->excludes(random)
      ->group(kInputs);
  options::whole(command.add_option("--int-range", request.intRange,
                                    "Integers of --random and --arange are below this bound"),
                 "N", 1, uint64_t{1} << 31)
      ->default_str("10")
      ->group(kInputs);
  options::repeated(command, "--shape", request.shapes, "NAME=SHAPE",
                    "The shape of an input without a file: x=1x3x224x224")
      ->group(kInputs);
  options::repeated(command, "--dim", request.dims, "NAME=N",
                    "The size of a dynamic dimension: batch=3")
      ->group(kInputs);
}

InputRequest InputOptions::resolve(Filling otherwise) const {
  InputRequest result = request;
  result.filling = arange ? Filling::kArange : random->count() ? Filling::kRandom : otherwise;
  return result;
}

void addSessionOptions(CLI::App &command, SessionRequest &request) {
  options::checked(command.add_option("-d,--device", request.device,
                                      "The device: its index in `gantry devices` or part of its "
                                      "name"),
                   "DEVICE",
                   [](const std::string &text) {
                     return text.empty() ? std::string("the name is empty; `gantry devices` lists "
                                                       "the devices")
                                         : std::string();
                   })
      ->default_str("GANTRY_DEVICE, else the first")
      ->group(kDevice);
  options::choice(
      command.add_option("--binding", request.binding, "How kernels reach their buffers"),
      "BINDING", {"auto", "storage-buffer", "address", "texel"})
      ->default_str("auto")
      ->group(kDevice);
  options::real(command.add_option("--dispatch-limit", request.dispatchLimitMs,
                                   "Split dispatches that may take longer than this many "
                                   "milliseconds on a slow device of the same kind, so that they "
                                   "do not block the desktop or trigger a watchdog"),
                "MS", 1e-6, 1e9)
      ->default_str("500")
      ->group(kDevice);
}

CLI::Option *addProfileOption(CLI::App &command, std::string &profile) {
  return command.add_option("-p,--profile", profile, "Device profile to compile a model for")
      ->type_name("PROFILE")
      ->default_str("the device's own");
}

void addVariantOption(CLI::App &command, std::string &variant) {
  command
      .add_option("--variant", variant, "The variant of an artifact to use, named by its profile")
      ->type_name("PROFILE")
      ->default_str("the one made for the device");
}

void addCacheOption(CLI::App &command, bool &useCache) {
  command.add_flag(
      "!--no-cache", useCache,
      "Compile a model even if an earlier command has compiled it, and do not keep the "
      "result");
}

void addPrecisionOption(CLI::App &command, CompileRequest &request) {
  options::choice(
      command.add_option_function<std::string>(
          "--precision",
          [&request](const std::string &text) { request.halfPrecision = text == "f16"; },
          "Type in which f32 values are stored between kernels. f16 halves constants and "
          "transients; sums stay in f32, and inputs and outputs keep their types"),
      "TYPE", {"f32", "f16"})
      ->default_str("f32");
}

void addToleranceOptions(CLI::App &command, Tolerance &tolerance) {
  auto add = [&](const char *name, std::optional<double> &value, const char *help) {
    CLI::Option *option = command.add_option_function<std::string>(
        name, [&value](const std::string &given) { value = std::strtod(given.c_str(), nullptr); },
        help);
    options::real(option, "X", 0, std::numeric_limits<double>::max())->group(kComparison);
    return option;
  };
  add("--rtol", tolerance.rtol,
      "Relative tolerance of an element; unless one is given, integers are compared exactly")
      ->default_str("1e-3");
  add("--atol", tolerance.atol,
      "Absolute tolerance of an element; unless one is given, integers are compared exactly")
      ->default_str("1e-5");
  add("--l2", tolerance.l2,
      "Bound on the relative L2 norm ||out - ref|| / ||ref||; elements are not bounded unless "
      "--rtol or --atol is given, too");
}

void addJson(CLI::App &command, bool &json, const std::string &help) {
  command.add_flag("--json", json, help);
}

uint64_t parseBytes(const std::string &text, const std::string &option) {
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"", 1},         {"B", 1},    {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30},
      {"TiB", 0x1p40}, {"kB", 1e3}, {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12}};
  char *end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  while (*end == ' ')
    ++end;
  for (const auto &[unit, factor] : kUnits)
    if (end != text.c_str() && unit == end && number > 0 && number * factor < 0x1p63 &&
        number * factor >= 1 && (factor > 1 || number == std::floor(number)))
      return static_cast<uint64_t>(number * factor);
  throw ToolError(
      ExitCode::kBadInput,
      fmt::format("{}: '{}' is no size; write 256MiB, 1.5GiB, or a number of bytes", option, text));
}

std::string examples(std::initializer_list<const char *> lines) {
  std::string text = "Examples:\n";
  for (const char *line : lines)
    text += std::string("  ") + line + "\n";
  return text + "\nExit codes: see gantry --help.";
}

} // namespace gantry::tool

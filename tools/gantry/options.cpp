#include "tools/gantry/commands.h"

#include "tools/gantry/error.h"

#include <cmath>
#include <cstdlib>
#include <fmt/format.h>

namespace gantry::tool {

CLI::Option *addRepeated(CLI::App &command, const std::string &name,
                         std::vector<std::string> &values, const std::string &help) {
  return command.add_option(name, values, help)->type_size(1)->allow_extra_args(false);
}

void InputOptions::add(CLI::App &command) {
  addRepeated(command, "-i,--input", request.files,
              "An input: FILE in the model's order, or NAME=FILE (.npy, or .pb: an ONNX tensor)")
      ->type_name("[NAME=]FILE");
  random = command
               .add_option("--random", request.seed,
                           "Fill inputs without a file from this seed: floats in [-1, 1), "
                           "integers in [0, --int-range)")
               ->type_name("SEED");
  command
      .add_flag("--arange", arange, "Fill inputs without a file with 0, 1/n, 2/n ... (n elements)")
      ->excludes(random);
  command.add_option("--int-range", request.intRange, "Bound of integers that are made (10)")
      ->type_name("N")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 31));
  addRepeated(command, "--shape", request.shapes,
              "The shape of an input that is made: x=1x3x224x224")
      ->type_name("NAME=SHAPE");
  addRepeated(command, "--dim", request.dims, "The size of a dynamic dimension: batch=3")
      ->type_name("NAME=N");
}

InputRequest InputOptions::resolve(Filling otherwise) const {
  InputRequest result = request;
  result.filling = arange ? Filling::kArange : random->count() ? Filling::kRandom : otherwise;
  return result;
}

void addSessionOptions(CLI::App &command, SessionRequest &request) {
  command
      .add_option("-d,--device", request.device,
                  "The device: its index in `gantry devices` or part of its name "
                  "(else GANTRY_DEVICE, else the first)")
      ->type_name("DEVICE")
      ->check(CLI::Validator(
          [](const std::string &text) {
            return text.empty() ? std::string("an empty name is no device") : std::string();
          },
          ""));
  command.add_option("--binding", request.binding, "How kernels reach their buffers (auto)")
      ->check(CLI::IsMember({"auto", "storage-buffer", "address", "texel"}));
  command
      .add_option(
          "--dispatch-limit", request.dispatchLimitMs,
          "Cut dispatches that may take longer than this many milliseconds on a slow device "
          "of the kind into parts, so that a watchdog or a desktop gets the GPU in between "
          "(500)")
      ->type_name("MS")
      ->check(CLI::Range(0.000001, 1e9));
}

CLI::Option *addProfileOption(CLI::App &command, std::string &profile) {
  return command
      .add_option("-p,--profile", profile,
                  "Device profile to compile a model for (run and bench: the device's "
                  "own; else vulkan:generic)")
      ->type_name("PROFILE");
}

void addPrecisionOption(CLI::App &command, CompileRequest &request) {
  command
      .add_option_function<std::string>(
          "--precision",
          [&request](const std::string &text) { request.halfPrecision = text == "f16"; },
          "How f32 is kept between kernels (f32). f16: constants and transients take half the "
          "bytes; sums stay in f32, inputs and outputs keep their types")
      ->type_name("f32|f16")
      ->check(CLI::IsMember({"f32", "f16"}));
}

void addToleranceOptions(CLI::App &command, Tolerance &tolerance) {
  auto add = [&](const char *name, std::optional<double> &value, const char *help) {
    command
        .add_option_function<double>(
            name, [&value](const double &given) { value = given; }, help)
        ->type_name("X")
        ->check(CLI::Validator(
            [](const std::string &text) {
              double number = 0;
              const bool valid = CLI::detail::lexical_cast(text, number) && number >= 0;
              return valid ? std::string() : fmt::format("{} is no number of 0 or more", text);
            },
            ""));
  };
  add("--rtol", tolerance.rtol, "Relative tolerance of an element (1e-3; exact for integers)");
  add("--atol", tolerance.atol, "Absolute tolerance of an element (1e-5; exact for integers)");
  add("--l2", tolerance.l2,
      "Bound on the relative L2 norm ||out - ref|| / ||ref||; alone, it replaces the other two");
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
  throw ToolError(ExitCode::kBadInput,
                  fmt::format("{}: '{}' is no size; write 256MiB, 1.5GiB, or bytes", option, text));
}

std::string examples(std::initializer_list<const char *> lines) {
  std::string text = "Examples:\n";
  for (const char *line : lines)
    text += std::string("  ") + line + "\n";
  return text + "\nExit codes: see gantry --help.";
}

} // namespace gantry::tool

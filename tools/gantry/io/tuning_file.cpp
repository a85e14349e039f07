// Implements tuning_file.h.
#include "tools/gantry/io/tuning_file.h"
#include "tools/gantry/error.h"
#include "tools/gantry/io/file.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace gantry::tool {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr int kLevels = 4; // Depth of a kernel's entry in the table.

/// Formats JSON with one line per member above the level of kernels, and one line per kernel.
std::string textOf(const OrderedJson &json, int level = 0) {
  if (!json.is_structured() || json.empty() || level == kLevels)
    return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
  std::string text = json.is_object() ? "{" : "[", indent(static_cast<size_t>(level) + 1, ' ');
  const char *separator = "\n";
  for (const auto &[name, value] : json.items()) {
    text += separator + indent;
    if (json.is_object())
      text += OrderedJson(name).dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + ": ";
    text += textOf(value, level + 1);
    separator = ",\n";
  }
  return text + (json.is_object() ? "}" : "]");
}

} // namespace

TuningFile TuningFile::open(const std::filesystem::path &path) {
  TuningFile file;
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return file;
  const std::vector<uint8_t> bytes = readFile(path);
  file.json_ = OrderedJson::parse(bytes, nullptr, /*allow_exceptions=*/false);
  const OrderedJson &json = file.json_;
  bool good = json.is_object() && json.contains("devices") && json["devices"].is_array();
  for (size_t i = 0; good && i < json["devices"].size(); ++i)
    good = json["devices"][i].is_object() && json["devices"][i].contains("kernels") &&
           json["devices"][i]["kernels"].is_object();
  if (!good)
    throw ToolError(ExitCode::kBadInput,
                    fmt::format("'{}' is not a table of measured tiles", path.string()));
  return file;
}

void TuningFile::put(const std::string &profile, const std::string &device,
                     const MeasuredTile &tile) {
  auto &devices = json_["devices"].get_ref<OrderedJson::array_t &>();
  auto section = std::find_if(devices.begin(), devices.end(), [&](const OrderedJson &known) {
    return known.value("profile", OrderedJson()) == profile &&
           known.value("device", OrderedJson()) == device;
  });
  if (section == devices.end())
    section = devices.insert(section, OrderedJson::object({{"profile", profile},
                                                           {"device", device},
                                                           {"kernels", OrderedJson::object()}}));
  std::rotate(devices.begin(), section, section + 1);
  OrderedJson &entry = devices.front()["kernels"][tile.key];
  if (!entry.is_object())
    entry = OrderedJson::object();
  entry["tile"] = tile.tile;
  entry["ns"] = std::llround(tile.ns);
  entry["predicted_ns"] = std::llround(tile.predictedNs);
  entry["what"] = tile.what;
}

std::string TuningFile::text() const { return textOf(json_) + "\n"; }

} // namespace gantry::tool

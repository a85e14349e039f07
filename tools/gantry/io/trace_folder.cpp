// Implements trace_folder.h.
#include "tools/gantry/io/trace_folder.h"

#include "tools/gantry/error.h"
#include "tools/gantry/io/npy.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace fs = std::filesystem;

namespace gantry::tool {
namespace {

using Json = nlohmann::json;
constexpr const char *kFormat = "gantry-trace";
constexpr int kVersion = 1;

std::string dump(const Json &json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

} // namespace

TraceWriter::TraceWriter(fs::path folder, std::string model, std::string device)
    : folder_(std::move(folder)), model_(std::move(model)), device_(std::move(device)) {
  files_.addFolder(folder_);
}

void TraceWriter::add(const std::string &name, const std::string &op, const Tensor &tensor) {
  std::string base = sanitiseFileName(name), file = base;
  for (int n = 2; used_.count(lower(file)); ++n)
    file = fmt::format("{}_{}", base, n);
  used_[lower(file)] = 1;
  file += ".npy";
  files_.add(folder_ / file, formatNpy(tensor));
  Json entry = {{"name", name},
                {"op", op},
                {"order", count_},
                {"file", file},
                {"type", traitsOf(tensor.type).name},
                {"shape", tensor.dims}};
  entries_ += (count_ ? ",\n    " : "\n    ") + dump(entry);
  ++count_;
}

void TraceWriter::finish() {
  files_.add(folder_ / "index.json",
             std::string_view(fmt::format("{{\n  \"format\": \"{}\",\n  \"version\": {},\n"
                                          "  \"model\": {},\n  \"device\": {},\n"
                                          "  \"tensors\": [{}\n  ]\n}}\n",
                                          kFormat, kVersion, dump(Json(model_)),
                                          dump(Json(device_)), entries_)));
  files_.commit();
}

TraceFolder::TraceFolder(fs::path folder) : folder_(std::move(folder)) {
  std::error_code error;
  if (!fs::is_directory(folder_, error))
    throw ToolError(ExitCode::kBadInput,
                    fmt::format("'{}' is not a folder; `gantry run --trace-layers {}` makes one",
                                folder_.string(), folder_.string()));
  fs::path index = folder_ / "index.json";
  if (!fs::exists(index, error))
    return;
  std::vector<uint8_t> bytes = readFile(index);
  auto damaged = [&](const std::string &what) -> ToolError {
    return ToolError(ExitCode::kBadInput, fmt::format("'{}' {}", index.string(), what));
  };
  try {
    Json json = Json::parse(bytes.begin(), bytes.end());
    if (json.at("format") != kFormat)
      throw damaged("is not the index of a trace");
    if (json.at("version").get<int>() > kVersion)
      throw damaged(fmt::format("is of version {}, this gantry reads version {}",
                                json.at("version").dump(), kVersion));
    for (const Json &tensor : json.at("tensors")) {
      TraceEntry entry{tensor.at("name"), tensor.value("op", ""), tensor.at("file"),
                       tensor.at("order").get<uint64_t>()};
      if (fs::path(entry.file).filename() != entry.file || entry.file == "..")
        throw damaged(fmt::format("names the file '{}', which is not in its folder", entry.file));
      entries_.push_back(std::move(entry));
    }
  } catch (const Json::exception &) {
    throw damaged("is damaged: it is not the list of tensors that `gantry run --trace-layers` "
                  "writes; run the model again");
  }
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const TraceEntry &a, const TraceEntry &b) { return a.order < b.order; });
  hasIndex_ = true;
}

fs::path TraceFolder::find(const std::string &name) const {
  if (hasIndex_) {
    for (const TraceEntry &entry : entries_)
      if (entry.name == name)
        return folder_ / entry.file;
    return {};
  }
  std::error_code error;
  for (const std::string &file : {name, sanitiseFileName(name)})
    if (file.find('/') == std::string::npos &&
        fs::is_regular_file(folder_ / (file + ".npy"), error))
      return folder_ / (file + ".npy");
  return {};
}

TraceDiff diffTraces(const TraceFolder &a, const TraceFolder &b, const Tolerance &tolerance) {
  if (!a.hasIndex() && !b.hasIndex())
    throw ToolError(ExitCode::kBadInput, "neither folder has an index.json, so the execution order "
                                         "is unknown; make one with `gantry run --trace-layers`");
  TraceDiff diff;
  const TraceFolder &ordered = a.hasIndex() ? a : b;
  auto load = [](const fs::path &path) { return parseNpy(readFile(path), path.string()); };
  for (const TraceEntry &entry : ordered.entries()) {
    fs::path fileA = a.find(entry.name), fileB = b.find(entry.name);
    if (fileA.empty())
      diff.onlyInB.push_back(entry.name);
    else if (fileB.empty())
      diff.onlyInA.push_back(entry.name);
    else
      diff.compared.push_back({entry, compareTensors(load(fileA), load(fileB), tolerance)});
  }
  if (a.hasIndex() && b.hasIndex())
    for (const TraceEntry &entry : b.entries())
      if (a.find(entry.name).empty())
        diff.onlyInB.push_back(entry.name);
  if (diff.compared.empty())
    throw ToolError(ExitCode::kBadInput,
                    fmt::format("the two folders have no tensor in common ({} in the one with the "
                                "index, such as '{}')",
                                ordered.entries().size(),
                                ordered.entries().empty() ? "" : ordered.entries()[0].name));
  return diff;
}

} // namespace gantry::tool

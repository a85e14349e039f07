// Implements description.h.
#include "tools/gantry/io/description.h"

#include "tools/gantry/error.h"
#include "tools/gantry/report/terminal.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gantry::tool {
namespace {

using Json = nlohmann::json;

std::string textOf(const Json &json) {
  if (json.is_string())
    return json.get<std::string>();
  return json.is_null() ? "" : json.dump();
}

std::string text(const Json &object, const char *key) {
  auto at = object.find(key);
  return at == object.end() ? "" : textOf(*at);
}

/// Returns a non-negative number, or nothing if the field is absent, null or an expression.
std::optional<uint64_t> number(const Json &object, const char *key) {
  auto at = object.find(key);
  if (at == object.end() || !at->is_number_integer() ||
      (!at->is_number_unsigned() && at->get<int64_t>() < 0))
    return std::nullopt;
  return at->get<uint64_t>();
}

uint32_t index(const Json &object, const char *key) {
  return static_cast<uint32_t>(number(object, key).value_or(0));
}

const Json &list(const Json &object, const char *key) {
  static const Json kEmpty = Json::array();
  auto at = object.find(key);
  return at != object.end() && at->is_array() ? *at : kEmpty;
}

ValueInfo parseValue(const Json &json) {
  json.get_ref<const Json::object_t &>(); // Throws if the JSON value is not an object.
  ValueInfo value;
  value.name = text(json, "name");
  value.op = text(json, "op");
  value.storage = text(json, "storage");
  value.type = text(json, "type");
  for (const Json &dim : list(json, "dims"))
    value.dims.push_back(textOf(dim));
  value.sizeBytes = number(json, "size_bytes");
  value.offset = number(json, "offset");
  value.firstUse = index(json, "first_use");
  value.lastUse = index(json, "last_use");
  if (auto slot = number(json, "slot"))
    value.slot = static_cast<int64_t>(*slot);
  if (auto base = number(json, "base"))
    value.base = static_cast<int64_t>(*base);
  return value;
}

CommandInfo parseCommand(const Json &json) {
  json.get_ref<const Json::object_t &>();
  CommandInfo command;
  command.name = text(json, "name");
  command.kind = text(json, "kind");
  command.kernel = text(json, "kernel");
  for (const Json &count : list(json, "workgroups"))
    command.workgroups.append(command.workgroups.empty() ? "" : "x").append(textOf(count));
  command.flops = number(json, "flops");
  command.bytes = number(json, "bytes");
  command.sharedBytes = number(json, "shared_bytes").value_or(0);
  command.barrierBefore = json.value("barrier_before", false);
  command.isPartial = json.value("partial", false);
  command.copyReason = text(json, "copy_reason");
  const std::optional<uint64_t> inPlace = number(json, "in_place");
  const Json &bindings = list(json, "bindings");
  for (size_t b = 0; b < bindings.size(); ++b)
    if (bindings[b].value("write", false))
      command.written.push_back(index(bindings[b], "value"));
    else if (inPlace != b)
      command.read.push_back(index(bindings[b], "value"));
  return command;
}

KernelInfo parseKernel(const Json &json) {
  json.get_ref<const Json::object_t &>();
  KernelInfo kernel;
  kernel.name = text(json, "name");
  for (const Json &variant : list(json, "variants")) {
    VariantInfo &info = kernel.variants.emplace_back();
    info.binding = text(variant, "binding");
    info.tile = text(variant, "tile");
    info.sharedBytes = number(variant, "shared_bytes").value_or(0);
    info.predictedCost = number(variant, "predicted_cost").value_or(0);
    info.accesses = number(variant, "accesses").value_or(0);
    info.vectorAccesses = number(variant, "vector_accesses").value_or(0);
    info.boxesBytes = number(variant, "boxes_bytes").value_or(0);
    info.subgroupSize = number(variant, "subgroup_size").value_or(0);
    for (const Json &multiple : list(variant, "dim_multiples"))
      info.dimMultiples.push_back(multiple.get<uint64_t>());
    for (const Json &line : list(variant, "comparison"))
      info.comparison.push_back(textOf(line));
  }
  return kernel;
}

} // namespace

Description parseDescription(std::string_view source) {
  Description result;
  try {
    Json json = Json::parse(source);
    result.name = text(json, "name");
    result.source = text(json, "source");
    result.producer = text(json, "producer");
    result.profile = text(json, "profile");
    result.variants = json.value("variants", std::vector<std::string>{result.profile});
    result.dynamic = json.value("dynamic", false);
    result.bounded = json.value("bounded", false);
    for (const Json &symbol : list(json, "symbols"))
      result.symbols.push_back(
          {text(symbol, "name"), static_cast<int64_t>(number(symbol, "max").value_or(0))});
    for (const Json &value : list(json, "values"))
      result.values.push_back(parseValue(value));
    for (const Json &command : list(json, "commands"))
      result.commands.push_back(parseCommand(command));
    for (const Json &kernel : list(json, "kernels"))
      result.kernels.push_back(parseKernel(kernel));
    result.kernelCount = result.kernels.size();
    result.constantBytes = number(json, "constant_bytes");
    result.arenaBytes = number(json, "arena_bytes");
    result.lowerBoundBytes = number(json, "lower_bound_bytes");
    result.peakCommand = index(json, "peak_command");
    result.sized = !json.value("peak_command", Json()).is_null();
    result.modelOrderBytes = number(json, "model_order_bytes");
    result.modelOrderStages = index(json, "model_order_stages");
    result.orderStages = index(json, "order_stages");
    if (const Json budget = json.value("budget", Json()); budget.is_object())
      result.budget = {number(budget, "bytes").value_or(0),
                       number(budget, "before_bytes").value_or(0),
                       number(budget, "recomputed_bytes").value_or(0), index(budget, "recomputed"),
                       index(budget, "moved")};
    result.modelOperations = number(json, "model_operations").value_or(0);
    for (const Json &chain : list(json, "strips"))
      result.strips.push_back({text(chain, "first"), text(chain, "last"), index(chain, "count"),
                               chain.value("saved_bytes", int64_t{0}),
                               number(chain, "operations").value_or(0)});
  } catch (const Json::exception &error) {
    throw ToolError(ExitCode::kInternal,
                    fmt::format("the program's description cannot be read: {}", error.what()));
  }
  return result;
}

std::string orderText(const Description &description) {
  const uint64_t own = description.modelOrderBytes.value_or(0),
                 now = description.budget ? description.budget->beforeBytes
                                          : description.lowerBoundBytes.value_or(0);
  if (own <= now)
    return "";
  return fmt::format("saves {} ({:.0f} %) over the model's own order, in {} stages instead of {}",
                     humanBytes(own - now), 100.0 * double(own - now) / double(own),
                     description.orderStages, description.modelOrderStages);
}

std::vector<std::string> budgetText(const Description &description) {
  if (!description.budget)
    return {};
  const Description::Budget &budget = *description.budget;
  uint64_t movedBytes = 0;
  for (const CommandInfo &command : description.commands)
    if (command.name.starts_with("move "))
      movedBytes += command.bytes.value_or(0) / 2;
  std::vector<std::string> lines = {fmt::format(
      "at most {}; without a budget {}", humanBytes(budget.bytes), humanBytes(budget.beforeBytes))};
  auto line = [&](uint32_t count, const char *one, const char *many, uint64_t from, uint64_t to) {
    const std::string saved = from > to ? ": saves " + humanBytes(from - to) : "";
    lines.push_back(fmt::format("{} {}{}", count, count == 1 ? one : many, saved));
  };
  if (budget.recomputed > 0)
    line(budget.recomputed, "dispatch runs again", "dispatches run again", budget.beforeBytes,
         budget.recomputedBytes);
  if (budget.moved > 0) {
    line(budget.moved, "move of a tensor to the host and back",
         "moves of tensors to the host and back", budget.recomputedBytes,
         description.lowerBoundBytes.value_or(0));
    lines.back() += fmt::format(", copies {} per run", humanBytes(movedBytes));
  }
  return lines;
}

std::vector<std::string> stripsText(const Description &description) {
  std::vector<std::string> lines;
  for (const Description::StripChain &chain : description.strips) {
    const auto name = [](const std::string &text) {
      return text.empty() ? "an operator" : printable(text);
    };
    const double share = description.modelOperations == 0 ? 0
                                                          : 100.0 * double(chain.operations) /
                                                                double(description.modelOperations);
    const std::string saved =
        chain.savedBytes > 0 ? "saves " + humanBytes(chain.savedBytes) + ", adds" : "adds";
    lines.push_back(fmt::format("{} to {} in {} strips: {} {:.1f} % arithmetic ({:.1f} million "
                                "operations)",
                                name(chain.first), name(chain.last), chain.count, saved, share,
                                double(chain.operations) / 1e6));
  }
  return lines;
}

double planRatio(const Description &description) {
  uint64_t bound = description.lowerBoundBytes.value_or(0);
  return bound
             ? static_cast<double>(description.arenaBytes.value_or(0)) / static_cast<double>(bound)
             : 1.0;
}

std::vector<size_t> aliveAt(const Description &description, uint32_t command) {
  std::vector<size_t> alive;
  for (size_t i = 0; i < description.values.size(); ++i) {
    const ValueInfo &value = description.values[i];
    if (value.storage == "transient" && value.firstUse <= command && command <= value.lastUse)
      alive.push_back(i);
  }
  std::stable_sort(alive.begin(), alive.end(), [&](size_t a, size_t b) {
    return description.values[a].sizeBytes.value_or(0) >
           description.values[b].sizeBytes.value_or(0);
  });
  return alive;
}

std::string dimsText(const ValueInfo &value) {
  std::string text;
  for (const std::string &dim : value.dims)
    text.append(text.empty() ? "" : "x").append(dim);
  return text.empty() ? "scalar" : text;
}

} // namespace gantry::tool

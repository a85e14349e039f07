// Implements plan_compare.h.
#include "tools/gantry/report/plan_compare.h"

#include "tools/gantry/report/terminal.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace gantry::tool {

namespace {

std::string sizeText(const std::optional<uint64_t> &bytes) {
  return bytes ? humanBytes(*bytes) : "-";
}

PlanChange sizes(std::string what, const std::optional<uint64_t> &before,
                 const std::optional<uint64_t> &now) {
  return {std::move(what), sizeText(before), sizeText(now),
          static_cast<int64_t>(now.value_or(0)) - static_cast<int64_t>(before.value_or(0))};
}

/// Returns the sizes of the arena's tensors by name. Tensors of equal names are added up.
std::map<std::string, uint64_t> transients(const Description &plan) {
  std::map<std::string, uint64_t> sizes;
  for (const ValueInfo &value : plan.values)
    if (value.storage == "transient" && value.sizeBytes)
      sizes[value.name] += *value.sizeBytes;
  return sizes;
}

std::map<std::string, int> commandNames(const Description &plan) {
  std::map<std::string, int> names;
  for (const CommandInfo &command : plan.commands)
    ++names[command.name];
  return names;
}

} // namespace

PlanComparison comparePlans(const Description &before, const Description &now) {
  PlanComparison result;
  result.figures = {sizes("arena", before.arenaBytes, now.arenaBytes),
                    sizes("lower bound", before.lowerBoundBytes, now.lowerBoundBytes),
                    sizes("constants", before.constantBytes, now.constantBytes)};
  auto count = [&](const char *what, size_t a, size_t b) {
    result.figures.push_back({what, std::to_string(a), std::to_string(b), 0});
  };
  count("commands", before.commands.size(), now.commands.size());
  count("kernels", before.kernelCount, now.kernelCount);
  if (before.orderStages != 0 && now.orderStages != 0)
    count("stages", before.orderStages, now.orderStages);
  result.grew = result.figures[0].growth > 0 || result.figures[2].growth > 0;

  std::map<std::string, uint64_t> old = transients(before), fresh = transients(now);
  for (const auto &[name, bytes] : fresh) {
    auto known = old.find(name);
    if (known == old.end())
      result.tensors.push_back(sizes(name, std::nullopt, bytes));
    else if (known->second != bytes)
      result.tensors.push_back(sizes(name, known->second, bytes));
  }
  for (const auto &[name, bytes] : old)
    if (!fresh.count(name))
      result.tensors.push_back(sizes(name, bytes, std::nullopt));
  std::stable_sort(result.tensors.begin(), result.tensors.end(),
                   [](const PlanChange &a, const PlanChange &b) { return a.growth > b.growth; });

  std::map<std::string, int> oldNames = commandNames(before), newNames = commandNames(now);
  auto times = [](int n) { return n == 0 ? std::string("-") : fmt::format("{} x", n); };
  for (const auto &[name, n] : newNames)
    if (oldNames[name] != n)
      result.commands.push_back({name, times(oldNames[name]), times(n), 0});
  for (const auto &[name, n] : oldNames)
    if (n > 0 && !newNames.count(name))
      result.commands.push_back({name, times(n), "-", 0});
  result.reordered =
      result.commands.empty() &&
      !std::equal(before.commands.begin(), before.commands.end(), now.commands.begin(),
                  now.commands.end(),
                  [](const CommandInfo &a, const CommandInfo &b) { return a.name == b.name; });
  return result;
}

} // namespace gantry::tool

// gantry devices: lists the devices of this machine in the preferred order, and their memory.
#include "tools/gantry/commands/commands.h"
#include "tools/gantry/runtime/model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace gantry::tool {
namespace {

std::vector<gantry_device_info_t> listDevices() {
  size_t count = 0;
  if (gantry_devices(nullptr, &count) != GANTRY_STATUS_OK)
    throw ToolError(ExitCode::kInternal, gantry_last_error());
  std::vector<gantry_device_info_t> infos(count);
  check(gantry_devices(infos.data(), &count));
  infos.resize(std::min(count, infos.size()));
  return infos;
}

/// Returns the index of the device that is used without --device, or nothing if it cannot be
/// opened. The device is opened because only the runtime knows whether GANTRY_DEVICE selects it.
std::optional<uint32_t> defaultIndex() {
  gantry_device_t *device = nullptr;
  if (gantry_device_create(nullptr, &device) != GANTRY_STATUS_OK)
    return std::nullopt;
  DeviceHandle handle(device);
  gantry_device_info_t info{};
  gantry_device_get_info(device, &info);
  return info.index;
}

/// Returns the memory heaps of a device; none if the device cannot be opened.
std::vector<gantry_memory_heap_t> heapsOf(const gantry_device_info_t &info) {
  gantry_device_t *device = nullptr;
  if (info.missing[0] ||
      gantry_device_create(std::to_string(info.index).c_str(), &device) != GANTRY_STATUS_OK)
    return {};
  DeviceHandle handle(device);
  std::vector<gantry_memory_heap_t> heaps(gantry_device_memory_heap_count(device));
  for (uint32_t i = 0; i < heaps.size(); ++i) {
    heaps[i].struct_size = sizeof(heaps[i]);
    check(gantry_device_memory_heap(device, i, &heaps[i]));
  }
  return heaps;
}

std::vector<std::string> kindNames(uint32_t kinds) {
  std::vector<std::string> names;
  for (int kind = 0; kind < GANTRY_MEMORY_KIND_COUNT; ++kind)
    if (kinds >> kind & 1)
      names.emplace_back(gantry_memory_kind_name(static_cast<gantry_memory_kind_t>(kind)));
  return names;
}

nlohmann::json heapsJson(const gantry_device_info_t &info) {
  nlohmann::json heaps = nlohmann::json::array();
  for (const gantry_memory_heap_t &heap : heapsOf(info))
    heaps.push_back({{"size_bytes", heap.size_bytes},
                     {"budget_bytes", heap.budget_bytes},
                     {"used_bytes", heap.used_bytes},
                     {"budget_known", heap.budget_known != 0},
                     {"device_local", heap.device_local != 0},
                     {"kinds", kindNames(heap.first_kinds)},
                     {"fallback_kinds", kindNames(heap.other_kinds)}});
  return heaps;
}

void printJson(const std::vector<gantry_device_info_t> &infos, std::optional<uint32_t> chosen) {
  nlohmann::json devices = nlohmann::json::array();
  for (const gantry_device_info_t &info : infos)
    devices.push_back({{"index", info.index},
                       {"default", chosen == info.index},
                       {"name", info.name},
                       {"driver", info.driver},
                       {"backend", info.backend},
                       {"api_version", info.api_version},
                       {"kind", deviceKindName(info.kind)},
                       {"memory_bytes", info.memory_bytes},
                       {"max_allocation_bytes", info.max_allocation_bytes},
                       {"max_storage_buffer_bytes", info.max_storage_buffer_bytes},
                       {"max_shared_memory_bytes", info.max_shared_memory_bytes},
                       {"max_workgroup_invocations", info.max_workgroup_invocations},
                       {"max_push_constant_bytes", info.max_push_constant_bytes},
                       {"subgroup_size", info.subgroup_size},
                       {"buffer_device_address", info.buffer_device_address != 0},
                       {"unified_memory", info.unified_memory != 0},
                       {"profile", info.profile},
                       {"memory_heaps", heapsJson(info)},
                       {"usable", info.missing[0] == 0},
                       {"missing", info.missing}});
  print(nlohmann::json({{"devices", devices}})
            .dump(2, ' ', false, nlohmann::json::error_handler_t::replace) +
        "\n");
}

void printHeaps(const std::vector<gantry_device_info_t> &infos) {
  using Align = Table::Align;
  Table table({{"#", Align::kRight},
               {"heap", Align::kRight},
               {"memory"},
               {"size", Align::kRight},
               {"budget", Align::kRight},
               {"in use", Align::kRight},
               {"serves"},
               {"serves when others are full"}});
  bool estimated = false;
  for (const gantry_device_info_t &info : infos) {
    const std::vector<gantry_memory_heap_t> heaps = heapsOf(info);
    for (size_t i = 0; i < heaps.size(); ++i) {
      const gantry_memory_heap_t &heap = heaps[i];
      auto listed = [](uint32_t kinds) {
        return kinds ? fmt::format("{}", fmt::join(kindNames(kinds), ", ")) : std::string("-");
      };
      estimated |= !heap.budget_known;
      table.addRow(
          {std::to_string(info.index), std::to_string(i), heap.device_local ? "device" : "host",
           humanBytes(heap.size_bytes),
           fmt::format("{}{}", heap.budget_known ? "" : "~", humanBytes(heap.budget_bytes)),
           humanBytes(heap.used_bytes), listed(heap.first_kinds), listed(heap.other_kinds)});
    }
  }
  if (table.empty())
    return;
  print("\n" + table.format(colourOnStdout(), terminalWidth()));
  if (estimated)
    print(coloured("  ~ the driver reports no budget; 0.8 of the heap's size is assumed\n",
                   Colour::kDim, colourOnStdout()));
}

void printTable(const std::vector<gantry_device_info_t> &infos, std::optional<uint32_t> chosen) {
  using Align = Table::Align;
  Table table({{""},
               {"#", Align::kRight},
               {"device", Align::kLeft, true},
               {"kind"},
               {"API"},
               {"memory", Align::kRight},
               {"shared", Align::kRight},
               {"workgroup", Align::kRight},
               {"subgroup", Align::kRight},
               {"addresses"},
               {"profile"},
               {"missing"}});
  for (const gantry_device_info_t &info : infos)
    table.addRow({chosen == info.index ? "*" : "", std::to_string(info.index), info.name,
                  deviceKindName(info.kind), fmt::format("{} {}", info.backend, info.api_version),
                  humanBytes(info.memory_bytes), humanBytes(info.max_shared_memory_bytes),
                  std::to_string(info.max_workgroup_invocations),
                  std::to_string(info.subgroup_size), info.buffer_device_address ? "yes" : "no",
                  info.profile, info.missing[0] ? info.missing : "-"},
                 info.missing[0]        ? Colour::kDim
                 : chosen == info.index ? Colour::kGreen
                                        : Colour::kNone);
  print(table.format(colourOnStdout(), terminalWidth()));
  if (chosen)
    print(coloured("  * is used if --device is not given\n", Colour::kDim, colourOnStdout()));
  else
    print("  none of these devices can be used; see the column 'missing'\n");
  printHeaps(infos);
}

} // namespace

void addDevices(CLI::App &app, Action &action) {
  CLI::App *command =
      app.add_subcommand("devices", "List the devices in the preferred order, and their memory");
  auto json = std::make_shared<bool>(false);
  addJson(*command, *json);
  command->footer(examples({"gantry devices", "gantry devices --json"}));
  command->callback([json, &action] {
    action = [json] {
      std::vector<gantry_device_info_t> infos = listDevices();
      std::optional<uint32_t> chosen = defaultIndex();
      *json ? printJson(infos, chosen) : printTable(infos, chosen);
      return ExitCode::kOk;
    };
  });
}

} // namespace gantry::tool

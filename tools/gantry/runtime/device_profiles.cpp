// Implements device_profiles.h.
#include "tools/gantry/runtime/device_profiles.h"

#include "tools/gantry/runtime/model.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace gantry::tool {
namespace {

/// Returns the device that is used without --device, or nothing if none can be opened.
std::optional<gantry_device_info_t> defaultDevice() {
  gantry_device_t *device = nullptr;
  if (gantry_device_create(nullptr, &device) != GANTRY_STATUS_OK)
    return std::nullopt;
  const DeviceHandle handle(device);
  gantry_device_info_t info{};
  gantry_device_get_info(device, &info);
  return info;
}

} // namespace

std::vector<gantry_device_info_t> devicesOrNone() {
  size_t count = 0;
  if (gantry_devices(nullptr, &count) != GANTRY_STATUS_OK)
    return {};
  std::vector<gantry_device_info_t> infos(count);
  if (gantry_devices(infos.data(), &count) != GANTRY_STATUS_OK)
    return {};
  infos.resize(std::min(count, infos.size()));
  return infos;
}

std::vector<std::string> profilesOfThisMachine() {
  std::vector<std::string> profiles = {kBaselineProfile};
  const auto add = [&](const std::string &profile) {
    if (std::find(profiles.begin(), profiles.end(), profile) == profiles.end())
      profiles.push_back(profile);
  };
  bool hardware = false;
  const std::vector<gantry_device_info_t> devices = devicesOrNone();
  for (const gantry_device_info_t &info : devices)
    if (!info.missing[0] && info.kind != GANTRY_DEVICE_SOFTWARE) {
      hardware = true;
      add(info.profile);
    }
  const char *named = std::getenv("GANTRY_DEVICE");
  if (named && *named) {
    if (const auto info = defaultDevice())
      add(info->profile);
  } else if (!hardware) {
    for (const gantry_device_info_t &info : devices)
      if (!info.missing[0])
        add(info.profile);
  }
  return profiles;
}

std::vector<std::string> profileToRun(const std::string &asked, const std::string &device) {
  if (!asked.empty())
    return {asked};
  gantry_device_info_t info;
  gantry_device_get_info(openDevice(device).get(), &info);
  return {info.profile};
}

std::string profileOfDefaultDevice() {
  const auto info = defaultDevice();
  return info ? info->profile : kBaselineProfile;
}

} // namespace gantry::tool

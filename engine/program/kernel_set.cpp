#include "engine/program/kernel_set.h"

#include <cinttypes>

namespace gantry::program {

namespace {

using artifact::Binding;

device::BindingMode modeOf(const artifact::KernelVariant &variant) {
  return variant.binding() == Binding::address ? device::BindingMode::kAddress
                                               : device::BindingMode::kStorageBuffer;
}

device::KernelSource sourceOf(const artifact::Kernel &kernel,
                              const artifact::KernelVariant &variant) {
  device::KernelSource source;
  source.name = kernel.name()->string_view();
  source.entryPoint = kernel.entry_point()->string_view();
  source.spirv = {variant.spirv()->data(), variant.spirv()->size()};
  for (uint32_t i = 0; i < 3; ++i)
    source.workgroupSize[i] = kernel.workgroup_size()->Get(i);
  source.bufferCount = kernel.buffer_count();
  source.dimCount = kernel.dim_count();
  source.binding = modeOf(variant);
  source.sharedBytes = variant.shared_bytes();
  return source;
}

/// Whether the device has a capability by this name.
bool hasCapability(const DeviceFeatures &features, std::string_view name) {
  const std::pair<std::string_view, bool> known[] = {
      {"shaderInt64", features.shaderInt64},
      {"shaderInt8", features.shaderInt8},
      {"shaderInt16", features.shaderInt16},
      {"shaderFloat16", features.shaderFloat16},
      {"shaderFloat64", features.shaderFloat64},
      {"storageBuffer8BitAccess", features.storageBuffer8BitAccess},
      {"storageBuffer16BitAccess", features.storageBuffer16BitAccess},
      {"bufferDeviceAddress", features.bufferDeviceAddress},
  };
  for (const auto &[known_name, present] : known)
    if (known_name == name)
      return present;
  return false;
}

Status checkVariant(const artifact::Kernel &kernel, const artifact::KernelVariant &variant,
                    const DeviceProfile &profile) {
  for (const flatbuffers::String *capability : *variant.capabilities())
    if (!hasCapability(profile.features, capability->string_view()))
      return statusf(StatusCode::kUnsupported, "kernel '%s' needs %s, which the device lacks",
                     kernel.name()->c_str(), capability->c_str());
  return device::checkKernel(sourceOf(kernel, variant), profile);
}

} // namespace

const char *bindingName(device::BindingMode mode) {
  return mode == device::BindingMode::kAddress ? "address" : "storage_buffer";
}

Result<const artifact::KernelVariant *> chooseVariant(const artifact::Kernel &kernel,
                                                      BindingChoice choice,
                                                      const DeviceProfile &profile,
                                                      uint64_t largestBytes) {
  const bool tooLarge = largestBytes > profile.maxStorageBufferRange;
  const bool addressFirst = choice == BindingChoice::kAddress ||
                            (choice == BindingChoice::kAuto && profile.preferAddressBinding);
  Status reason;
  const artifact::KernelVariant *best = nullptr;
  for (const artifact::KernelVariant *variant : *kernel.variants()) {
    const bool address = variant->binding() == Binding::address;
    if (variant->binding() == Binding::texel) // sessions do not bind texel buffers yet
      continue;
    if (choice == BindingChoice::kAddress && !address)
      continue;
    if (choice == BindingChoice::kStorageBuffer && address && !tooLarge)
      continue;
    Status status = checkVariant(kernel, *variant, profile);
    if (status.isOk() && tooLarge && !address)
      status = statusf(StatusCode::kUnsupported,
                       "kernel '%s' binds a tensor of %" PRIu64
                       " bytes, the device's storage buffers hold %" PRIu64
                       " and it has no addresses to use instead",
                       kernel.name()->c_str(), largestBytes, profile.maxStorageBufferRange);
    if (!status.isOk()) {
      if (reason.isOk())
        reason = std::move(status);
      continue;
    }
    const bool preferred = address == addressFirst;
    if (!best || (preferred && (best->binding() == Binding::address) != addressFirst))
      best = variant;
  }
  if (best)
    return best;
  if (!reason.isOk())
    return reason;
  return statusf(StatusCode::kUnsupported, "kernel '%s' has no variant that binds %s",
                 kernel.name()->c_str(),
                 choice == BindingChoice::kAddress ? "by address" : "storage buffers");
}

Status
KernelSet::require(std::span<const std::pair<uint32_t, const artifact::KernelVariant *>> wanted) {
  std::vector<device::KernelSource> sources;
  std::map<const artifact::KernelVariant *, size_t> places; // indices in kernels_, once made
  std::map<std::string, size_t> contents;
  for (const auto &[index, variant] : wanted) {
    if (byVariant_.contains(variant) || places.contains(variant))
      continue;
    const device::KernelSource source =
        sourceOf(*program_->metadata().kernels()->Get(index), *variant);
    std::string key(reinterpret_cast<const char *>(source.spirv.data()), source.spirv.size_bytes());
    key += std::string(source.entryPoint) + " " + std::to_string(source.bufferCount) + " " +
           std::to_string(source.dimCount) + bindingName(source.binding);
    if (auto known = byContent_.find(key); known != byContent_.end()) {
      places[variant] = known->second;
      continue;
    }
    auto [at, isNew] = contents.try_emplace(key, kernels_.size() + sources.size());
    places[variant] = at->second;
    if (isNew)
      sources.push_back(source);
  }
  if (!sources.empty()) {
    GANTRY_ASSIGN_OR_RETURN(auto made, device_->createKernels(sources, cachePath_));
    for (auto &kernel : made)
      kernels_.push_back(std::move(kernel));
  }
  byVariant_.merge(places);
  byContent_.merge(contents);
  return {};
}

} // namespace gantry::program

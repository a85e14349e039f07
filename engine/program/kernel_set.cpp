// Chooses kernel variants by the device's limits, and compiles pipelines.
#include "engine/program/kernel_set.h"

#include "engine/base/out_of_memory.h"

#include <algorithm>
#include <cinttypes>
#include <climits>
#include <deque>

namespace gantry::program {

namespace {

using artifact::Binding;

device::BindingMode modeOf(const artifact::KernelVariant &variant) {
  switch (variant.binding()) {
  case Binding::address:
    return device::BindingMode::kAddress;
  case Binding::texel:
    return device::BindingMode::kTexel;
  case Binding::storage_buffer:
    break;
  }
  return device::BindingMode::kStorageBuffer;
}

device::TexelFormat formatOf(artifact::TexelFormat format) {
  switch (format) {
  case artifact::TexelFormat::rgba32i:
    return device::TexelFormat::kRgba32i;
  case artifact::TexelFormat::rgba16f:
    return device::TexelFormat::kRgba16f;
  case artifact::TexelFormat::rgba8ui:
    return device::TexelFormat::kRgba8ui;
  case artifact::TexelFormat::rgba32f:
    break;
  }
  return device::TexelFormat::kRgba32f;
}

std::vector<device::TexelRead> texelsOf(const artifact::KernelVariant &variant) {
  std::vector<device::TexelRead> texels;
  for (uint32_t i = 0; variant.texels() && i < variant.texels()->size(); ++i) {
    const artifact::TexelRead &read = *variant.texels()->Get(i);
    texels.push_back({read.buffer(), formatOf(read.format()), read.alone()});
  }
  return texels;
}

/// Describes a variant to the device. The result refers to `texels`, which is texelsOf(variant).
device::KernelSource sourceOf(const artifact::Kernel &kernel,
                              const artifact::KernelVariant &variant,
                              std::span<const device::TexelRead> texels) {
  device::KernelSource source;
  source.name = kernel.name()->string_view();
  source.entryPoint = kernel.entry_point()->string_view();
  source.spirv = {variant.spirv()->data(), variant.spirv()->size()};
  for (uint32_t i = 0; i < 3; ++i)
    source.workgroupSize[i] = artifact::workgroupSizeOf(kernel, variant, i);
  source.subgroupSize = variant.subgroup_size();
  source.bufferCount = kernel.buffer_count();
  source.dimCount = kernel.dim_count();
  source.binding = modeOf(variant);
  source.texels = texels;
  source.sharedBytes = variant.shared_bytes();
  return source;
}

/// Returns whether the device has the capability of that name.
bool hasCapability(const DeviceProfile &profile, std::string_view name) {
  const DeviceFeatures &features = profile.features;
  const std::pair<std::string_view, bool> known[] = {
      {"shaderInt64", features.shaderInt64},
      {"shaderInt8", features.shaderInt8},
      {"shaderInt16", features.shaderInt16},
      {"shaderFloat16", features.shaderFloat16},
      {"shaderFloat64", features.shaderFloat64},
      {"storageBuffer8BitAccess", features.storageBuffer8BitAccess},
      {"storageBuffer16BitAccess", features.storageBuffer16BitAccess},
      {"bufferDeviceAddress", features.bufferDeviceAddress},
      {"subgroupShuffle", features.subgroupShuffle},
      {"integerDotProduct", features.integerDotProduct},
  };
  for (const auto &[known_name, present] : known)
    if (known_name == name)
      return present;
  return std::any_of(profile.matrixShapes.begin(), profile.matrixShapes.end(),
                     [&](const MatrixShape &shape) { return capabilityOf(shape) == name; });
}

Status checkVariant(const artifact::Kernel &kernel, const artifact::KernelVariant &variant,
                    const DeviceProfile &profile) {
  for (const flatbuffers::String *capability : *variant.capabilities())
    if (!hasCapability(profile, capability->string_view()))
      return statusf(StatusCode::kUnsupported, "kernel '%s' needs %s, which the device lacks",
                     kernel.name()->c_str(), capability->c_str());
  return device::checkKernel(sourceOf(kernel, variant, texelsOf(variant)), profile);
}

/// Returns kUnsupported unless the device can bind these buffers in the variant's binding mode,
/// as a whole or in slices (dispatch_split.h).
Status checkBuffers(const artifact::Kernel &kernel, const artifact::KernelVariant &variant,
                    const DeviceProfile &profile, std::span<const BoundBuffer> buffers) {
  for (const device::TexelRead &read : texelsOf(variant))
    if (read.buffer < buffers.size() &&
        buffers[read.buffer].offsetBytes % profile.texelBufferAlignment != 0)
      return statusf(StatusCode::kUnsupported,
                     "kernel '%s' reads a tensor at byte %" PRIu64
                     " as texels; the device's texel buffers begin at multiples of %" PRIu64,
                     kernel.name()->c_str(), buffers[read.buffer].offsetBytes,
                     profile.texelBufferAlignment);
  for (const BoundBuffer &buffer : buffers)
    if (variant.binding() != artifact::Binding::address &&
        buffer.offsetBytes % profile.storageBufferAlignment != 0)
      return statusf(StatusCode::kUnsupported,
                     "kernel '%s' binds a tensor at byte %" PRIu64
                     "; the device's storage buffers begin at multiples of %" PRIu64,
                     kernel.name()->c_str(), buffer.offsetBytes, profile.storageBufferAlignment);
  if (maxSlicesAtOnce(variant, profile, buffers) == 0) {
    uint64_t largest = 0;
    for (const BoundBuffer &buffer : buffers)
      largest = std::max(largest, buffer.sizeBytes);
    return statusf(StatusCode::kUnsupported,
                   "kernel '%s' binds a tensor of %" PRIu64 " bytes; the device's storage buffers "
                   "hold %" PRIu64 ", its texel buffers %" PRIu64
                   " texels, and the kernel can neither use an address nor be split into slices",
                   kernel.name()->c_str(), largest, profile.maxStorageBufferRange,
                   profile.maxTexelBufferElements);
  }
  return {};
}

constexpr int kNever = INT_MAX;

/// Returns the rank of a binding mode. Among the variants that can run, the one with the lowest
/// rank is chosen; variants with the rank kNever are not considered. large: whether a buffer
/// exceeds the device's limit for storage-buffer bindings.
int rankOf(Binding binding, BindingChoice choice, const DeviceProfile &profile, bool large) {
  const bool texel = binding == Binding::texel, address = binding == Binding::address;
  switch (choice) {
  case BindingChoice::kStorageBuffer:
    return texel ? kNever : !address ? 0 : large ? 1 : kNever;
  case BindingChoice::kAddress:
    return address ? 0 : kNever;
  case BindingChoice::kTexel:
    return texel ? 0 : address ? 2 : 1;
  case BindingChoice::kAuto:
    break;
  }
  if (texel)
    return profile.preferTexelLoads ? 0 : 3;
  return address == profile.preferAddressBinding ? 1 : 2;
}

/// Returns whether the kernel's dynamic sizes are multiples of the numbers that the variant needs.
bool allowsDims(const artifact::KernelVariant &variant, std::span<const uint64_t> dims) {
  const auto *multiples = variant.dim_multiples();
  if (!multiples)
    return true;
  if (dims.size() < multiples->size())
    return false;
  for (uint32_t i = 0; i < multiples->size(); ++i)
    if (dims[i] % multiples->Get(i) != 0)
      return false;
  return true;
}

/// Returns the cheapest of the variant and its alternatives (variants that differ only in how the
/// work is divided among workgroups, artifact.fbs) that can run. If `workgroups` is empty, the
/// costs are unknown, and the variant is returned.
const artifact::KernelVariant *
cheapestAlternative(const artifact::Kernel &kernel, const artifact::KernelVariant &variant,
                    const DeviceProfile &profile, std::span<const BoundBuffer> buffers,
                    std::span<const double> workgroups, std::span<const uint64_t> dims) {
  if (variant.alternatives() == 0 || workgroups.empty())
    return &variant;
  const auto costOf = [&](const artifact::KernelVariant &each) {
    return static_cast<double>(each.workgroup_cost()) * workgroups[each.grid()];
  };
  const artifact::KernelVariant *best = &variant;
  for (const artifact::KernelVariant *other : *kernel.variants())
    if (other->alternatives() == variant.alternatives() && other->binding() == variant.binding() &&
        costOf(*other) < costOf(*best) && allowsDims(*other, dims) &&
        checkVariant(kernel, *other, profile).isOk() &&
        checkBuffers(kernel, *other, profile, buffers).isOk())
      best = other;
  return best;
}

const char *choiceText(BindingChoice choice) {
  return choice == BindingChoice::kAddress ? "by address" : "storage buffers";
}

} // namespace

const char *bindingName(device::BindingMode mode) {
  switch (mode) {
  case device::BindingMode::kAddress:
    return "address";
  case device::BindingMode::kTexel:
    return "texel";
  case device::BindingMode::kStorageBuffer:
    break;
  }
  return "storage_buffer";
}

Result<BindingChoice> parseBinding(const std::string &name) {
  std::string text = name;
  std::replace(text.begin(), text.end(), '_', '-');
  const std::pair<const char *, BindingChoice> known[] = {
      {"auto", BindingChoice::kAuto},
      {"storage-buffer", BindingChoice::kStorageBuffer},
      {"address", BindingChoice::kAddress},
      {"texel", BindingChoice::kTexel}};
  for (const auto &[knownName, choice] : known)
    if (text == knownName)
      return choice;
  return statusf(StatusCode::kInvalidArgument,
                 "no binding is named \"%s\"; the names are: auto, storage-buffer, address, texel",
                 name.c_str());
}

Result<const artifact::KernelVariant *>
chooseVariant(const artifact::Kernel &kernel, BindingChoice choice, const DeviceProfile &profile,
              std::span<const BoundBuffer> buffers, std::span<const double> workgroups,
              std::span<const uint64_t> dims) {
  const bool large = std::any_of(buffers.begin(), buffers.end(), [&](const BoundBuffer &buffer) {
    return buffer.sizeBytes > profile.maxStorageBufferRange;
  });
  Status reason;
  const artifact::KernelVariant *best = nullptr;
  std::pair<int, int64_t> bestRank{kNever, 0};
  for (const artifact::KernelVariant *variant : *kernel.variants()) {
    // Among variants with the same binding mode, the one with the highest KernelVariant.grid
    // (artifact.fbs) is preferred; the compiler numbers them accordingly.
    const std::pair rank{rankOf(variant->binding(), choice, profile, large),
                         -static_cast<int64_t>(variant->grid())};
    if (rank.first == kNever || rank >= bestRank || !allowsDims(*variant, dims))
      continue;
    Status status = checkVariant(kernel, *variant, profile);
    if (status.isOk())
      status = checkBuffers(kernel, *variant, profile, buffers);
    if (status.isOk()) {
      best = variant;
      bestRank = rank;
    } else if (reason.isOk()) {
      reason = std::move(status);
    }
  }
  if (best)
    return cheapestAlternative(kernel, *best, profile, buffers, workgroups, dims);
  if (!reason.isOk())
    return reason;
  return statusf(StatusCode::kUnsupported, "kernel '%s' has no variant that binds %s",
                 kernel.name()->c_str(), choiceText(choice));
}

Status
KernelSet::require(std::span<const std::pair<uint32_t, const artifact::KernelVariant *>> wanted) {
  std::vector<device::KernelSource> sources;
  std::deque<std::vector<device::TexelRead>> texels; // Owns the lists to which `sources` refer.
  std::map<const artifact::KernelVariant *, size_t> places; // Indices in kernels_ after creation.
  std::map<std::string, size_t> contents;
  for (const auto &[index, variant] : wanted) {
    if (byVariant_.contains(variant) || places.contains(variant))
      continue;
    texels.push_back(texelsOf(*variant));
    const device::KernelSource source =
        sourceOf(*program_->metadata().kernels()->Get(index), *variant, texels.back());
    std::string key(reinterpret_cast<const char *>(source.spirv.data()), source.spirv.size_bytes());
    key += std::string(source.entryPoint) + " " + std::to_string(source.bufferCount) + " " +
           std::to_string(source.dimCount) + bindingName(source.binding) +
           std::to_string(source.subgroupSize);
    for (const device::TexelRead &read : source.texels) {
      key += read.alone ? " alone " : " also ";
      key += std::to_string(read.buffer);
      key += " format " + std::to_string(static_cast<int>(read.format)) + " ";
    }
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
    // Reports earlier failed allocations (out_of_memory.h) before the long compilation.
    GANTRY_RETURN_IF_ERROR(checkHostMemory());
    GANTRY_ASSIGN_OR_RETURN(auto made, device_->createKernels(sources, cachePath_));
    GANTRY_RETURN_IF_ERROR(checkHostMemory());
    for (auto &kernel : made)
      kernels_.push_back(std::move(kernel));
  }
  byVariant_.merge(places);
  byContent_.merge(contents);
  return {};
}

} // namespace gantry::program

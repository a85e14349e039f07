// The kernels of a session: which variant each dispatch uses, compiled once each.
//
// Threads: one at a time.
#pragma once

#include "engine/device/device.h"
#include "engine/program/parts.h"
#include "engine/program/program.h"

#include <map>
#include <utility>

namespace gantry::program {

/// kTexel: texel buffers where a kernel reads some and what is bound allows it, else storage
/// buffers.
enum class BindingChoice { kAuto, kStorageBuffer, kAddress, kTexel };

const char *bindingName(device::BindingMode mode); // "storage_buffer", "address", "texel"

/// "auto", "storage-buffer", "address", "texel" ("_" for "-" is taken, too); any other name is
/// kInvalidArgument.
Result<BindingChoice> parseBinding(const std::string &name);

/// The variant of a kernel for these buffers (as many as the kernel has; or none, where they are
/// not known yet and count as small): the binding that is asked for, or that the device prefers.
/// Others take its place where the buffers go beyond the device's limits: storage buffers for texel
/// buffers, addresses for storage buffers. kUnsupported says why none of the kernel's variants can
/// run.
Result<const artifact::KernelVariant *> chooseVariant(const artifact::Kernel &kernel,
                                                      BindingChoice choice,
                                                      const DeviceProfile &profile,
                                                      std::span<const BoundBuffer> buffers);

class KernelSet {
public:
  KernelSet(std::shared_ptr<const Program> program, std::shared_ptr<device::Device> device,
            std::optional<std::string> cachePath)
      : program_(std::move(program)), device_(std::move(device)), cachePath_(std::move(cachePath)) {
  }

  /// Compiles those of the variants that are not there yet, all at once.
  Status require(std::span<const std::pair<uint32_t, const artifact::KernelVariant *>> wanted);
  /// One that was required.
  device::Kernel &get(const artifact::KernelVariant *variant) const {
    return *kernels_[byVariant_.at(variant)];
  }
  size_t pipelineCount() const { return kernels_.size(); }

private:
  std::shared_ptr<const Program> program_;
  std::shared_ptr<device::Device> device_;
  std::optional<std::string> cachePath_;
  std::vector<std::unique_ptr<device::Kernel>> kernels_;
  std::map<const artifact::KernelVariant *, size_t> byVariant_;
  std::map<std::string, size_t> byContent_; // equal code, equal interface: one pipeline
};

} // namespace gantry::program

// The kernels of a session: the choice of a variant for each dispatch, and the compiled pipelines,
// each made once.
//
// Threads: one at a time.
#pragma once

#include "engine/device/device.h"
#include "engine/program/dispatch_split.h"
#include "engine/program/program.h"

#include <map>
#include <utility>

namespace gantry::program {

/// The binding mode that a session asks for. kAuto: the mode that the device prefers. kTexel: texel
/// buffers for kernels that read them if the bound buffers allow it, else storage buffers.
enum class BindingChoice { kAuto, kStorageBuffer, kAddress, kTexel };

/// The mode's name in descriptions and messages: "storage_buffer", "address" or "texel".
const char *bindingName(device::BindingMode mode);

/// Parses "auto", "storage-buffer", "address" or "texel"; "_" may stand for "-". Any other name is
/// kInvalidArgument.
Result<BindingChoice> parseBinding(const std::string &name);

/// Chooses the variant of a kernel for the given buffers: one element per buffer of the kernel, or
/// none if the sizes are not known yet, which counts as small. The variant has the binding mode of
/// `choice` if possible. If the buffers exceed the device's limits, storage buffers replace texel
/// buffers, and addresses replace storage buffers. Returns kUnsupported with the reason if no
/// variant can run.
Result<const artifact::KernelVariant *> chooseVariant(const artifact::Kernel &kernel,
                                                      BindingChoice choice,
                                                      const DeviceProfile &profile,
                                                      std::span<const BoundBuffer> buffers);

/// The pipelines of one session.
class KernelSet {
public:
  KernelSet(std::shared_ptr<const Program> program, std::shared_ptr<device::Device> device,
            std::optional<std::string> cachePath)
      : program_(std::move(program)), device_(std::move(device)), cachePath_(std::move(cachePath)) {
  }

  /// Compiles those of the variants that were not compiled before, in parallel. Each pair is the
  /// index of a kernel in the program and a variant of that kernel.
  Status require(std::span<const std::pair<uint32_t, const artifact::KernelVariant *>> wanted);
  /// Returns the pipeline of a variant that was passed to require().
  device::Kernel &get(const artifact::KernelVariant *variant) const {
    return *kernels_[byVariant_.at(variant)];
  }
  size_t pipelineCount() const { return kernels_.size(); }

private:
  std::shared_ptr<const Program> program_;
  std::shared_ptr<device::Device> device_;
  std::optional<std::string> cachePath_;
  std::vector<std::unique_ptr<device::Kernel>> kernels_;
  std::map<const artifact::KernelVariant *, size_t> byVariant_; // Indices in kernels_.
  std::map<std::string, size_t> byContent_; // Variants with equal code and interface share one.
};

} // namespace gantry::program

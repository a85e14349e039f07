// A picture of the user interface without a window: for reports, tests and machines without a
// screen.
//
// The same device, size and content give the same pixels. Errors: those of the driver. Threads:
// none.
#pragma once

#include "engine/base/status.h"
#include "profiler_gui/platform/gpu.h"
#include "profiler_gui/platform/png.h"
#include "profiler_gui/platform/ui_backend.h"

#include <memory>

namespace gantry::profiler {

class Offscreen {
public:
  static Result<std::unique_ptr<Offscreen>> create(uint32_t width, uint32_t height, float scale);
  ~Offscreen();
  Offscreen(const Offscreen &) = delete;
  Offscreen &operator=(const Offscreen &) = delete;

  UiBackend &ui() { return *ui_; }
  const Gpu &gpu() const { return *gpu_; }
  /// Before a frame's ImGui::NewFrame().
  void beginFrame(float deltaSeconds);
  /// After ImGui::Render(): draws and reads back.
  Result<Picture> render(Canvas &canvas, uint32_t clearColour);

private:
  Offscreen() = default;
  Status createTarget();
  Status createPass();

  uint32_t width_ = 0;
  uint32_t height_ = 0;
  std::unique_ptr<Gpu> gpu_;
  VkImage image_ = VK_NULL_HANDLE;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
  VkImageView view_ = VK_NULL_HANDLE;
  VkRenderPass pass_ = VK_NULL_HANDLE;
  VkFramebuffer framebuffer_ = VK_NULL_HANDLE;
  VkCommandPool commandPool_ = VK_NULL_HANDLE;
  HostBuffer readback_;
  std::unique_ptr<UiBackend> ui_;
};

} // namespace gantry::profiler

// Renders the user interface to a picture without a window: for reports, tests and machines without
// a display.
//
// The same device, size and contents give the same pixels. Errors: those of Gpu, UiBackend and
// CanvasRenderer. Threads: one at a time, because ImGui has one current context.
#pragma once

#include "engine/base/status.h"
#include "profiler_gui/platform/gpu.h"
#include "profiler_gui/platform/png.h"
#include "profiler_gui/platform/ui_backend.h"

#include <memory>

namespace gantry::profiler {

class Offscreen {
public:
  /// width and height are pixels; `scale` is the factor on font sizes and spacing. Creates ImGui's
  /// context.
  static Result<std::unique_ptr<Offscreen>> create(uint32_t width, uint32_t height, float scale);
  ~Offscreen();
  Offscreen(const Offscreen &) = delete;
  Offscreen &operator=(const Offscreen &) = delete;

  UiBackend &ui() { return *ui_; }
  const Gpu &gpu() const { return *gpu_; }
  /// Call it before ImGui::NewFrame(). deltaSeconds is the time since the last frame.
  void beginFrame(float deltaSeconds);
  /// Call it after ImGui::Render(): draws the frame, waits for the device, and returns the picture.
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

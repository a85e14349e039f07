// Draws the shapes of a Canvas (panels/canvas.h) with two Vulkan pipelines: instanced rectangles,
// and rasters of cells. The shaders are in shaders/profiler and are compiled during the build.
//
// In each frame, call upload() before ImGui's draw data is recorded. During the recording, ImGui
// calls the canvas's callback for each batch. The caller chooses a frame slot for each frame. Each
// slot has its own buffers, so that a frame in flight is not overwritten.
//
// Errors: kInternal with the failed Vulkan call; kUnsupported if the picture needs more memory than
// the device allows. Threads: one at a time.
#pragma once

#include "engine/base/status.h"
#include "profiler_gui/panels/canvas.h"
#include "profiler_gui/platform/gpu.h"

#include <array>
#include <memory>

namespace gantry::profiler {

class CanvasRenderer {
public:
  static constexpr uint32_t kFrameSlots = 3;

  /// `gpu` must outlive the renderer. The pipelines draw in subpass 0 of `pass`.
  static Result<std::unique_ptr<CanvasRenderer>> create(const Gpu &gpu, VkRenderPass pass);
  ~CanvasRenderer();
  CanvasRenderer(const CanvasRenderer &) = delete;
  CanvasRenderer &operator=(const CanvasRenderer &) = delete;

  /// Copies the canvas's shapes to the buffers of a frame slot. `slot` must be below kFrameSlots,
  /// and its last frame must be complete. Sets the canvas's drawer, which records into `commands`.
  /// displaySize is in ImGui's pixels; pixelScale is the number of device pixels per ImGui pixel.
  Status upload(Canvas &canvas, uint32_t slot, VkCommandBuffer commands, ImVec2 displaySize,
                ImVec2 pixelScale);

private:
  struct Slot {
    HostBuffer rects, cells;
    VkDescriptorSet set = VK_NULL_HANDLE;
  };
  explicit CanvasRenderer(const Gpu &gpu) : gpu_(gpu) {}
  Status createLayouts();
  Status createPipelines(VkRenderPass pass);
  static void draw(void *self, const Canvas::Batch &batch, const ImDrawCmd &cmd);
  void drawBatch(const Canvas::Batch &batch, const ImDrawCmd &cmd);

  const Gpu &gpu_;
  VkDescriptorSetLayout setLayout_ = VK_NULL_HANDLE;
  VkDescriptorPool pool_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkPipeline rectPipeline_ = VK_NULL_HANDLE;
  VkPipeline rasterPipeline_ = VK_NULL_HANDLE;
  std::array<Slot, kFrameSlots> slots_;
  // The frame that is being recorded.
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  uint32_t slot_ = 0;
  ImVec2 displaySize_;
  ImVec2 pixelScale_;
};

} // namespace gantry::profiler

// Draws a Canvas (panels/canvas.h) with two pipelines: instanced rectangles and rasters of cells.
// The shaders are in shaders/, compiled while building.
//
// A frame: upload() before ImGui's draw data is recorded, then ImGui calls back batch by batch.
// Buffers are kept per frame slot, so that a frame in flight keeps its own.
//
// Errors: kInternal with the driver's call. Threads: none of its own.
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

  static Result<std::unique_ptr<CanvasRenderer>> create(const Gpu &gpu, VkRenderPass pass);
  ~CanvasRenderer();
  CanvasRenderer(const CanvasRenderer &) = delete;
  CanvasRenderer &operator=(const CanvasRenderer &) = delete;

  /// Before the draw data of this canvas is recorded into `commands`.
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
  // of the frame being recorded:
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  uint32_t slot_ = 0;
  ImVec2 displaySize_;
  ImVec2 pixelScale_;
};

} // namespace gantry::profiler

// What ImGui cannot draw: many rectangles, and rasters of cells. Panels put them into ImGui's draw
// lists in order with everything else; platform/canvas_renderer.h draws them with pipelines of
// their own (Dear ImGui 1.86 has neither instances nor textures of the user in its Vulkan backend).
//
// A frame: begin(), then add…() while panels draw, then the renderer uploads rects() and cells()
// and is called back in the order of the draw lists.
//
// Coordinates are ImGui's. Colours are ImU32 (red in the low byte, alpha in the high).
// Threads: that of the user interface.
#pragma once

#include <imgui.h>

#include <cstdint>
#include <span>
#include <vector>

namespace gantry::profiler {

/// Bits of RectInstance::style; shaders/profiler/rects.frag has the same numbers.
enum RectStyle : uint32_t {
  kRectPlain = 0,
  kRectEdge = 1,
  kRectHatch = 2,
  kRectOutline = 4,
  kRectDashed = 8,
  kRectBold = 16,
};

struct RectInstance {
  float left, top, right, bottom;
  uint32_t fill;
  uint32_t style;
};
static_assert(sizeof(RectInstance) == 24, "read by shaders/profiler/rects.vert");

/// A part of cells() as a picture of columns × rows, row 0 first.
struct RasterImage {
  uint32_t firstCell = 0;
  uint32_t columns = 0;
  uint32_t rows = 0;
};

class Canvas {
public:
  enum class Shape : uint8_t { kRects, kRaster };
  struct Batch {
    Shape shape;
    uint32_t firstRect, rectCount; // kRects
    RasterImage image;             // kRaster
    float rect[4];                 // left, top, right, bottom
    float cells[4];                // the same corners in cells
    float opacity;
  };
  /// Draws one batch; cmd has the clip rectangle. Called while ImGui's draw data is recorded.
  using Drawer = void (*)(void *context, const Batch &batch, const ImDrawCmd &cmd);

  void begin();
  void addRects(ImDrawList &list, std::span<const RectInstance> rects);
  /// Cells of premultiplied colour, to be drawn by addRaster in this frame.
  RasterImage addCells(std::span<const uint32_t> cells, uint32_t columns, uint32_t rows);
  void addRaster(ImDrawList &list, const RasterImage &image, ImVec2 low, ImVec2 high,
                 const float (&cells)[4], float opacity);

  const std::vector<RectInstance> &rects() const { return rects_; }
  const std::vector<uint32_t> &cells() const { return cells_; }
  void setDrawer(Drawer drawer, void *context) {
    drawer_ = drawer;
    context_ = context;
  }

private:
  static void callback(const ImDrawList *list, const ImDrawCmd *cmd);
  void add(ImDrawList &list, const Batch &batch);

  std::vector<RectInstance> rects_;
  std::vector<uint32_t> cells_;
  std::vector<Batch> batches_;
  Drawer drawer_ = nullptr;
  void *context_ = nullptr;
};

} // namespace gantry::profiler

// Collects shapes that ImGui cannot draw efficiently: many rectangles, and rasters of coloured
// cells. The Vulkan backend of Dear ImGui 1.86 has neither instancing nor user textures.
//
// The shapes keep their place in the drawing order: each batch puts a callback into ImGui's draw
// list. platform/canvas_renderer.h draws the batches with its own pipelines.
//
// A frame: call begin(); panels call addRects(), addCells() and addRaster(); then the renderer
// uploads rects() and cells() and is called back in the order of the draw lists. Only one canvas
// may be in use per frame.
//
// Coordinates are ImGui's pixels. Colours are ImU32: red in the low byte, alpha in the high byte.
// Threads: the user interface's thread.
#pragma once

#include <imgui.h>

#include <cstdint>
#include <span>
#include <vector>

namespace gantry::profiler {

/// Bits of RectInstance::style. shaders/profiler/rects.frag uses the same numbers.
enum RectStyle : uint32_t {
  kRectPlain = 0,
  kRectEdge = 1,    // A darker line at the right and top edges, if the rectangle is large enough.
  kRectHatch = 2,   // Diagonal lines instead of a fill.
  kRectOutline = 4, // An outline without a fill.
  kRectDashed = 8,  // Dashes the outline.
  kRectBold = 16,   // Doubles the outline's width.
};

/// One rectangle, in the layout that the vertex shader reads.
struct RectInstance {
  float left, top, right, bottom;
  uint32_t fill;
  uint32_t style;
};
static_assert(sizeof(RectInstance) == 24, "read by shaders/profiler/rects.vert");

/// A range of Canvas::cells() that holds an image of columns × rows cells, row 0 first.
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
    uint32_t firstRect, rectCount; // A range of rects(). Valid for kRects.
    // The other members are valid for kRaster.
    RasterImage image;
    float rect[4];  // Left, top, right, bottom in pixels.
    float cells[4]; // The same edges in cells of the image.
    float opacity;  // 0 to 1.
  };
  /// A function that draws one batch while ImGui's draw data is recorded; `cmd` has the clip
  /// rectangle.
  using Drawer = void (*)(void *context, const Batch &batch, const ImDrawCmd &cmd);

  /// Starts a frame and discards the shapes of the last one.
  void begin();
  /// Copies rectangles into the canvas, and draws them at the current place of the draw list.
  void addRects(ImDrawList &list, std::span<const RectInstance> rects);
  /// Copies columns × rows cells into the canvas, and returns the image for addRaster() in the same
  /// frame. The colours must be premultiplied by alpha.
  RasterImage addCells(std::span<const uint32_t> cells, uint32_t columns, uint32_t rows);
  /// Draws the part `cells` (left, top, right, bottom, in cells) of an image into a rectangle.
  void addRaster(ImDrawList &list, const RasterImage &image, ImVec2 low, ImVec2 high,
                 const float (&cells)[4], float opacity);

  const std::vector<RectInstance> &rects() const { return rects_; }
  const std::vector<uint32_t> &cells() const { return cells_; }
  /// Sets the function that draws the batches of this frame.
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

// Implements Canvas.
#include "profiler_gui/panels/canvas.h"

namespace gantry::profiler {
namespace {
// ImGui passes a single pointer to a draw callback, and this pointer carries the batch's number.
// The callback therefore finds the canvas here.
const Canvas *currentCanvas = nullptr;
} // namespace

void Canvas::begin() {
  rects_.clear();
  cells_.clear();
  batches_.clear();
  currentCanvas = this;
}

void Canvas::callback(const ImDrawList *, const ImDrawCmd *cmd) {
  const Canvas &canvas = *currentCanvas;
  const size_t batch = reinterpret_cast<size_t>(cmd->UserCallbackData);
  if (canvas.drawer_ != nullptr)
    canvas.drawer_(canvas.context_, canvas.batches_[batch], *cmd);
}

void Canvas::add(ImDrawList &list, const Batch &batch) {
  list.AddCallback(callback, reinterpret_cast<void *>(batches_.size()));
  list.AddCallback(ImDrawCallback_ResetRenderState, nullptr);
  batches_.push_back(batch);
}

void Canvas::addRects(ImDrawList &list, std::span<const RectInstance> rects) {
  if (rects.empty())
    return;
  Batch batch{};
  batch.shape = Shape::kRects;
  batch.firstRect = static_cast<uint32_t>(rects_.size());
  batch.rectCount = static_cast<uint32_t>(rects.size());
  rects_.insert(rects_.end(), rects.begin(), rects.end());
  add(list, batch);
}

RasterImage Canvas::addCells(std::span<const uint32_t> cells, uint32_t columns, uint32_t rows) {
  const RasterImage image{static_cast<uint32_t>(cells_.size()), columns, rows};
  cells_.insert(cells_.end(), cells.begin(), cells.end());
  return image;
}

void Canvas::addRaster(ImDrawList &list, const RasterImage &image, ImVec2 low, ImVec2 high,
                       const float (&cells)[4], float opacity) {
  if (image.columns == 0 || image.rows == 0)
    return;
  Batch batch{};
  batch.shape = Shape::kRaster;
  batch.image = image;
  batch.opacity = opacity;
  batch.rect[0] = low.x;
  batch.rect[1] = low.y;
  batch.rect[2] = high.x;
  batch.rect[3] = high.y;
  for (size_t i = 0; i < 4; ++i)
    batch.cells[i] = cells[i];
  add(list, batch);
}

} // namespace gantry::profiler

#version 450
// Draws a raster, an image of coloured cells (raster.vert). The colour of a pixel is the mean of
// the cells under the pixel, weighted by the area of each cell inside of the pixel, so that no cell
// is lost where cells are smaller than pixels.
layout(push_constant) uniform Quad {
  vec2 scale;
  vec2 translate;
  vec4 rect;
  vec4 cells;
  uint firstCell;
  uint columns;
  uint rows;
  float opacity;
} quad;

layout(std430, set = 0, binding = 0) readonly buffer Cells { uint cells[]; } source;

layout(location = 0) in vec2 inCell;
layout(location = 0) out vec4 outColour;

void main() {
  vec2 perPixel = abs((quad.cells.zw - quad.cells.xy) / (quad.rect.zw - quad.rect.xy));
  vec2 low = clamp(inCell - 0.5 * perPixel, vec2(0.0), vec2(quad.columns, quad.rows));
  vec2 high = clamp(inCell + 0.5 * perPixel, vec2(0.0), vec2(quad.columns, quad.rows));
  ivec2 first = ivec2(floor(low));
  ivec2 last = min(ivec2(ceil(high)), ivec2(quad.columns, quad.rows));
  vec4 sum = vec4(0.0);
  for (int y = first.y; y < last.y; ++y) {
    float height = min(high.y, float(y + 1)) - max(low.y, float(y));
    for (int x = first.x; x < last.x; ++x) {
      float width = min(high.x, float(x + 1)) - max(low.x, float(x));
      uint cell = source.cells[quad.firstCell + uint(y) * quad.columns + uint(x)];
      sum += unpackUnorm4x8(cell) * (width * height);
    }
  }
  outColour = sum / max(perPixel.x * perPixel.y, 1e-6) * quad.opacity; // Premultiplied alpha.
}

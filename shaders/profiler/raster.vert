#version 450
// Computes the corners of the rectangle in which a raster is drawn. A raster is an image of
// coloured cells (DensityGrid in profiler_gui/model/index/density_grid.h); raster.frag draws the
// cells.
layout(push_constant) uniform Quad {
  vec2 scale; // Converts pixels to clip space, with translate.
  vec2 translate;
  vec4 rect;  // Left, top, right, bottom in pixels.
  vec4 cells; // The same edges, as positions in the raster; unit: cells.
  uint firstCell;
  uint columns;
  uint rows;
  float opacity;
} quad;

layout(location = 0) out vec2 outCell;

void main() {
  vec2 corner = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1);
  vec2 pixel = mix(quad.rect.xy, quad.rect.zw, corner);
  gl_Position = vec4(pixel * quad.scale + quad.translate, 0.0, 1.0);
  outCell = mix(quad.cells.xy, quad.cells.zw, corner);
}

#version 450
// Draws the profiler's rectangles. Each rectangle is one instance (RectInstance in
// profiler_gui/panels/canvas.h), drawn as a quad whose corners follow from gl_VertexIndex. The quad
// is half a pixel larger than the rectangle on each side, so that the fragment shader runs for
// every pixel that the rectangle touches.
layout(location = 0) in vec4 inRect; // Left, top, right, bottom in pixels.
layout(location = 1) in uint inFill;
layout(location = 2) in uint inStyle;

layout(push_constant) uniform Frame {
  vec2 scale; // Pixels to clip space.
  vec2 translate;
} frame;

layout(location = 0) flat out vec4 outRect;
layout(location = 1) flat out vec4 outFill;
layout(location = 2) flat out uint outStyle;
layout(location = 3) out vec2 outPixel;

void main() {
  vec2 corner = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1);
  vec2 pixel = mix(inRect.xy - 0.5, inRect.zw + 0.5, corner);
  gl_Position = vec4(pixel * frame.scale + frame.translate, 0.0, 1.0);
  outRect = inRect;
  outFill = unpackUnorm4x8(inFill);
  outStyle = inStyle;
  outPixel = pixel;
}

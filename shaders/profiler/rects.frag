#version 450
// Draws a rectangle (rects.vert). The alpha of a pixel is multiplied by the share of the pixel that
// the rectangle covers, so that a rectangle thinner than a pixel is drawn fainter, not wider. The
// style bits are those of profiler_gui/panels/canvas.h.
layout(location = 0) flat in vec4 inRect;
layout(location = 1) flat in vec4 inFill;
layout(location = 2) flat in uint inStyle;
layout(location = 3) in vec2 inPixel;

layout(location = 0) out vec4 outColour;

const uint kEdge = 1u;    // A darker line on the right and at the top, if there is space.
const uint kHatch = 2u;   // Diagonal stripes instead of a plain fill.
const uint kOutline = 4u; // Only the outline.
const uint kDashed = 8u;  // A dashed outline.
const uint kBold = 16u;   // An outline of two pixels.

void main() {
  vec2 covered = clamp(min(inPixel + 0.5, inRect.zw) - max(inPixel - 0.5, inRect.xy), 0.0, 1.0);
  float alpha = inFill.a * covered.x * covered.y;
  vec3 colour = inFill.rgb;
  vec2 size = inRect.zw - inRect.xy;
  vec2 fromLow = inPixel - inRect.xy;
  vec2 fromHigh = inRect.zw - inPixel;
  if ((inStyle & kOutline) != 0u) {
    float width = (inStyle & kBold) != 0u ? 2.0 : 1.0;
    vec2 near = min(fromLow, fromHigh);
    bool onEdge = near.x < width || near.y < width;
    if ((inStyle & kDashed) != 0u) {
      float along = near.x < near.y ? inPixel.y : inPixel.x;
      onEdge = onEdge && mod(along, 7.0) < 4.0;
    }
    alpha = onEdge ? alpha : 0.0;
  } else if ((inStyle & kHatch) != 0u) {
    alpha *= mod(inPixel.x + inPixel.y, 8.0) < 3.0 ? 1.0 : 0.0;
  } else if ((inStyle & kEdge) != 0u) {
    bool onEdge = (size.x > 4.0 && fromHigh.x < 1.0) || (size.y > 4.0 && fromLow.y < 1.0);
    colour *= onEdge ? 0.72 : 1.0;
  }
  outColour = vec4(colour, alpha);
}

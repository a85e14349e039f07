// The fonts of the user interface. platform/ui_backend.h creates them in ImGui's font atlas, which
// owns them. Sizes are pixels at scale 1. Threads: plain data.
#pragma once

struct ImFont;

namespace gantry::profiler {

struct Fonts {
  ImFont *text = nullptr;    // Inter 15
  ImFont *small = nullptr;   // Inter 12
  ImFont *strong = nullptr;  // Inter SemiBold 15
  ImFont *numbers = nullptr; // JetBrains Mono 13
  float scale = 1.0f;        // Factor on all font sizes and on the lengths of layout.h.
};

} // namespace gantry::profiler

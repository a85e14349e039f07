// The fonts of the user interface, made by platform/ui_backend.h. Threads: values.
#pragma once

struct ImFont;

namespace gantry::profiler {

struct Fonts {
  ImFont *text = nullptr;    // Inter 15
  ImFont *small = nullptr;   // Inter 12
  ImFont *strong = nullptr;  // Inter SemiBold 15
  ImFont *numbers = nullptr; // JetBrains Mono 13
  float scale = 1.0f;
};

} // namespace gantry::profiler

// Dear ImGui over a Vulkan render pass: context, fonts, and the recording of a frame with its
// canvas.
//
// ImGui's units are pixels of the target; `scale` makes fonts and spacing larger on dense screens.
// Inter is the text's font, JetBrains Mono that of numbers, both rendered by FreeType with light
// hinting. They are looked for where distributions put them and under $GANTRY_FONTS; without them
// ImGui's own font serves, and fontNote() says so.
//
// Threads: one at a time, since ImGui has one current context.
#pragma once

#include "engine/base/status.h"
#include "profiler_gui/panels/canvas.h"
#include "profiler_gui/panels/fonts.h"
#include "profiler_gui/platform/canvas_renderer.h"
#include "profiler_gui/platform/gpu.h"

#include <memory>
#include <string>

namespace gantry::profiler {

class UiBackend {
public:
  /// imageCount: how many frames may be in flight, at least 2.
  static Result<std::unique_ptr<UiBackend>> create(const Gpu &gpu, VkRenderPass pass,
                                                   uint32_t imageCount, float scale);
  ~UiBackend();
  UiBackend(const UiBackend &) = delete;
  UiBackend &operator=(const UiBackend &) = delete;

  const Fonts &fonts() const { return fonts_; }
  const std::string &fontNote() const { return fontNote_; } // "" where all fonts were found

  /// Between ImGui::Render() and the end of the render pass.
  Status record(Canvas &canvas, uint32_t slot, VkCommandBuffer commands);

private:
  explicit UiBackend(const Gpu &gpu) : gpu_(gpu) {}
  void loadFonts(float scale);
  Status uploadFonts();

  const Gpu &gpu_;
  VkDescriptorPool pool_ = VK_NULL_HANDLE;
  std::unique_ptr<CanvasRenderer> canvas_;
  Fonts fonts_;
  std::string fontNote_;
  bool imguiReady_ = false;
};

} // namespace gantry::profiler

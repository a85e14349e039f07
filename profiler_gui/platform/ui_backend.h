// Connects Dear ImGui to a Vulkan render pass: creates the context and the fonts, and records a
// frame with its canvas. The window (app_window.h) and the offscreen target (offscreen.h) use it.
//
// `scale` enlarges fonts and spacing on screens with a high resolution. Text uses Inter, numbers
// use JetBrains Mono; FreeType renders both with light hinting. The font files are searched in
// $GANTRY_FONTS, in the program's install prefix, and in the folders of distributions. If a file is
// missing, ImGui's built-in font is used and fontNote() names the file.
//
// Errors: kInternal with the failed Vulkan call, and those of CanvasRenderer. Threads: one at a
// time, because ImGui has one current context.
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
  /// Creates ImGui's context. `gpu` must outlive the backend; `pass` is the pass of later record()
  /// calls. imageCount is the number of frames in flight, at least 2. `scale` is at least 1.
  static Result<std::unique_ptr<UiBackend>> create(const Gpu &gpu, VkRenderPass pass,
                                                   uint32_t imageCount, float scale);
  ~UiBackend();
  UiBackend(const UiBackend &) = delete;
  UiBackend &operator=(const UiBackend &) = delete;

  const Fonts &fonts() const { return fonts_; }
  /// A message about missing fonts; "" if all fonts were found.
  const std::string &fontNote() const { return fontNote_; }

  /// Records ImGui's draw data and the canvas. Call it inside the render pass, after
  /// ImGui::Render(). `slot` is as in CanvasRenderer::upload().
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

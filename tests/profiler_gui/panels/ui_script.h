// A person at the profiler, as a script: moves the pointer, clicks, turns the wheel, drags, types,
// and looks at what is on the screen. Drawn offscreen, without a window.
#pragma once

#include "profiler_gui/model/source.h"
#include "profiler_gui/panels/profiler_window.h"
#include "profiler_gui/platform/offscreen.h"
#include "tests/support/synthetic_capture.h"

#include <memory>
#include <string>

namespace gantry::profiler {

class UiScript {
public:
  /// The capture is kept; nullptr where no device can draw, with why() told.
  static std::unique_ptr<UiScript> open(const test::SyntheticOptions &options, uint32_t width,
                                        uint32_t height, std::string *why);

  static std::unique_ptr<UiScript> open(test::SyntheticCapture capture, uint32_t width,
                                        uint32_t height, std::string *why);
  /// A capture that is being watched: only its first events have come; grow() brings more.
  static std::unique_ptr<UiScript> openLive(test::SyntheticCapture capture, size_t events,
                                            uint32_t width, uint32_t height, std::string *why);
  void grow(size_t events);
  /// The same, of an artifact or a capture in a file.
  static std::unique_ptr<UiScript> openFile(const std::string &path, uint32_t width,
                                            uint32_t height, std::string *why);

  void hover(float x, float y);
  void click(float x, float y);
  void wheel(float clicks, bool shift = false);
  void drag(float x0, float y0, float x1, float y1, int button = 0);
  void type(const std::string &text);
  /// All of it before the next frame, as on a machine that draws slowly.
  void typeAtOnce(const std::string &text);
  void press(int key, bool ctrl = false); // GLFW's number
  void frame();

  /// The item with this id; fails the test where it is not on the screen.
  SemanticItem item(const std::string &id);
  const SemanticItem *find(const std::string &id) { return window_->semantics().find(id); }
  uint32_t pixel(float x, float y) const;
  const Picture &picture() const { return picture_; }
  ProfilerWindow &window() { return *window_; }
  const CaptureModel &model() const { return loaded_ != nullptr ? loaded_->model : model_; }
  const Gpu &gpu() const { return screen_->gpu(); }

private:
  static std::unique_ptr<UiScript> screen(uint32_t width, uint32_t height, std::string *why);
  void look(const std::string &title);

  std::unique_ptr<LoadedCapture> loaded_; // Set for a capture file; otherwise the next two are.
  test::SyntheticCapture capture_;
  CaptureModel model_;
  size_t ingested_ = 0; // events of capture_
  std::unique_ptr<Offscreen> screen_;
  std::unique_ptr<ProfilerWindow> window_;
  Picture picture_;
};

} // namespace gantry::profiler

// A scripted user for tests of the profiler. UiScript moves the pointer, clicks, turns the wheel,
// drags and types, and gives access to the pixels of the result and to its semantics (semantics.h):
// the list of the visible items with their texts, rectangles and colours. It draws offscreen.
//
// Each action draws frames until it has taken effect. Only one script may exist at a time, because
// there is one ImGui context. Coordinates are pixels.
#pragma once

#include "profiler_gui/model/capture/load_capture.h"
#include "profiler_gui/panels/profiler_window.h"
#include "profiler_gui/platform/offscreen.h"
#include "tests/support/synthetic_capture.h"

#include <memory>
#include <string>

namespace gantry::profiler {

class UiScript {
public:
  /// Opens a synthetic capture. Returns nullptr and sets *why if no device can draw.
  static std::unique_ptr<UiScript> open(const test::SyntheticOptions &options, uint32_t width,
                                        uint32_t height, std::string *why);
  static std::unique_ptr<UiScript> open(test::SyntheticCapture capture, uint32_t width,
                                        uint32_t height, std::string *why);
  /// Opens a live capture that has received only its first `events` events; grow() adds more.
  static std::unique_ptr<UiScript> openLive(test::SyntheticCapture capture, size_t events,
                                            uint32_t width, uint32_t height, std::string *why);
  void grow(size_t events);
  /// Opens an artifact or a capture from a file.
  static std::unique_ptr<UiScript> openFile(const std::string &path, uint32_t width,
                                            uint32_t height, std::string *why);

  void hover(float x, float y);
  void click(float x, float y);
  void wheel(float clicks, bool shift = false);
  void drag(float x0, float y0, float x1, float y1, int button = 0);
  void type(const std::string &text);
  /// Types the whole text before the next frame, as on a machine that draws slowly.
  void typeAtOnce(const std::string &text);
  /// Presses a key, by GLFW's number.
  void press(int key, bool ctrl = false);
  void frame();

  /// The item with this id; fails the test if it is not on the screen.
  SemanticItem item(const std::string &id);
  const SemanticItem *find(const std::string &id) { return window_->semantics().find(id); }
  /// The colour of a pixel in the last frame; 0 outside of the picture.
  uint32_t pixel(float x, float y) const;
  const Picture &picture() const { return picture_; }
  ProfilerWindow &window() { return *window_; }
  const CaptureModel &model() const { return loaded_ != nullptr ? loaded_->model : model_; }
  const Gpu &gpu() const { return screen_->gpu(); }

private:
  static std::unique_ptr<UiScript> screen(uint32_t width, uint32_t height, std::string *why);
  void look(const std::string &title);

  /// Set by openFile(); the other functions use capture_ and model_.
  std::unique_ptr<LoadedCapture> loaded_;
  test::SyntheticCapture capture_;
  CaptureModel model_;
  size_t ingested_ = 0; // Number of events of capture_ that model_ has.
  std::unique_ptr<Offscreen> screen_;
  std::unique_ptr<ProfilerWindow> window_;
  Picture picture_;
};

} // namespace gantry::profiler

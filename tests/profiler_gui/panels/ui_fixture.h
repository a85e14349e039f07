// The fixture of tests with one offscreen window. It opens a synthetic capture, skips the test if
// no device can draw, and fails the test if the validation layer reports anything.
#pragma once

#include "tests/profiler_gui/panels/ui_script.h"

#include <gtest/gtest.h>

namespace gantry::profiler {

class UiFixture : public testing::Test {
protected:
  static constexpr uint32_t kWidth = 1280;
  static constexpr uint32_t kHeight = 720;

  void SetUp() override { open(test::makeSyntheticCapture({})); }
  void TearDown() override {
    if (script_ != nullptr) {
      EXPECT_EQ(script_->gpu().validationMessages(), 0);
    }
  }
  void open(test::SyntheticCapture capture) {
    script_.reset();
    std::string why;
    script_ = UiScript::open(std::move(capture), kWidth, kHeight, &why);
    if (script_ == nullptr)
      GTEST_SKIP() << why;
  }
  Ui &ui() { return script_->window().ui(); }
  static float midX(const ScreenRect &rect) { return (rect.left + rect.right) / 2; }
  static float midY(const ScreenRect &rect) { return (rect.top + rect.bottom) / 2; }

  std::unique_ptr<UiScript> script_;
};

} // namespace gantry::profiler

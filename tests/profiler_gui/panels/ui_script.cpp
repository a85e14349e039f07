// Implements UiScript.
#include "tests/profiler_gui/panels/ui_script.h"

#include <GLFW/glfw3.h>
#include <gtest/gtest.h>
#include <imgui.h>

#include <algorithm>
#include <span>
#include <utility>

namespace gantry::profiler {

std::unique_ptr<UiScript> UiScript::screen(uint32_t width, uint32_t height, std::string *why) {
  auto script = std::make_unique<UiScript>();
  Result<std::unique_ptr<Offscreen>> screen = Offscreen::create(width, height, 1);
  if (!screen.isOk()) {
    *why = screen.status().message();
    return nullptr;
  }
  script->screen_ = screen.take();
  ImGuiIO &io = ImGui::GetIO();
  io.KeyMap[ImGuiKey_Escape] = GLFW_KEY_ESCAPE;
  io.KeyMap[ImGuiKey_Enter] = GLFW_KEY_ENTER;
  io.KeyMap[ImGuiKey_Backspace] = GLFW_KEY_BACKSPACE;
  io.KeyMap[ImGuiKey_DownArrow] = GLFW_KEY_DOWN;
  io.KeyMap[ImGuiKey_UpArrow] = GLFW_KEY_UP;
  return script;
}

void UiScript::look(const std::string &title) {
  window_ = std::make_unique<ProfilerWindow>(screen_->ui().fonts());
  window_->setSemantics(true);
  window_->show(model(), title);
  frame();
  frame();
}

std::unique_ptr<UiScript> UiScript::open(const test::SyntheticOptions &options, uint32_t width,
                                         uint32_t height, std::string *why) {
  return open(test::makeSyntheticCapture(options), width, height, why);
}

std::unique_ptr<UiScript> UiScript::open(test::SyntheticCapture capture, uint32_t width,
                                         uint32_t height, std::string *why) {
  std::unique_ptr<UiScript> script = screen(width, height, why);
  if (script == nullptr)
    return nullptr;
  script->capture_ = std::move(capture);
  script->model_.ingest(script->capture_.events, script->capture_.names);
  script->model_.finish();
  script->look("synthetic.gtrace");
  return script;
}

std::unique_ptr<UiScript> UiScript::openLive(test::SyntheticCapture capture, size_t events,
                                             uint32_t width, uint32_t height, std::string *why) {
  std::unique_ptr<UiScript> script = screen(width, height, why);
  if (script == nullptr)
    return nullptr;
  script->capture_ = std::move(capture);
  script->window_ = std::make_unique<ProfilerWindow>(script->screen_->ui().fonts());
  script->window_->setSemantics(true);
  script->window_->ui().live = true;
  script->window_->show(script->model_, "live");
  script->grow(events);
  return script;
}

void UiScript::grow(size_t events) {
  const size_t count = std::min(events, capture_.events.size() - ingested_);
  model_.ingest(std::span(capture_.events).subspan(ingested_, count), capture_.names);
  ingested_ += count;
  model_.update();
  window_->modelGrew();
  frame();
  frame();
}

std::unique_ptr<UiScript> UiScript::openFile(const std::string &path, uint32_t width,
                                             uint32_t height, std::string *why) {
  std::unique_ptr<UiScript> script = screen(width, height, why);
  if (script == nullptr)
    return nullptr;
  Result<std::unique_ptr<LoadedCapture>> loaded = loadCapture(path);
  EXPECT_TRUE(loaded.isOk()) << loaded.status().message();
  script->loaded_ = loaded.take();
  script->look(path);
  return script;
}

void UiScript::frame() {
  screen_->beginFrame(1.0f / 60);
  ImGui::NewFrame();
  window_->frame();
  ImGui::Render();
  Result<Picture> picture = screen_->render(window_->canvas(), window_->ui().theme->background);
  ASSERT_TRUE(picture.isOk()) << picture.status().message();
  picture_ = picture.take();
}

void UiScript::hover(float x, float y) {
  ImGui::GetIO().MousePos = {x, y};
  frame();
  frame();
}

void UiScript::click(float x, float y) {
  hover(x, y);
  ImGui::GetIO().MouseDown[0] = true;
  frame();
  ImGui::GetIO().MouseDown[0] = false;
  frame();
  frame();
}

void UiScript::wheel(float clicks, bool shift) {
  ImGui::GetIO().MouseWheel = clicks;
  ImGui::GetIO().KeyShift = shift;
  frame();
  ImGui::GetIO().KeyShift = false;
  frame();
}

void UiScript::drag(float x0, float y0, float x1, float y1, int button) {
  hover(x0, y0);
  ImGui::GetIO().MouseDown[button] = true;
  frame();
  ImGui::GetIO().MousePos = {(x0 + x1) / 2, (y0 + y1) / 2};
  frame();
  ImGui::GetIO().MousePos = {x1, y1};
  frame();
  ImGui::GetIO().MouseDown[button] = false;
  frame();
  frame();
}

void UiScript::type(const std::string &text) {
  for (const char character : text) {
    ImGui::GetIO().AddInputCharacter(static_cast<unsigned char>(character));
    frame();
  }
  frame();
}

void UiScript::typeAtOnce(const std::string &text) {
  for (const char character : text)
    ImGui::GetIO().AddInputCharacter(static_cast<unsigned char>(character));
  for (int i = 0; i < 5; ++i)
    frame();
}

void UiScript::press(int key, bool ctrl) {
  ImGui::GetIO().KeyCtrl = ctrl;
  ImGui::GetIO().KeysDown[key] = true;
  frame();
  ImGui::GetIO().KeysDown[key] = false;
  ImGui::GetIO().KeyCtrl = false;
  frame();
  frame();
}

SemanticItem UiScript::item(const std::string &id) {
  const SemanticItem *found = find(id);
  EXPECT_NE(found, nullptr) << id << " is not on the screen";
  return found != nullptr ? *found : SemanticItem();
}

uint32_t UiScript::pixel(float x, float y) const {
  const auto column = static_cast<uint32_t>(x);
  const auto row = static_cast<uint32_t>(y);
  return column < picture_.width && row < picture_.height
             ? picture_.pixels[size_t{row} * picture_.width + column]
             : 0;
}

} // namespace gantry::profiler

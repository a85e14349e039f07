// Implements TypeAhead.
#include "profiler_gui/panels/type_ahead.h"

namespace gantry::profiler {

namespace {
/// A field that does not have the keyboard after this many frames will not get it.
constexpr int kMaxWaitFrames = 10;
} // namespace

void TypeAhead::open() {
  waiting_ = true;
  enter_ = false;
  delivered_ = false;
  frames_ = 0;
  held_.clear();
}

void TypeAhead::close() {
  waiting_ = false;
  active_ = false;
  held_.clear();
}

void TypeAhead::hold(int first) {
  if (!waiting_ || delivered_)
    return;
  ImVector<ImWchar> &queue = ImGui::GetIO().InputQueueCharacters;
  for (int i = first; i < queue.Size; ++i)
    held_.push_back(queue[i]);
  queue.resize(0);
  if (!active_) // An active field receives Enter itself.
    enter_ = enter_ || ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Enter), false);
}

bool TypeAhead::deliver() {
  if (!waiting_)
    return false;
  if (delivered_) { // The field has read everything in the last frame.
    waiting_ = false;
    return enter_;
  }
  if (!active_) {
    if (++frames_ > kMaxWaitFrames)
      close();
    return false;
  }
  ImGuiIO &io = ImGui::GetIO();
  for (const ImWchar character : held_)
    io.AddInputCharacter(character);
  held_.clear();
  delivered_ = true;
  return false;
}

} // namespace gantry::profiler

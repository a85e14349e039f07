// Keeps the characters that the user types between the key that opens a text field and the frame in
// which the field has the keyboard.
//
// Dear ImGui gives a field the keyboard one or two frames after the request, and a slow frame
// collects several keys. Without this class, typing "/relu" fast would search for "lu", and "r" and
// "e" would run commands. Typed characters and Enter are held here in order and delivered to the
// field once it has the keyboard.
//
// In each frame call hold() before keys are handled, deliver() before the field is drawn, and
// noteActive() after it is drawn. Threads: ImGui's thread.
#pragma once

#include <imgui.h>

#include <vector>

namespace gantry::profiler {

class TypeAhead {
public:
  /// Call it when the field is asked to take the keyboard.
  void open();
  /// Discards the held characters.
  void close();
  /// Whether keys are held: true from open() until the field has received all of them.
  bool waiting() const { return waiting_; }

  /// While waiting, moves the characters from index `first` on and an Enter out of ImGui's input.
  void hold(int first = 0);
  /// Delivers the held characters if the field had the keyboard in the last frame. Returns true
  /// once, when all characters are in the field and Enter was among the keys; the caller then
  /// treats the text as entered.
  bool deliver();
  /// Sets whether the field has the keyboard: ImGui::IsItemActive() after the field is drawn.
  void noteActive(bool active) { active_ = active; }
  bool active() const { return active_; }

private:
  bool waiting_ = false;
  bool active_ = false;
  bool enter_ = false;
  bool delivered_ = false;
  int frames_ = 0; // Frames since open().
  std::vector<ImWchar> held_;
};

} // namespace gantry::profiler

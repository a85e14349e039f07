// What is typed between the key that opens a text field and the frame in which the field takes the
// keyboard.
//
// Dear ImGui gives a field the keyboard one or two frames after it was asked to, and a slow frame
// collects several keys. Without this, "/relu" typed fast would search for "lu", and "r" and "e"
// would be commands. Typed characters and Enter wait here, in order, and are handed to the field
// when it listens.
//
// A frame: hold() before keys are looked at, deliver() before the field is drawn, noteActive()
// after. Threads: that of ImGui.
#pragma once

#include <imgui.h>

#include <vector>

namespace gantry::profiler {

class TypeAhead {
public:
  /// The field was asked to take the keyboard.
  void open();
  void close();
  bool waiting() const { return waiting_; }

  /// While waiting, takes the characters from number `first` on out of ImGui's queue, and an Enter.
  void hold(int first = 0);
  /// Hands over what waited if the field listened in the last frame. True if Enter was among it and
  /// every character is in: the caller does what Enter does.
  bool deliver();
  /// Whether the field has the keyboard, as ImGui::IsItemActive() says after it was drawn.
  void noteActive(bool active) { active_ = active; }
  bool active() const { return active_; }

private:
  bool waiting_ = false;
  bool active_ = false;
  bool enter_ = false;
  bool delivered_ = false;
  int frames_ = 0; // since open()
  std::vector<ImWchar> held_;
};

} // namespace gantry::profiler

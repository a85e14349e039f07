// The command palette: a list of all commands. Typing reduces the list to the commands that match;
// Enter or a click runs one. A command may use the palette to ask for a line of text.
//
// Threads: ImGui's thread.
#pragma once

#include "profiler_gui/panels/type_ahead.h"
#include "profiler_gui/panels/ui.h"

#include <functional>
#include <string>
#include <vector>

namespace gantry::profiler {

struct PaletteCommand {
  std::string name;
  std::string keys; // The keyboard shortcut, for example "F"; "" if there is none.
  std::function<void()> run;
};

class Palette {
public:
  /// Opens the list of commands.
  void open() {
    open_ = true;
    justOpened_ = true;
    keys_.open();
    then_ = nullptr;
  }
  /// Opens as a question. `then` is called with the typed text when Enter is pressed.
  void ask(std::string question, std::function<void(const std::string &)> then) {
    open();
    question_ = std::move(question);
    then_ = std::move(then);
  }
  bool isOpen() const { return open_; }
  void close() {
    open_ = false;
    keys_.close();
  }
  /// Keeps characters that are typed before the palette's text field has the keyboard
  /// (type_ahead.h). Call it before keys are handled.
  void hold() { keys_.hold(); }
  /// Draws the palette if it is open, and runs the chosen command.
  void draw(Ui &ui, const std::vector<PaletteCommand> &commands);

private:
  void drawQuestion(Ui &ui);

  bool open_ = false;
  bool justOpened_ = false;
  TypeAhead keys_;
  char text_[1024] = "";
  int chosen_ = 0; // Index in the list of matching commands.
  std::string question_;
  std::function<void(const std::string &)> then_; // Empty while commands are listed.
};

} // namespace gantry::profiler

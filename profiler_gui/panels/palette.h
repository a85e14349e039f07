// The command palette: all commands by name, narrowed by typing, run with Enter or a click. A
// command may ask for a line of text in the same place.
#pragma once

#include "profiler_gui/panels/type_ahead.h"
#include "profiler_gui/panels/ui.h"

#include <functional>
#include <string>
#include <vector>

namespace gantry::profiler {

struct PaletteCommand {
  std::string name;
  std::string keys; // "F"; "" where it has none
  std::function<void()> run;
};

class Palette {
public:
  void open() {
    open_ = true;
    justOpened_ = true;
    keys_.open();
    then_ = nullptr;
  }
  /// Opens as a question; `then` gets what was typed when Enter is pressed.
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
  /// Before keys are looked at: what is typed before the palette's field listens waits for it.
  void hold() { keys_.hold(); }
  void draw(Ui &ui, const std::vector<PaletteCommand> &commands);

private:
  void drawQuestion(Ui &ui);

  bool open_ = false;
  bool justOpened_ = false;
  TypeAhead keys_;
  char text_[1024] = "";
  int chosen_ = 0;
  std::string question_;
  std::function<void(const std::string &)> then_; // none: commands are listed
};

} // namespace gantry::profiler

// The command palette: all commands by name, narrowed by typing, run with Enter or a click.
#pragma once

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
  }
  bool isOpen() const { return open_; }
  void close() { open_ = false; }
  void draw(Ui &ui, const std::vector<PaletteCommand> &commands);

private:
  bool open_ = false;
  bool justOpened_ = false;
  char text_[64] = "";
  int chosen_ = 0;
};

} // namespace gantry::profiler

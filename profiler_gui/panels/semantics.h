// What is on the screen, in words: each thing that a person can see or use, with its role,
// rectangle, text and colour. Tests ask it what is shown and where, and then look at the pixels
// there.
//
// It is filled while a frame is drawn, at the cost of a string per thing, and only when asked for.
// Threads: that of the user interface.
#pragma once

#include "engine/base/status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gantry::profiler {

struct ScreenRect {
  float left = 0, top = 0, right = 0, bottom = 0;
  float width() const { return right - left; }
  float height() const { return bottom - top; }
  bool contains(float x, float y) const { return x >= left && x < right && y >= top && y < bottom; }
};

struct SemanticItem {
  std::string id;   // "heap/1/budget"
  std::string role; // "panel", "line", "block", "dispatch", "label", "button", "text", "finding"
                    // A column of pixels that several dispatches share: "dispatches", "bars".
  ScreenRect rect;
  std::string text;
  uint32_t colour = 0;
};

class Semantics {
public:
  void begin(bool wanted) {
    wanted_ = wanted;
    items_.clear();
    prefix_.clear();
  }
  bool wanted() const { return wanted_; }
  /// What the ids of all that is added from now on begin with.
  void setPrefix(std::string prefix) { prefix_ = std::move(prefix); }
  void add(const std::string &id, std::string role, const ScreenRect &rect, std::string text,
           uint32_t colour = 0) {
    if (wanted_)
      items_.push_back({prefix_ + id, std::move(role), rect, std::move(text), colour});
  }
  const std::vector<SemanticItem> &items() const { return items_; }
  /// The first item with this id, or nullptr.
  const SemanticItem *find(const std::string &id) const;
  /// One line a thing, tab-separated: id, role, left, top, right, bottom, #rrggbbaa, text.
  std::string dump() const;

private:
  bool wanted_ = false;
  std::string prefix_;
  std::vector<SemanticItem> items_;
};

} // namespace gantry::profiler

// A description of the screen as a list of items: each item that the user can see or use, with its
// role, rectangle, text and colour. Tests use the list to find an item, and then check the pixels
// in its rectangle.
//
// Panels add items while they draw a frame. Each item allocates strings, so panels add items only
// if the caller wants the description. Coordinates are pixels. Threads: the user interface's
// thread.
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
  std::string id; // Path such as "heap/1/budget". Not unique: labels of one kind share an id.
  /// The kind of the item: "panel", "line", "block", "dispatch", "label", "button", "text",
  /// "finding" and others. Several dispatches that share a pixel column are one item with the role
  /// "dispatches" or "bars".
  std::string role;
  ScreenRect rect;
  std::string text;
  uint32_t colour = 0;
};

class Semantics {
public:
  /// Starts a frame. If `wanted` is false, add() does nothing.
  void begin(bool wanted) {
    wanted_ = wanted;
    items_.clear();
    prefix_.clear();
  }
  bool wanted() const { return wanted_; }
  /// Sets a prefix for the ids of all items that are added from now on.
  void setPrefix(std::string prefix) { prefix_ = std::move(prefix); }
  void add(const std::string &id, std::string role, const ScreenRect &rect, std::string text,
           uint32_t colour = 0) {
    if (wanted_)
      items_.push_back({prefix_ + id, std::move(role), rect, std::move(text), colour});
  }
  const std::vector<SemanticItem> &items() const { return items_; }
  /// The first item with this id, or nullptr.
  const SemanticItem *find(const std::string &id) const;
  /// One line per item, tab-separated: id, role, left, top, right, bottom, #rrggbbaa, text.
  std::string dump() const;

private:
  bool wanted_ = false;
  std::string prefix_;
  std::vector<SemanticItem> items_;
};

} // namespace gantry::profiler

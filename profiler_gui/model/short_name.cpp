// Implements shortName() and shortLocation().
#include "profiler_gui/model/short_name.h"

#include <algorithm>
#include <vector>

namespace gantry::profiler {
namespace {

constexpr std::string_view kEllipsis = "…";
constexpr std::string_view kFused = " + ";

/// The last position at or before `at` where a UTF-8 character begins.
size_t characterAt(std::string_view text, size_t at) {
  while (at > 0 && at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80)
    --at;
  return at;
}

/// One operator's path while leading components are removed.
struct Path {
  std::string_view rest; // The remaining components.
  bool cut = false;      // Whether leading components were removed.

  /// The position of the slash before the second component; npos if there is only one.
  size_t next() const {
    const size_t slash = rest.find('/', 1); // A leading slash belongs to the first component.
    return slash == std::string_view::npos || slash + 1 >= rest.size() ? std::string_view::npos
                                                                       : slash;
  }
};

std::vector<Path> pathsOf(std::string_view text) {
  std::vector<Path> paths;
  while (true) {
    const size_t plus = text.find(kFused);
    paths.push_back({text.substr(0, plus)});
    if (plus == std::string_view::npos)
      return paths;
    text.remove_prefix(plus + kFused.size());
  }
}

std::string joined(const std::vector<Path> &paths) {
  std::string text;
  for (const Path &path : paths) {
    if (!text.empty())
      text += kFused;
    if (path.cut)
      text += kEllipsis;
    text += path.rest;
  }
  return text;
}

/// Removes the leading component of the longest path that has several components. Returns false if
/// each path has only one component.
bool dropScope(std::vector<Path> *paths) {
  Path *longest = nullptr;
  for (Path &path : *paths) {
    if (path.next() != std::string_view::npos &&
        (longest == nullptr || path.rest.size() > longest->rest.size()))
      longest = &path;
  }
  if (longest == nullptr)
    return false;
  longest->rest.remove_prefix(longest->next());
  longest->cut = true;
  return true;
}

/// Keeps as many characters as fit, half of them from each end. Returns "" if none fit.
std::string cutInTheMiddle(std::string_view text,
                           const std::function<bool(std::string_view)> &fits) {
  const auto keeping = [&](size_t bytes) {
    const size_t front = characterAt(text, bytes / 2);
    size_t back = text.size() - (bytes - bytes / 2);
    while (back < text.size() && (static_cast<unsigned char>(text[back]) & 0xc0) == 0x80)
      ++back;
    return std::string(text.substr(0, front)).append(kEllipsis).append(text.substr(back));
  };
  size_t low = 0;
  size_t high = text.size() - 1;
  while (low < high) {
    const size_t middle = (low + high + 1) / 2;
    if (fits(keeping(middle)))
      low = middle;
    else
      high = middle - 1;
  }
  return low == 0 ? "" : keeping(low);
}

} // namespace

std::string shortName(std::string_view text, const std::function<bool(std::string_view)> &fits) {
  if (text.empty() || fits(text))
    return std::string(text);
  std::vector<Path> paths = pathsOf(text);
  std::string shorter(text);
  while (dropScope(&paths)) {
    shorter = joined(paths);
    if (fits(shorter))
      return shorter;
  }
  for (Path &path : paths) { // Keeps only the last components, without "…/".
    if (path.cut && path.rest.starts_with('/'))
      path.rest.remove_prefix(1);
    path.cut = false;
  }
  shorter = joined(paths);
  return fits(shorter) ? shorter : cutInTheMiddle(shorter, fits);
}

std::string shortLocation(std::string_view location) {
  const size_t colon = location.find(':');
  const size_t slash = location.substr(0, colon).rfind('/');
  return std::string(slash == std::string_view::npos ? location : location.substr(slash + 1));
}

} // namespace gantry::profiler

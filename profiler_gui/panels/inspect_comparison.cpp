// Nothing selected while two captures are compared: what the second has more or less than the
// first.
#include "profiler_gui/panels/inspector.h"

#include "profiler_gui/model/text.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace gantry::profiler {
namespace {

std::string timeDifferenceText(double ns) {
  std::string text = timeText(ns); // which writes the minus
  if (ns > 0)
    text.insert(0, 1, '+');
  return text;
}

/// The second time as a multiple of the first: " · ×1.32"; "" where either is not known.
std::string ratioOf(const std::array<double, 2> &timeNs) {
  return timeNs[0] > 0 && timeNs[1] > 0 ? "  ·  " + ratioText(timeNs[1] / timeNs[0])
                                        : std::string();
}

/// A name with its difference, and under it both values.
void row(InspectorPage &page, const std::string &name, const std::string &first,
         const std::string &second, const std::string &difference, const std::string &id) {
  page.pair(name, difference, (id + "/difference").c_str());
  page.detail(first + "  →  " + second, (id + "/both").c_str());
}

void memory(InspectorPage &page, const std::vector<ComparedMemory> &list, const char *what) {
  for (size_t i = 0; i < list.size(); ++i) {
    const ComparedMemory &each = list[i];
    row(page, each.name, bytesText(each.peakBytes[0]), bytesText(each.peakBytes[1]),
        bytesDifferenceText(static_cast<int64_t>(each.peakBytes[1] - each.peakBytes[0])),
        std::string("compare/") + what + "/" + std::to_string(i));
  }
}

/// The rows that differ most; those that do not differ are counted.
void byBytes(InspectorPage &page, const char *title, const char *what,
             const std::vector<ComparedRow> &rows, size_t most) {
  page.section(title);
  size_t same = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].bytesMore() == 0)
      ++same;
    else if (i < most)
      row(page, rows[i].name, bytesText(rows[i].bytes[0]), bytesText(rows[i].bytes[1]),
          bytesDifferenceText(rows[i].bytesMore()),
          std::string("compare/") + what + "/" + std::to_string(i));
  }
  const size_t differing = rows.size() - same;
  const std::string more =
      differing > most ? "and " + countText(differing - most) + " more, " : std::string();
  page.line(more + countText(same) + " without a difference", page.ui().theme->dim,
            (std::string("compare/") + what + "/same").c_str());
}

} // namespace

void inspectComparison(InspectorPage &page, const Comparison &comparison,
                       const std::string &secondTitle) {
  Ui &ui = page.ui();
  page.heading("differences", "inspector/name");
  page.chip(ui.title, ui.theme->curve);
  page.chip(secondTitle, ui.theme->second);
  const bool timed = !ui.model->modelled() && (ui.second == nullptr || !ui.second->modelled());
  page.section("peaks");
  memory(page, comparison.heaps, "heap");
  memory(page, comparison.arenas, "arena");
  if (timed && (comparison.runNs[0] > 0 || comparison.runNs[1] > 0))
    row(page, "time of a run", timeText(comparison.runNs[0]),
        timeText(comparison.runNs[1]) + ratioOf(comparison.runNs),
        timeDifferenceText(comparison.runNs[1] - comparison.runNs[0]), "compare/run");
  byBytes(page, "blocks at the peak", "block", comparison.blocks, 3);
  byBytes(page, "values at the arena's peak", "value", comparison.values, 4);
  if (!timed) {
    page.line("an artifact that never ran has no times", ui.theme->dim, "compare/modelled");
    return;
  }
  page.section("operators, time a run");
  for (size_t i = 0; page.hasRoom() && i < std::min<size_t>(comparison.operators.size(), 24); ++i) {
    const ComparedRow &each = comparison.operators[i];
    if (each.timeMore() == 0 && each.bytesMore() == 0)
      break;
    const std::string bytes =
        each.bytesMore() == 0 ? "" : "  ·  " + bytesDifferenceText(each.bytesMore());
    row(page, each.name, timeText(each.timeNs[0]),
        timeText(each.timeNs[1]) + ratioOf(each.timeNs) + bytes,
        timeDifferenceText(each.timeMore()), "compare/operator/" + std::to_string(i));
  }
}

} // namespace gantry::profiler

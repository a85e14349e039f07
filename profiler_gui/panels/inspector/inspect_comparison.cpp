// Implements inspectComparison(), the page for an empty selection while two captures are compared.
#include "profiler_gui/panels/inspector/inspector.h"

#include "profiler_gui/model/quantity_text.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace gantry::profiler {
namespace {

std::string timeDifferenceText(double ns) {
  std::string text = timeText(ns); // A negative time already has its sign.
  if (ns > 0)
    text.insert(0, 1, '+');
  return text;
}

/// Returns the second time as a multiple of the first, for example "  ·  ×1.32"; "" if a time is
/// unknown.
std::string ratioOf(const std::array<double, 2> &timeNs) {
  return timeNs[0] > 0 && timeNs[1] > 0 ? "  ·  " + ratioText(timeNs[1] / timeNs[0])
                                        : std::string();
}

/// Adds a line with a name and the difference, and a line with both values below.
void addRow(InspectorPage &page, const std::string &name, const std::string &first,
            const std::string &second, const std::string &difference, const std::string &id) {
  page.pair(name, difference, (id + "/difference").c_str());
  page.detail(first + "  →  " + second, (id + "/both").c_str());
}

/// Lists heaps or arenas. `what` is part of the ids of their lines (inspector.h).
void addPeaks(InspectorPage &page, const std::vector<ComparedMemory> &list, const char *what) {
  for (size_t i = 0; i < list.size(); ++i) {
    const ComparedMemory &each = list[i];
    addRow(page, each.name, bytesText(each.peakBytes[0]), bytesText(each.peakBytes[1]),
           bytesDifferenceText(static_cast<int64_t>(each.peakBytes[1] - each.peakBytes[0])),
           std::string("compare/") + what + "/" + std::to_string(i));
  }
}

/// Lists those of the first maxRows rows that differ, and counts the other rows. `what` is part of
/// the ids of the lines (inspector.h).
void addByBytes(InspectorPage &page, const char *title, const char *what,
                const std::vector<ComparedRow> &rows, size_t maxRows) {
  page.section(title);
  size_t same = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].bytesMore() == 0)
      ++same;
    else if (i < maxRows)
      addRow(page, rows[i].name, bytesText(rows[i].bytes[0]), bytesText(rows[i].bytes[1]),
             bytesDifferenceText(rows[i].bytesMore()),
             std::string("compare/") + what + "/" + std::to_string(i));
  }
  const size_t differing = rows.size() - same;
  const std::string more =
      differing > maxRows ? "and " + countText(differing - maxRows) + " more, " : std::string();
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
  addPeaks(page, comparison.heaps, "heap");
  addPeaks(page, comparison.arenas, "arena");
  if (timed && (comparison.runNs[0] > 0 || comparison.runNs[1] > 0))
    addRow(page, "time per run", timeText(comparison.runNs[0]),
           timeText(comparison.runNs[1]) + ratioOf(comparison.runNs),
           timeDifferenceText(comparison.runNs[1] - comparison.runNs[0]), "compare/run");
  addByBytes(page, "blocks at the peak", "block", comparison.blocks, 3);
  addByBytes(page, "values at the arena's peak", "value", comparison.values, 4);
  if (!timed) {
    page.line("an artifact that never ran has no times", ui.theme->dim, "compare/modelled");
    return;
  }
  page.section("operators, time per run");
  for (size_t i = 0; page.hasSpace() && i < std::min<size_t>(comparison.operators.size(), 24);
       ++i) {
    const ComparedRow &each = comparison.operators[i];
    if (each.timeMore() == 0 && each.bytesMore() == 0)
      break;
    const std::string bytes =
        each.bytesMore() == 0 ? "" : "  ·  " + bytesDifferenceText(each.bytesMore());
    addRow(page, each.name, timeText(each.timeNs[0]),
           timeText(each.timeNs[1]) + ratioOf(each.timeNs) + bytes,
           timeDifferenceText(each.timeMore()), "compare/operator/" + std::to_string(i));
  }
}

} // namespace gantry::profiler

// Implements inspectCapture(), the page for an empty selection.
#include "profiler_gui/panels/inspector/inspector.h"

#include "profiler_gui/model/quantity_text.h"

#include <algorithm>

namespace gantry::profiler {
namespace {

constexpr size_t kMaxFindings = 8;

void listFindings(InspectorPage &page) {
  Ui &ui = page.ui();
  const std::string title = ui.findings.empty()
                                ? "differences from the plan"
                                : std::to_string(ui.findings.size()) + " differences";
  page.section(title);
  if (ui.findings.empty()) {
    page.line("none: all as planned", ui.theme->dim, "findings/none");
    return;
  }
  for (size_t i = 0; i < std::min(ui.findings.size(), kMaxFindings) && page.hasSpace(); ++i) {
    const Finding &finding = ui.findings[i];
    const float top = page.y();
    page.line(std::string(findingKindName(finding.kind)) + " · " + finding.op, ui.theme->over);
    page.paragraph(finding.text, ui.theme->dim, ("finding_text/" + std::to_string(i)).c_str());
    page.space(0.5f);
    ui.findingRects.push_back({page.left(), top, page.right(), page.y()});
    ui.semantics->add(
        "finding/" + std::to_string(i), "finding", {page.left(), top, page.right(), page.y()},
        std::string(findingKindName(finding.kind)) + ": " + finding.op, ui.theme->over);
  }
  if (ui.findings.size() > kMaxFindings)
    page.line("and " + std::to_string(ui.findings.size() - kMaxFindings) + " more", ui.theme->dim);
}

} // namespace

void inspectCapture(InspectorPage &page) {
  Ui &ui = page.ui();
  const CaptureModel &model = *ui.model;
  page.heading(ui.nameOf(model.process().name, "capture"), "inspector/name");
  if (model.modelled()) {
    page.line("never run: the model has no times", ui.theme->dim, "inspector/modelled");
    page.pair("variants", countText(model.runs().size()), "inspector/variants");
  } else {
    page.pair("events", countText(model.eventCount()), "inspector/events");
    const uint64_t first = std::min(model.firstNs(), model.nowNs());
    page.pair("length", timeText(static_cast<double>(model.nowNs() - first)), "inspector/length");
    page.pair("runs", countText(model.runs().size()), "inspector/runs");
    if (model.timedRuns() < model.runs().size())
      page.pair("with device times", countText(model.timedRuns()), "inspector/timed_runs");
  }
  page.pair(model.modelled() ? "commands of all variants" : "dispatches",
            countText(model.dispatches().size()), "inspector/dispatches");
  inspectWhatIf(page);
  for (const Heap *heap : model.heapsInUse()) {
    page.section(ui.nameOf(heap->name, "heap"));
    page.pair(ui.live ? "live" : "live at the end", bytesText(heap->live.last()), "inspector/live");
    page.pair("peak", bytesText(heap->live.peak()), "inspector/peak");
    page.pair("in slabs", bytesText(heap->reserved.last()), "inspector/reserved");
    page.pair("blocks", countText(heap->liveBlocks), "inspector/blocks");
  }
  for (const Plan &plan : model.plans()) {
    if (&plan - model.plans().data() >= 2)
      break;
    page.section("plan " + std::to_string(plan.id) + " · " + ui.nameOf(plan.shapes, "any shape"));
    page.pair("arena", bytesText(plan.arenaBytes), "inspector/arena");
    page.pair("lower bound", bytesText(plan.lowerBoundBytes), "inspector/bound");
  }
  listFindings(page);
}

} // namespace gantry::profiler

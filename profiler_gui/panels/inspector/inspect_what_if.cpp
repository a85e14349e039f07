// Implements inspectWhatIf().
#include "profiler_gui/panels/inspector/inspector.h"

#include "profiler_gui/model/quantity_text.h"

namespace gantry::profiler {
namespace {

void addOrder(InspectorPage &page, const WhatIf &answer) {
  page.pair("commands moved",
            countText(answer.commandsMoved) + " of " + countText(answer.order.size()),
            "inspector/what_if_moved");
  page.pair("stages", countText(answer.stagesBefore) + " → " + countText(answer.stages),
            "inspector/what_if_stages");
  if (answer.optimal)
    page.line("no order has a lower peak", page.ui().theme->dim, "inspector/what_if_optimal");
}

void addBudget(InspectorPage &page, const WhatIf &answer) {
  Ui &ui = page.ui();
  page.pair("budget", bytesText(answer.budgetBytes), "inspector/what_if_budget");
  if (!answer.fits) {
    page.line("cannot be met", ui.theme->over, "inspector/what_if_misfit");
    page.pair("one command needs", bytesText(answer.minBytes), "inspector/what_if_min");
    const auto &commands = ui.model->plans()[answer.plan].commands;
    if (answer.minCommand < commands.size())
      page.line(ui.nameOf(commands[answer.minCommand].name, "unnamed command"), ui.theme->dim,
                "inspector/what_if_min_command");
    return;
  }
  page.pair("recomputed", countText(answer.recomputed) + " values", "inspector/what_if_recomputed");
  page.pair("to the host and back", bytesText(answer.hostBytes), "inspector/what_if_host");
  page.pair("extra time per run",
            ui.model->modelled() ? "not known: never run" : timeText(answer.extraNs),
            "inspector/what_if_extra");
}

} // namespace

void inspectWhatIf(InspectorPage &page) {
  Ui &ui = page.ui();
  const WhatIf &answer = ui.whatIf;
  if (answer.kind == WhatIf::Kind::kNone ||
      (answer.kind == WhatIf::Kind::kSize && ui.whatIfOf != ui.selected))
    return;
  switch (answer.kind) {
  case WhatIf::Kind::kSize:
    page.section("what if its size were different");
    page.pair("its size", bytesText(answer.valueBytes), "inspector/what_if_size");
    break;
  case WhatIf::Kind::kOrder:
    page.section("what if the order were the planner's");
    addOrder(page, answer);
    break;
  case WhatIf::Kind::kBudget:
    page.section("what if there were a budget");
    addBudget(page, answer);
    break;
  case WhatIf::Kind::kNone:
    break;
  }
  page.pair("arena", bytesText(answer.arenaBytes), "inspector/what_if_arena");
  page.pair("lower bound", bytesText(answer.lowerBoundBytes), "inspector/what_if_bound");
  page.pair("difference",
            bytesDifferenceText(static_cast<int64_t>(answer.arenaBytes) -
                                static_cast<int64_t>(answer.arenaBefore)),
            "inspector/what_if_difference");
}

} // namespace gantry::profiler

// Implements inspectBlock(): a block's size, addresses and times, the commands that write and read
// its value with their locations in the model, and its plan entry.
#include "profiler_gui/panels/inspector/inspector.h"

#include "profiler_gui/model/short_name.h"
#include "profiler_gui/model/quantity_text.h"

#include <algorithm>

namespace gantry::profiler {
namespace {

constexpr size_t kMaxUsers = 6;

/// Lists up to kMaxUsers commands that write or read a value.
void listUsers(InspectorPage &page, const Plan &plan, uint32_t value, bool write) {
  Ui &ui = page.ui();
  size_t count = 0;
  for (const Access &access : plan.accesses) {
    if (access.value != value || access.write != write || access.command >= plan.commands.size())
      continue;
    if (++count > kMaxUsers)
      continue;
    const PlanCommand &command = plan.commands[access.command];
    const std::string id =
        std::string("inspector/") + (write ? "writer/" : "reader/") + std::to_string(count - 1);
    page.line(ui.nameOf(command.name, "unnamed command"), ui.theme->text, id.c_str(), "operator");
    if (command.location != 0)
      page.line("  " + shortLocation(ui.model->text(command.location)), ui.theme->dim,
                (id + "/line").c_str(), "location");
  }
  if (count == 0)
    page.line("none", ui.theme->dim);
  if (count > kMaxUsers)
    page.line("and " + std::to_string(count - kMaxUsers) + " more", ui.theme->dim);
}

void inspectEntry(InspectorPage &page, const Block &block, const AddressSpace &space) {
  Ui &ui = page.ui();
  const PlanEntry &entry = ui.model->planEntries()[block.entry - 1];
  const Plan &plan = ui.model->plans()[entry.plan];
  inspectWhatIf(page);
  page.section("written by");
  listUsers(page, plan, entry.value, true);
  page.section("read by");
  listUsers(page, plan, entry.value, false);
  page.section("plan entry");
  if (entry.storage == Storage::kTransient || entry.storage == Storage::kConstant)
    page.pair("planned at", addressText(entry.offset), "inspector/plan_offset");
  page.pair("planned size", bytesText(entry.sizeBytes), "inspector/plan_size");
  page.pair("commands", std::to_string(entry.firstUse) + " – " + std::to_string(entry.lastUse),
            "inspector/plan_commands");
  page.pair("arena", bytesText(plan.arenaBytes), "inspector/plan_arena");
  page.pair("lower bound", bytesText(plan.lowerBoundBytes), "inspector/plan_bound");
  if (entry.storage == Storage::kTransient) {
    page.line("try half or twice the size:  ,  .", ui.theme->dim, "inspector/what_if_hint");
  }
  const bool shifted = space.kind == SpaceKind::kArena && block.offset != entry.offset;
  if (shifted)
    page.line("not at its planned offset", ui.theme->over, "inspector/mismatch", "warning");
}

} // namespace

void inspectBlock(InspectorPage &page, const Pick &pick) {
  Ui &ui = page.ui();
  const CaptureModel &model = *ui.model;
  if (pick.space >= model.spaces().size() || pick.row >= model.spaces()[pick.space].table.size())
    return;
  const AddressSpace &space = model.spaces()[pick.space];
  const Block block = space.table.at(pick.row);
  page.heading(ui.nameOf(block.name, "unnamed block"), "inspector/name");
  page.chip(blockHueName(block.hue), ui.theme->fill(block.hue));
  page.space(0.5f);
  page.pair("size", bytesText(block.sizeBytes), "inspector/size");
  page.pair("bytes", countText(block.sizeBytes), "inspector/bytes");
  page.pair("from", addressText(block.offset), "inspector/from");
  page.pair("to", addressText(block.endOffset()), "inspector/to");
  page.pair("in", space.label, "inspector/space");
  const bool held = block.endNs == kStillHeld;
  page.times(block.beginNs, held ? model.nowNs() : block.endNs, held);
  if (block.op != 0)
    page.pair("by", model.text(block.op), "inspector/op");
  for (size_t i = 0; i < ui.findings.size(); ++i) {
    const Finding &finding = ui.findings[i];
    if (finding.value == model.text(block.name) && finding.beginNs < block.endNs &&
        finding.endNs > block.beginNs)
      page.paragraph(std::string(findingKindName(finding.kind)) + ": " + finding.text,
                     ui.theme->over, "inspector/finding", "finding");
  }
  if (block.entry != 0 && block.entry <= model.planEntries().size())
    inspectEntry(page, block, space);
}

} // namespace gantry::profiler

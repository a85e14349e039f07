// Implements checkPlans().
#include "profiler_gui/model/analysis/plan_check.h"

#include "profiler_gui/model/quantity_text.h"

#include <algorithm>
#include <map>
#include <utility>

namespace gantry::profiler {
namespace {

/// A block that is larger than needed by at most this many bytes is not reported.
constexpr uint64_t kTolerableBytes = 64 * 1024;
/// A donated block that is still live is reported once this many later runs of its session have
/// ended.
constexpr uint32_t kRunsUntilKept = 2;

class Checker {
public:
  explicit Checker(const CaptureModel &model) : model_(model) {}

  std::vector<Finding> check() {
    const std::vector<Binding> &bindings = model_.bindings();
    for (size_t first = 0; first < bindings.size();) {
      size_t last = first;
      while (last < bindings.size() && bindings[last].run == bindings[first].run)
        ++last;
      checkRun(first, last);
      first = last;
    }
    for (const Suspect &suspect : model_.growth().suspects())
      addLeak(suspect);
    std::stable_sort(findings_.begin(), findings_.end(),
                     [](const Finding &a, const Finding &b) { return a.beginNs < b.beginNs; });
    return std::move(findings_);
  }

private:
  /// A transient and its offset in the arena: the recorded one, or the planned one if none was
  /// recorded.
  struct Placed {
    const PlanEntry *entry;
    uint64_t offset;
    bool moved; // Whether the offset differs from the plan.
  };

  std::string text(uint32_t name) const { return std::string(model_.text(name)); }

  /// Checks the bindings [first, last) of one run.
  void checkRun(size_t first, size_t last) {
    const Run &run = model_.runs()[model_.bindings()[first].run];
    if (run.plan >= model_.plans().size())
      return;
    const Plan &plan = model_.plans()[run.plan];
    std::vector<std::pair<const PlanEntry *, uint64_t>> inArena;
    for (size_t i = first; i < last; ++i) {
      const Binding &binding = model_.bindings()[i];
      const PlanEntry *entry = model_.entryOf(plan, binding.value);
      if (entry == nullptr)
        continue;
      if (binding.inArena && entry->storage == Storage::kTransient) {
        inArena.emplace_back(entry, binding.blockOffset);
        continue;
      }
      if (!binding.inArena)
        checkSize(run, *entry, binding);
      if (binding.donated)
        checkDonation(run, plan, *entry, binding);
    }
    checkOffsets(run, plan, inArena);
  }

  void checkOffsets(const Run &run, const Plan &plan,
                    const std::vector<std::pair<const PlanEntry *, uint64_t>> &inArena) {
    bool anyMoved = false;
    for (const auto &[entry, offset] : inArena) {
      if (offset == entry->offset)
        continue;
      anyMoved = true;
      Finding finding = about(run, plan, *entry, FindingKind::kOffsetShifted);
      finding.lowAddress = offset;
      finding.highAddress = offset + entry->sizeBytes;
      finding.text = finding.value + " lay at " + addressText(offset) + ", planned at " +
                     addressText(entry->offset);
      findings_.push_back(std::move(finding));
    }
    if (!anyMoved)
      return; // The session has checked that the planned offsets are legal
              // (engine/program/shape_plan.h).
    std::vector<Placed> placed;
    for (const uint32_t index : plan.entries) {
      const PlanEntry &entry = model_.planEntries()[index];
      if (entry.storage != Storage::kTransient)
        continue;
      Placed at{&entry, entry.offset, false};
      for (const auto &[value, offset] : inArena) {
        if (value == &entry && offset != entry.offset)
          at = {&entry, offset, true};
      }
      placed.push_back(at);
    }
    for (const Placed &moved : placed) {
      if (moved.moved)
        checkAliases(run, plan, moved, placed);
    }
  }

  /// Reports the first value of another slot that shares bytes with a moved value while both are
  /// live.
  void checkAliases(const Run &run, const Plan &plan, const Placed &moved,
                    const std::vector<Placed> &placed) {
    for (const Placed &other : placed) {
      const PlanEntry &a = *moved.entry;
      const PlanEntry &b = *other.entry;
      if (&a == &b || a.slot == b.slot || a.firstUse > b.lastUse || b.firstUse > a.lastUse)
        continue;
      const uint64_t low = std::max(moved.offset, other.offset);
      const uint64_t high = std::min(moved.offset + a.sizeBytes, other.offset + b.sizeBytes);
      if (low >= high)
        continue;
      Finding finding = about(run, plan, a, FindingKind::kIllegalAlias);
      finding.lowAddress = low;
      finding.highAddress = high;
      finding.text = finding.value + " shares " + bytesText(high - low) + " with " + text(b.name) +
                     " while both are alive";
      findings_.push_back(std::move(finding));
      return; // One finding per moved value is enough.
    }
  }

  void checkSize(const Run &run, const PlanEntry &entry, const Binding &binding) {
    if (entry.storage != Storage::kOutput && entry.storage != Storage::kInput)
      return;
    uint64_t needed = entry.sizeBytes + binding.blockOffset;
    for (const Plan &plan : model_.plans()) {
      if (plan.session != run.session)
        continue;
      if (const PlanEntry *same = model_.entryOf(plan, entry.value))
        needed = std::max(needed, same->sizeBytes + binding.blockOffset);
    }
    if (binding.sizeBytes <= needed + std::max(needed / 4, kTolerableBytes))
      return;
    Finding finding = about(run, model_.plans()[run.plan], entry, FindingKind::kOversize);
    finding.space = UINT32_MAX;
    finding.text = "the block of " + finding.value + " has " + bytesText(binding.sizeBytes) +
                   ", its value needs " + bytesText(needed);
    findings_.push_back(std::move(finding));
  }

  void checkDonation(const Run &run, const Plan &plan, const PlanEntry &entry,
                     const Binding &binding) {
    if (run.endNs == kStillHeld || binding.releasedNs <= run.endNs)
      return;
    uint32_t later = 0;
    for (size_t i = binding.run + 1; i < model_.runs().size() && later < kRunsUntilKept; ++i)
      later += model_.runs()[i].session == run.session && model_.runs()[i].endNs != kStillHeld;
    const bool kept = binding.releasedNs == kStillHeld;
    if (kept && later < kRunsUntilKept)
      return; // The block may still be released, which would make this a late free.
    Finding finding =
        about(run, plan, entry, kept ? FindingKind::kDonationKept : FindingKind::kLateFree);
    finding.space = UINT32_MAX;
    finding.op = lastReader(plan, entry);
    finding.beginNs = run.beginNs;
    finding.endNs = kept ? model_.nowNs() : binding.releasedNs;
    const std::string after = timeText(static_cast<double>(finding.endNs - run.endNs));
    finding.text =
        kept ? finding.value + " was donated and is still held, " + after + " after its run"
             : finding.value + " was donated and given back " + after + " after its run";
    findings_.push_back(std::move(finding));
  }

  void addLeak(const Suspect &suspect) {
    Finding finding;
    finding.kind = FindingKind::kLeak;
    finding.value = text(suspect.name);
    finding.op = suspect.op != 0 ? text(suspect.op) : finding.value;
    finding.text = finding.value + " grows by " +
                   bytesText(static_cast<uint64_t>(suspect.bytesPerStep)) + " per run or mark; " +
                   bytesText(suspect.liveBytes) + " live now";
    finding.beginNs = suspect.sinceNs;
    finding.endNs = std::max(model_.nowNs(), suspect.sinceNs + 1);
    findings_.push_back(std::move(finding));
  }

  std::string lastReader(const Plan &plan, const PlanEntry &entry) const {
    return entry.lastUse < plan.commands.size() ? text(plan.commands[entry.lastUse].name)
                                                : text(entry.op);
  }

  /// A finding about a value of a run, without its text.
  Finding about(const Run &run, const Plan &plan, const PlanEntry &entry, FindingKind kind) const {
    Finding finding;
    finding.kind = kind;
    finding.value = text(entry.name);
    finding.op = text(entry.op);
    if (finding.op.empty())
      finding.op = lastReader(plan, entry);
    if (entry.firstUse < plan.commands.size())
      finding.location = text(plan.commands[entry.firstUse].location);
    finding.beginNs = model_.commandTimes(run, entry.firstUse).beginNs;
    finding.endNs = model_.commandTimes(run, entry.lastUse).endNs;
    if (const Session *session = model_.session(run.session))
      finding.space = session->arenaSpace;
    return finding;
  }

  const CaptureModel &model_;
  std::vector<Finding> findings_;
};

} // namespace

const char *findingKindName(FindingKind kind) {
  switch (kind) {
  case FindingKind::kOffsetShifted:
    return "offset shifted";
  case FindingKind::kIllegalAlias:
    return "illegal alias";
  case FindingKind::kOversize:
    return "oversize";
  case FindingKind::kLateFree:
    return "late free";
  case FindingKind::kDonationKept:
    return "donation kept";
  case FindingKind::kLeak:
    return "leak";
  }
  return "difference";
}

std::vector<Finding> checkPlans(const CaptureModel &model) { return Checker(model).check(); }

} // namespace gantry::profiler

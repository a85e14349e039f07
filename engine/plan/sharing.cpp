#include "engine/plan/sharing.h"
#include "engine/base/align.h"
#include "engine/plan/occupancy.h"
#include "engine/plan/solve.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <set>

namespace gantry::plan {

namespace {

/// Of the work, what one of several sets may take at most.
constexpr uint64_t kShareOfOneSet = 8;
/// Sets that leave out one sharing of the best, tried at most.
constexpr size_t kMostDroppings = 64;

/// Groups that grow by sharings, as long as members alive at one time are named as a pair.
class SharingGroups {
public:
  SharingGroups(const std::vector<Value> &values, const Constraints &constraints)
      : values_(values), groupOf_(values.size()), members_(values.size()) {
    for (uint32_t i = 0; i < values.size(); ++i) {
      groupOf_[i] = i;
      members_[i] = {i};
    }
    for (const Sharing &sharing : constraints.sharings)
      pairs_.insert(std::minmax(sharing.first, sharing.second));
    for (const Pin &pin : constraints.pins)
      pinned_.insert(pin.value);
    for (const Sharing &sharing : constraints.sharings)
      if (sharing.required)
        join(groupOf_[sharing.first], groupOf_[sharing.second]);
  }

  bool tryJoin(const Sharing &sharing) {
    const uint32_t a = groupOf_[sharing.first];
    const uint32_t b = groupOf_[sharing.second];
    if (a == b)
      return true;
    size_t pins = 0;
    for (const uint32_t group : {a, b})
      for (const uint32_t value : members_[group])
        pins += pinned_.contains(value) ? 1 : 0;
    if (pins > 0)
      return false; // whether a pin allows it is for the exact choice alone
    for (const uint32_t x : members_[a])
      for (const uint32_t y : members_[b])
        if (values_[x].firstUse <= values_[y].lastUse &&
            values_[y].firstUse <= values_[x].lastUse && !pairs_.contains(std::minmax(x, y)))
          return false;
    join(a, b);
    return true;
  }

private:
  void join(uint32_t a, uint32_t b) {
    if (a == b)
      return;
    if (members_[a].size() < members_[b].size())
      std::swap(a, b);
    for (const uint32_t value : members_[b])
      groupOf_[value] = a;
    members_[a].insert(members_[a].end(), members_[b].begin(), members_[b].end());
    members_[b].clear();
  }

  const std::vector<Value> &values_;
  std::vector<uint32_t> groupOf_;
  std::vector<std::vector<uint32_t>> members_;
  std::set<std::pair<uint32_t, uint32_t>> pairs_;
  std::set<uint32_t> pinned_;
};

class Chooser {
public:
  Chooser(const std::vector<Value> &values, const Constraints &constraints, uint64_t enough,
          WorkMeter &meter)
      : values_(values), constraints_(constraints), enough_(enough), meter_(meter) {
    for (uint32_t k = 0; k < constraints.sharings.size(); ++k) {
      const Sharing &sharing = constraints.sharings[k];
      if (!sharing.required && values[sharing.first].sizeBytes != 0 &&
          values[sharing.second].sizeBytes != 0)
        optional_.push_back(k);
    }
  }

  Result<SharedSolution> choose() {
    GANTRY_ASSIGN_OR_RETURN(BuiltProblem none, buildProblem(values_, constraints_, {}));
    best_.lowerBound = none.problem.lowerBound;
    best_.peakCommand = none.peakCommand;
    if (optional_.empty()) {
      best_.optimum = solve(none.problem, enough_, meter_);
      best_.built = std::move(none);
      return std::move(best_);
    }
    findBound();
    if (optional_.size() <= kExhaustiveSharings)
      tryAll();
    else
      trySome();
    // Without any: as much work again, so that the choice never makes a plan worse.
    if (!any_ || best_.optimum.best.height > std::max(enough_, none.problem.lowerBound)) {
      WorkMeter again = meter_.part(UINT64_MAX);
      if (meter_.exhausted())
        again = WorkMeter(meter_.limit());
      keep(std::move(none), again);
    }
    best_.optimum.bound = std::min(best_.optimum.best.height,
                                   std::max(best_.lowerBound, allProven_ ? provenBound_ : 0));
    return std::move(best_);
  }

private:
  /// No choice has a lower sum: at each command, those of the alive that sharings connect, optional
  /// ones too, count once, as the largest of them.
  void findBound() {
    struct Event {
      uint64_t command;
      bool begins;
      uint32_t value;
    };
    std::vector<Event> events;
    std::map<uint32_t, std::vector<uint32_t>> partners;
    for (const Sharing &sharing : constraints_.sharings) {
      partners[sharing.first].push_back(sharing.second);
      partners[sharing.second].push_back(sharing.first);
    }
    const uint64_t alignment = smallestAlignment(values_);
    std::vector<uint64_t> sizes;
    std::map<uint32_t, std::vector<Gap>> gaps;
    for (const Gap &gap : constraints_.gaps)
      gaps[gap.value].push_back(gap);
    for (uint32_t i = 0; i < values_.size(); ++i) {
      sizes.push_back(roundUp(values_[i].sizeBytes, alignment));
      uint64_t begin = values_[i].firstUse;
      auto &own = gaps[i];
      std::sort(own.begin(), own.end(),
                [](const Gap &a, const Gap &b) { return a.firstCommand < b.firstCommand; });
      for (const Gap &gap : own) {
        if (gap.firstCommand > begin) {
          events.push_back({begin, true, i});
          events.push_back({gap.firstCommand, false, i});
        }
        begin = std::max<uint64_t>(begin, uint64_t{gap.lastCommand} + 1);
      }
      events.push_back({begin, true, i});
      events.push_back({uint64_t{values_[i].lastUse} + 1, false, i});
    }
    std::stable_sort(events.begin(), events.end(), [](const Event &a, const Event &b) {
      return a.command != b.command ? a.command < b.command : a.begins < b.begins;
    });
    std::set<uint32_t> sharers; // alive, with partners
    uint64_t alone = 0;         // the sum of the alive without
    uint64_t most = 0;
    for (size_t k = 0; k < events.size(); ++k) {
      const Event &event = events[k];
      const bool shares = partners.contains(event.value);
      if (event.begins && shares)
        sharers.insert(event.value);
      else if (shares)
        sharers.erase(event.value);
      else
        alone += event.begins ? sizes[event.value] : -sizes[event.value];
      if (k + 1 < events.size() && (events[k + 1].command == event.command || !events[k].begins))
        continue; // only the last of a command's begins can be a new peak
      uint64_t sum = alone;
      std::set<uint32_t> seen;
      for (const uint32_t first : sharers) {
        if (!seen.insert(first).second)
          continue;
        uint64_t largest = 0;
        std::vector<uint32_t> open = {first};
        while (!open.empty()) {
          const uint32_t value = open.back();
          open.pop_back();
          largest = std::max(largest, sizes[value]);
          for (const uint32_t next : partners[value])
            if (sharers.contains(next) && seen.insert(next).second)
              open.push_back(next);
        }
        sum += largest;
      }
      if (sum > most) {
        most = sum;
        best_.peakCommand = event.command;
      }
    }
    best_.lowerBound = most;
  }

  bool atBound() const {
    return any_ && best_.optimum.best.height <= std::max(enough_, best_.lowerBound);
  }

  /// Packs one set's problem and keeps it where it is the best so far.
  void keep(BuiltProblem built, WorkMeter &meter) {
    if (any_ && built.problem.lowerBound >= best_.optimum.best.height)
      return;
    Optimum optimum = solve(built.problem, enough_, meter);
    if (!optimum.proven())
      allProven_ = false;
    provenBound_ = std::min(provenBound_, optimum.bound);
    if (any_ && optimum.best.height >= best_.optimum.best.height)
      return;
    any_ = true;
    best_.built = std::move(built);
    best_.optimum = std::move(optimum);
  }

  void keepPart(BuiltProblem built) {
    WorkMeter part = meter_.part(meter_.limit() / kShareOfOneSet);
    keep(std::move(built), part);
    meter_.settle(part);
  }

  void tryAll() {
    std::vector<uint32_t> sets(size_t{1} << optional_.size());
    std::iota(sets.begin(), sets.end(), 0u);
    std::stable_sort(sets.begin(), sets.end(),
                     [](uint32_t a, uint32_t b) { return std::popcount(a) > std::popcount(b); });
    sets.pop_back(); // none comes last, by itself
    for (const uint32_t set : sets) {
      if (atBound())
        return;
      if (meter_.exhausted()) {
        allProven_ = false;
        return;
      }
      std::vector<uint32_t> chosen;
      for (size_t k = 0; k < optional_.size(); ++k)
        if (set >> k & 1)
          chosen.push_back(optional_[k]);
      Result<BuiltProblem> built = buildProblem(values_, constraints_, chosen);
      if (built.isOk()) // else those cannot be made together
        keepPart(built.take());
    }
  }

  void trySome() {
    allProven_ = false;
    const auto saving = [&](uint32_t k) {
      const Sharing &sharing = constraints_.sharings[k];
      return std::min(values_[sharing.first].sizeBytes, values_[sharing.second].sizeBytes);
    };
    std::stable_sort(optional_.begin(), optional_.end(),
                     [&](uint32_t a, uint32_t b) { return saving(a) > saving(b); });
    SharingGroups groups(values_, constraints_);
    std::vector<uint32_t> chosen;
    for (const uint32_t k : optional_)
      if (groups.tryJoin(constraints_.sharings[k]))
        chosen.push_back(k);
    if (Result<BuiltProblem> all = buildProblem(values_, constraints_, chosen); all.isOk())
      keepPart(all.take());
    for (size_t k = 0; k < std::min(chosen.size(), kMostDroppings) && !atBound(); ++k) {
      if (meter_.exhausted())
        return;
      std::vector<uint32_t> fewer = chosen;
      fewer.erase(fewer.begin() + static_cast<ptrdiff_t>(k));
      Result<BuiltProblem> built = buildProblem(values_, constraints_, fewer);
      if (!built.isOk())
        continue;
      const uint64_t before = any_ ? best_.optimum.best.height : UINT64_MAX;
      keepPart(built.take());
      if (best_.optimum.best.height < before) {
        chosen = std::move(fewer);
        --k;
      }
    }
  }

  const std::vector<Value> &values_;
  const Constraints &constraints_;
  uint64_t enough_;
  WorkMeter &meter_;
  std::vector<uint32_t> optional_;
  SharedSolution best_;
  bool any_ = false;
  bool allProven_ = true;
  uint64_t provenBound_ = UINT64_MAX;
};

} // namespace

Result<SharedSolution> solveShared(const std::vector<Value> &values, const Constraints &constraints,
                                   uint64_t enough, WorkMeter &meter) {
  return Chooser(values, constraints, enough, meter).choose();
}

} // namespace gantry::plan

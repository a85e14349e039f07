#include "tests/e2e/random_graphs/storage_faults.h"

#include "engine/artifact/artifact.h"
#include "engine/base/box.h"

#include <algorithm>

namespace gantry::test {

namespace {

// Instead of the number of the command that writes a value.
constexpr int64_t kCaller = -1, kNobody = -2;

/// Returns whether a value is neither a part of another one nor has parts.
bool isWhole(const artifact::Program &program, uint32_t value) {
  if (program.values()->Get(value)->base() != kNone)
    return false;
  for (const artifact::Value *other : *program.values())
    if (other->base() == value)
      return false;
  return true;
}

} // namespace

OverlapMaker::OverlapMaker(const artifact::Program &program, const program::ShapePlan &plan,
                           uint64_t seed)
    : program_(program), plan_(plan), random_(seed), writer_(program.values()->size(), kNobody) {
  for (const artifact::Port *input : *program.inputs())
    writer_[input->value()] = kCaller;
  for (uint32_t c = 0; c < program.commands()->size(); ++c)
    for (uint32_t b = 0; b < program.commands()->Get(c)->bindings()->size(); ++b)
      if (program.commands()->Get(c)->writes()->Get(b))
        writer_[program.commands()->Get(c)->bindings()->Get(b)] = c;
  for (uint32_t v = 0; v < writer_.size(); ++v)
    if (plan.offsets[v] != program::kNoOffset && plan.sizeBytes[v] > 0 && writer_[v] != kNobody)
      candidates_.push_back(v);
  findPairs();
}

OverlapMaker::Overlap OverlapMaker::make() {
  const auto [victim, moved] = pairs_[random_() % pairs_.size()];
  Overlap overlap{plan_, storageOf(moved), !isWhole(program_, moved), writer_[victim] == kCaller,
                  ""};
  // These bytes belong to the values even if they are boxes, whose bytes have gaps.
  const uint64_t first = firstByte(victim),
                 own = firstByte(moved) - plan_.offsets[storageOf(moved)];
  uint64_t &offset = overlap.plan.offsets[overlap.storage];
  offset = first - own;
  if (!overlap.isPart)
    offset -= std::min(first, random_() % plan_.sizeBytes[moved]);
  overlap.what = nameOf(moved) + " at " + std::to_string(offset + own) + ", over " +
                 nameOf(victim) + " at " + std::to_string(first);
  return overlap;
}

uint32_t OverlapMaker::storageOf(uint32_t value) const {
  const uint32_t base = program_.values()->Get(value)->base();
  return base == kNone ? value : base;
}

uint64_t OverlapMaker::firstByte(uint32_t value) const {
  const artifact::Value &entry = *program_.values()->Get(value);
  if (!artifact::hasBox(entry))
    return plan_.offsets[value];
  return plan_.offsets[entry.base()] + rangeOf(artifact::boxOf(entry, plan_.exprs)).offset;
}

std::string OverlapMaker::nameOf(uint32_t value) const {
  return program_.values()->Get(value)->name()->str();
}

/// Finds all pairs of a victim and a value that is written while the victim is still needed:
/// after the victim and before its last reader, or by the last reader itself, unless this one
/// writes its result in place of the victim.
void OverlapMaker::findPairs() {
  const int64_t end = program_.commands()->size();
  for (uint32_t victim : candidates_) {
    int64_t lastReader = 0;
    bool isRead = false, takesPlace = false;
    for (int64_t c = writer_[victim] + 1; c < end; ++c) {
      const artifact::Command &command = *program_.commands()->Get(static_cast<uint32_t>(c));
      for (uint32_t b = 0; b < command.bindings()->size(); ++b)
        if (command.bindings()->Get(b) == victim && !command.writes()->Get(b)) {
          lastReader = c;
          isRead = true;
          takesPlace = command.in_place() == b;
        }
    }
    for (uint32_t moved : candidates_)
      if (isRead && writer_[moved] != kCaller && storageOf(moved) != storageOf(victim) &&
          writer_[moved] > writer_[victim] &&
          (writer_[moved] < lastReader || (writer_[moved] == lastReader && !takesPlace)) &&
          firstByte(moved) - plan_.offsets[storageOf(moved)] <= firstByte(victim))
        pairs_.push_back({victim, moved});
  }
}

namespace {

/// Makes the faults of makeInPlaceFaults().
class InPlaceFaultMaker {
public:
  InPlaceFaultMaker(const artifact::Program &program, const program::ShapePlan &plan)
      : program_(program), plan_(plan), lastReader_(program.values()->size(), kNobody) {
    for (uint32_t c = 0; c < program.commands()->size(); ++c)
      forEachBinding(c, [&](uint32_t, uint32_t value, bool isWritten) {
        if (!isWritten)
          lastReader_[value] = c;
      });
    for (const artifact::Port *output : *program.outputs())
      lastReader_[output->value()] = program.commands()->size();
  }

  std::vector<InPlaceFault> make() {
    for (uint32_t c = 0; c < program_.commands()->size(); ++c)
      forEachBinding(c, [&](uint32_t, uint32_t result, bool isWritten) {
        if (isWritten && isUsable(result))
          addFaults(c, result);
      });
    return std::move(faults_);
  }

private:
  template <typename Body> void forEachBinding(uint32_t command, Body body) const {
    const artifact::Command &source = *program_.commands()->Get(command);
    for (uint32_t b = 0; b < source.bindings()->size(); ++b)
      body(b, source.bindings()->Get(b), source.writes()->Get(b) != 0);
  }

  /// Returns whether a value lies in the arena, has bytes, and shares its storage with no part.
  bool isUsable(uint32_t value) const {
    return plan_.offsets[value] != program::kNoOffset && plan_.sizeBytes[value] > 0 &&
           isWhole(program_, value);
  }

  void addFaults(uint32_t command, uint32_t result) {
    const uint32_t place = program_.commands()->Get(command)->in_place();
    forEachBinding(command, [&](uint32_t binding, uint32_t operand, bool isWritten) {
      if (isWritten || !isUsable(operand))
        return;
      const bool isSame = plan_.offsets[operand] == plan_.offsets[result];
      if (binding == place && isSame) {
        add(command, result, operand, kNone, plan_.offsets[operand], "undeclared");
        if (plan_.sizeBytes[operand] > artifact::elementSize(typeOf(operand)))
          add(command, result, operand, place,
              plan_.offsets[operand] + artifact::elementSize(typeOf(operand)), "moved");
      }
      if (place == kNone && lastReader_[operand] > command)
        add(command, result, operand, binding, plan_.offsets[operand], "read later");
    });
  }

  void add(uint32_t command, uint32_t result, uint32_t operand, uint32_t place, uint64_t offset,
           const char *what) {
    InPlaceFault fault;
    program_.UnPackTo(&fault.program);
    fault.program.commands[command]->in_place = place;
    fault.plan = plan_;
    fault.plan.offsets[result] = offset;
    fault.what = std::string(what) + ": command " + std::to_string(command) + " writes value " +
                 std::to_string(result) + " over value " + std::to_string(operand);
    faults_.push_back(std::move(fault));
  }

  artifact::ElementType typeOf(uint32_t value) const {
    return program_.values()->Get(value)->type();
  }

  const artifact::Program &program_;
  const program::ShapePlan &plan_;
  std::vector<int64_t> lastReader_; // Per value: its last command; for outputs: the caller's read.
  std::vector<InPlaceFault> faults_;
};

} // namespace

std::vector<InPlaceFault> makeInPlaceFaults(const artifact::Program &program,
                                            const program::ShapePlan &plan) {
  return InPlaceFaultMaker(program, plan).make();
}

} // namespace gantry::test

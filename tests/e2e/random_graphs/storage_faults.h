// Injects illegal uses of storage into a program, for tests of the storage checker
// (engine/program/storage_check.h).
#pragma once

#include "engine/program/shape_plan.h"

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace gantry::test {

/// The value of Value.base and Command.in_place (engine/artifact/artifact.fbs) that means "none".
inline constexpr uint32_t kNone = UINT32_MAX;

/// Moves a value of a program, or the storage of which it is a part, onto another value, the
/// victim, which is read later.
class OverlapMaker {
public:
  /// Keeps references to the program and to the plan.
  OverlapMaker(const artifact::Program &program, const program::ShapePlan &plan, uint64_t seed);

  bool canMake() const { return !pairs_.empty(); }

  struct Overlap {
    program::ShapePlan plan; // A value lies over bytes of another one that is read later.
    uint32_t storage;        // The value that was moved, or the one of which it is a part.
    bool isPart;
    bool isOverInput; // The other value is a donated input.
    std::string what;
  };

  /// Returns an overlap of a random pair. canMake() must be true.
  Overlap make();

  /// Returns the value of which a value is a part, or the value itself.
  uint32_t storageOf(uint32_t value) const;

private:
  uint64_t firstByte(uint32_t value) const;
  std::string nameOf(uint32_t value) const;
  void findPairs();

  const artifact::Program &program_;
  const program::ShapePlan &plan_;
  std::mt19937_64 random_;
  std::vector<int64_t> writer_; // The command that writes a value, kCaller or kNobody.
  std::vector<uint32_t> candidates_;
  std::vector<std::pair<uint32_t, uint32_t>> pairs_; // The victim, and the value to move.
};

/// A program whose results take the places of operands in a way that is illegal, and its plan.
struct InPlaceFault {
  artifact::ProgramT program;
  program::ShapePlan plan;
  std::string what;
};

/// Returns every fault of these kinds, for each command that it is possible for:
/// - a result lies over an operand, but the command does not say so (Command.in_place);
/// - a command says so, but its result begins one element after the operand;
/// - a result takes the place of an operand that a later command reads.
std::vector<InPlaceFault> makeInPlaceFaults(const artifact::Program &program,
                                            const program::ShapePlan &plan);

} // namespace gantry::test

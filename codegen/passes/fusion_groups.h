// The decision which tensors are stored in memory, for form-dispatches.
//
// FusionGroups divides the operators of the program into groups, each of which becomes one
// dispatch. It visits the operators from the last to the first, so that all consumers of an
// operator are decided before it. Each operator becomes either the root of a group, whose result is
// stored in memory, or a member of the groups of its consumers, where it is evaluated inline.
// Passes.td (form-dispatches) says what is inlined.
//
// It does not change the program, except that it leaves `gantry.why` on the last matmul of an
// attention that does not become one group.
//
// Thread safety: one object per function.
#pragma once

#include "codegen/tiling/attention.h"

#include "llvm/ADT/SetVector.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gantry::codegen {

/// Operators that become one dispatch.
struct FusionGroup {
  mlir::Operation *root = nullptr;     // Its result is the dispatch's result.
  llvm::SetVector<mlir::Value> leaves; // The tensors that it reads from memory.
  bool hasReduction = false;
  bool rows = false; // Its reductions are over the rows of the root.
};

class FusionGroups {
public:
  /// Divides the operators of the block. A group binds at most `maxBuffers` buffers, its result
  /// included. An attention whose scores have fewer than `scoreBytes` bytes is not fused.
  FusionGroups(mlir::Block &block, unsigned maxBuffers, uint64_t scoreBytes);

  /// Returns the groups in the order of their roots in the block.
  llvm::ArrayRef<std::unique_ptr<FusionGroup>> groups() const { return groups_; }

  /// Returns whether the operator belongs to the group.
  bool isMember(mlir::Operation *op, const FusionGroup &group) const;

private:
  /// How often consumers read an element of a producer: once; several times, by a broadcast; or
  /// many times, inside of a reduction.
  enum class Reuse { kOnce, kBroadcast, kMany };

  /// The element of an operator that an element of the root needs, where the root's rows are its
  /// last dimension: the one at the same place; the one of its row; or any.
  enum class Place { kAnywhere, kSamePlace, kPerRow };

  struct Decision {
    bool isRoot = false;
    llvm::SmallVector<FusionGroup *, 2> groups;
    bool isDirect = false; // Its elements map one to one to the root's.
    Reuse reuse = Reuse::kOnce;
    Place place = Place::kAnywhere;
  };

  /// How all users of a value would read it if its producer were inlined.
  struct Use {
    llvm::SetVector<FusionGroup *> groups; // The groups of the users.
    size_t userCount = 0;
    mlir::Operation *firstUser = nullptr;
    bool isDirect = true;
    Reuse reuse = Reuse::kOnce;
    Place place = Place::kAnywhere;
  };

  void findAttentions();
  std::string reasonAgainst(const Attention &attention) const;
  llvm::SetVector<mlir::Value> leavesOf(mlir::Operation *op) const;
  void readBy(mlir::Operation *user, mlir::Value value, const Decision &context, Use &use) const;
  Place placeOf(mlir::Operation *user, mlir::Value value, const Decision &context) const;
  static bool joinsRows(mlir::Operation *op, const FusionGroup &group, Place place);
  std::optional<Use> useOf(mlir::Value value);
  bool pays(mlir::Operation *op, const Use &use, bool joinsRows) const;
  bool fitsBuffers(const Use &use, const llvm::SetVector<mlir::Value> &added) const;
  bool tryInline(mlir::Operation *op);
  FusionGroup &addGroup(mlir::Operation *root);
  void decide(mlir::Operation *op);

  mlir::Block &block_;
  const unsigned maxBuffers_;
  const uint64_t scoreBytes_;
  std::map<mlir::Operation *, Decision> decisions_;
  std::vector<std::unique_ptr<FusionGroup>> groups_;
  llvm::DenseMap<mlir::Operation *, Attention> attentions_; // By their last matmul.
  llvm::DenseSet<mlir::Operation *> attentionMembers_;
};

/// Returns whether the operation is an operator that belongs into a dispatch.
bool isComputeOp(mlir::Operation *op);

/// Returns whether the value costs nothing, so that every dispatch that needs it has a copy.
bool isFreeValue(mlir::Value value);

/// Returns all values from outside of the operation that it uses, in its operands and its regions.
llvm::SetVector<mlir::Value> usedValues(mlir::Operation *op);

} // namespace gantry::codegen

// Decides for the pass form-dispatches which tensors are stored in memory.
//
// FusionGroups divides the operators of the program into groups, each of which becomes one dispatch
// (kernel launch). It visits the operators from the last to the first, so that it decides on all
// consumers of an operator before the operator itself. Either an operator becomes the root of a
// group, and its result is stored in memory; or it becomes a member of the groups of its consumers,
// where it is evaluated inline. Passes.td (form-dispatches) lists the operators that are inlined.
//
// FusionGroups does not change the program, with one exception: if an attention
// (codegen/tiling/attention.h: matmul, softmax, matmul) does not become one group, it sets the
// attribute `gantry.why`, which has the reason, on the last matmul.
//
// Thread safety: no other thread may use the block's function at the same time.
#pragma once

#include "codegen/tiling/attention.h"

#include "llvm/ADT/SetVector.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gantry::codegen {

/// Operators that become one dispatch. A row of the root's result consists of the elements along
/// its last dimension.
struct FusionGroup {
  mlir::Operation *root = nullptr;     // The operator whose result is the dispatch's result.
  llvm::SetVector<mlir::Value> leaves; // The tensors that the dispatch reads from memory.
  bool hasReduction = false;
  bool rows = false; // The group has reductions over the last dimension, as in a softmax.
};

class FusionGroups {
public:
  /// Divides the operators of the block. A group binds at most `maxBuffers` buffers, its result
  /// included. An attention does not become one group if its scores, the result of its first
  /// matmul, have fewer than `scoreBytes` bytes.
  FusionGroups(mlir::Block &block, unsigned maxBuffers, uint64_t scoreBytes);

  /// Returns the groups in the order of their roots in the block.
  llvm::ArrayRef<std::unique_ptr<FusionGroup>> groups() const { return groups_; }

  /// Returns whether the operator belongs to the group.
  bool isMember(mlir::Operation *op, const FusionGroup &group) const;

private:
  /// How often consumers read an element of a producer's result: once; several times, because of a
  /// broadcast; or many times, in a reduction.
  enum class Reuse { kOnce, kBroadcast, kMany };

  /// The elements of an operator's result that a row of the root's result needs: any elements
  /// (kAnywhere); for each element of the row, the element with the same index (kSamePlace); or one
  /// element for the whole row, with index 0 in the last dimension (kPerRow).
  enum class Place { kAnywhere, kSamePlace, kPerRow };

  /// The decision on an operator. The last three members say how the groups that it belongs to read
  /// its result.
  struct Decision {
    bool isRoot = false;
    llvm::SmallVector<FusionGroup *, 2> groups; // The groups that the operator belongs to.
    bool isDirect = false; // The elements correspond one to one to those of the root's result.
    Reuse reuse = Reuse::kOnce;
    Place place = Place::kAnywhere;
  };

  /// How all users together would read a value if its producer were inlined. The last three members
  /// mean the same as in Decision.
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
  bool isUnfoldedLater(mlir::Operation *user) const;
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
  // The attentions that become one group, by their last matmul; and all their other operators.
  llvm::DenseMap<mlir::Operation *, Attention> attentions_;
  llvm::DenseSet<mlir::Operation *> attentionMembers_;
};

/// Returns whether the operation is an operator that must be in a dispatch, and not, for example, a
/// reshape or a constant.
bool isComputeOp(mlir::Operation *op);

/// Returns whether the operator only moves elements: a pad, slice, permutation, broadcast or
/// concatenation.
bool movesElements(mlir::Operation *op);

/// Returns whether the operator only moves elements, and its readers may do that instead: false if
/// the operator's result must be stored (`gantry.stored`).
bool isMovement(mlir::Operation *op);

/// Returns whether the operator is a shuffle: it moves elements in an order that no strides
/// describe, because an index of its operand is a remainder. The pass fold-reshapes makes such
/// operators, for example for a shuffle of channels. A shuffle is never inlined: a reader that
/// evaluated the index itself could not use vector loads.
bool isShuffle(mlir::Operation *op);

/// Returns whether the operator is an unfolding, a shuffle that joins pairs of neighbouring
/// dimensions: index i of a joined dimension stands for the indices i / s and i mod s of the pair,
/// where s is the extent of the pair's second dimension. An unfolding reads each element at most
/// once, so the operator before it can be computed in its dispatch.
bool isUnfolding(mlir::linalg::GenericOp op);

/// Returns whether the value is a scalar constant, or a tensor whose elements are all equal or all
/// undefined. Each dispatch that uses such a value computes it itself.
bool isFreeValue(mlir::Value value);

/// Returns the operands of the operation, and the values from outside of it that its regions use.
llvm::SetVector<mlir::Value> usedValues(mlir::Operation *op);

} // namespace gantry::codegen

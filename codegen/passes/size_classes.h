// Decides which sizes of tensors should be rounded up to a multiple of four or eight, so that
// kernels access memory in vectors and need no tails. The pass pad-sizes applies the decisions.
//
// A loop of an operator and the dimensions of tensors that it indexes must have the same size.
// Such loops and dimensions form a class. A use or a result of an operator that cannot have padding
// in a dimension is not linked to the class; a slice or a padded copy then converts between the
// sizes. A class is padded if this speeds up matmuls and convolutions by more than the conversions
// cost.
//
// Threads: belongs to one function and one thread. Valid until the function changes.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <vector>

namespace gantry::codegen {

class SizeClasses {
public:
  /// blocks: the device is a software device, for which images are stored in blocks of channels.
  SizeClasses(mlir::Block &block, bool blocks);

  bool anyPadded() const { return anyPadded_; }

  /// Returns the sizes that a use of a tensor should have, or that a result has. They are the
  /// tensor's own or larger.
  llvm::SmallVector<int64_t> sizesOf(mlir::OpOperand &use) const;
  llvm::SmallVector<int64_t> sizesOf(mlir::Value result) const;

  /// Returns whether the class of a loop has a larger size than the loop.
  bool isPadded(mlir::linalg::GenericOp op, unsigned loop) const;

  /// Returns whether a reduction runs over the padding of the tensor, which must then be zero. The
  /// padding of a sum of integer products may have any value if the other factor is a constant.
  bool needsZeros(mlir::Value tensor) const;

private:
  struct Class {
    int64_t size = 0, padded = 0; // `size` is kDynamic if it is not one known number.
    double gain = 0, cost = 0;    // In multiplications.
    bool needsZeros = false;      // A reduction needs zeros in the padding of computed tensors.
    bool isFixed = false;         // A reduction of the class would not ignore zeros.
  };

  unsigned nodesOf(mlir::Value tensor);
  unsigned find(unsigned node) const;
  void unite(unsigned a, unsigned b) { parents_[find(a)] = find(b); }
  void link(mlir::OpOperand &use, unsigned dim, unsigned node);
  void linkResult(mlir::Value result, unsigned dim, unsigned node);

  void addOperation(mlir::Operation *op);
  void addGeneric(mlir::linalg::GenericOp op);
  void addReshape(mlir::Operation *op);
  void addMove(mlir::Operation *op);
  void addGain(mlir::linalg::GenericOp op);
  void addConversions(mlir::Block &block);
  void choose();
  int64_t growthOf(unsigned node) const {
    const Class &each = classes_[find(node)];
    return each.padded - each.size;
  }

  // Each dimension of a tensor and each loop of an operator is a node of a union-find structure,
  // whose sets are the classes. The dimensions of one tensor, and the loops of one operator, have
  // consecutive nodes.
  llvm::DenseMap<mlir::Value, unsigned> tensors_;     // The node of dimension 0.
  llvm::DenseMap<mlir::Operation *, unsigned> loops_; // The node of loop 0.
  mutable std::vector<unsigned> parents_;             // By node; a root is its own parent.
  std::vector<Class> classes_;                        // By the class's root node.
  // The nodes to which dimensions of uses and of results are linked.
  llvm::DenseMap<std::pair<mlir::OpOperand *, unsigned>, unsigned> linkedUses_;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, unsigned> linkedResults_;
  bool blocks_;
  bool anyPadded_ = false;
};

} // namespace gantry::codegen

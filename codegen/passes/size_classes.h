// Decides which sizes of tensors should be rounded up to a multiple of four or eight, so that
// kernels can access memory in vectors of four and no elements are left over. The pass pad-sizes
// applies the decisions.
//
// A loop of an operator and the dimensions of tensors that it indexes must have the same size.
// Such loops and dimensions form a class. If an operand or the result of an operator cannot have
// padding in a dimension, this dimension does not join the class of the operator's loop. A slice of
// the tensor, or a padded copy, then converts between the sizes. A class is padded if this
// saves more time in matmuls and convolutions than the conversions take.
//
// Threads: an object belongs to one function and one thread. It is valid until the function
// changes.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <vector>

namespace gantry::codegen {

class SizeClasses {
public:
  /// blocks: whether images (tensors [n, c, …], image_reads.h) are stored in blocks of channels c,
  /// as they are for a software device (a Vulkan driver that runs on the CPU).
  SizeClasses(mlir::Block &block, bool blocks);

  bool anyPadded() const { return anyPadded_; }

  /// Returns the sizes that a tensor should have at this use, or that this result should get. Each
  /// is the tensor's own size or a larger one.
  llvm::SmallVector<int64_t> sizesOf(mlir::OpOperand &use) const;
  llvm::SmallVector<int64_t> sizesOf(mlir::Value result) const;

  /// Returns whether the class of a loop has a larger size than the loop.
  bool isPadded(mlir::linalg::GenericOp op, unsigned loop) const;

  /// Returns whether the padding of the tensor must be zero because a reduction runs over it. In a
  /// sum of integer products, the padding of one factor may have any value if the other factor is a
  /// constant, because the padding of constants is zero.
  bool needsZeros(mlir::Value tensor) const;

private:
  struct Class {
    // The size in the program, kDynamic if it is unknown; and the size with padding.
    int64_t size = 0, padded = 0;
    // The time that padding saves and the time that conversions take, in multiplications.
    double gain = 0, cost = 0;
    bool needsZeros = false; // A reduction needs zeros in the padding of computed tensors.
    bool isFixed = false;    // The size must not grow: a reduction would not ignore zeros.
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
  // The node to which a dimension of a use, or of a result, is linked.
  llvm::DenseMap<std::pair<mlir::OpOperand *, unsigned>, unsigned> linkedUses_;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, unsigned> linkedResults_;
  bool blocks_;
  bool anyPadded_ = false;
};

} // namespace gantry::codegen

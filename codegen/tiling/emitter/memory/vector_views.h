// Views of tensors as aligned groups of four elements: which tensors have them, and how elements
// are packed into groups and taken out of them.
//
// Thread safety: pure functions.
#pragma once

#include "codegen/dialect/gantry_dialect.h"

#include "mlir/IR/Builders.h"

namespace gantry::codegen {

constexpr int64_t kVectorWidth = 4; // Elements of a vector, an aligned group.

/// Returns the type of an aligned group of four elements: a vec4 of f16, f32 or i32, or a 32-bit
/// word of bytes or bools. Null for other element types, which are accessed one by one. asTexels:
/// returns the type of a texel load instead: a vec4 of f32 for f16, and a vec4 of i32, one for each
/// element, for bytes and bools.
mlir::Type vectorTypeOf(mlir::Type element, bool asTexels);

/// Returns whether the element type has a vector type and the tensor starts at an aligned group of
/// four elements. A tensor that is a part of a larger one (LayoutAttr::getWithin) may start in the
/// middle of such a group.
bool mayBeVectors(mlir::RankedTensorType type, LayoutAttr layout);

/// Returns whether a tensor may be accessed in aligned groups of four elements: mayBeVectors()
/// holds, and each group lies inside the tensor. In a part of a larger tensor, each group must lie
/// inside one row of the part: one of its longest ranges of memory without a gap. divisors: for
/// each dimension, a number that divides its extent; only those of dynamic dimensions are used. If
/// the list is empty, nothing is known of dynamic extents.
bool hasVectorView(mlir::RankedTensorType type, LayoutAttr layout,
                   llvm::ArrayRef<int64_t> divisors = {});

/// Returns whether a texel buffer may be read in aligned groups of four elements, where the last
/// group may lie partly beyond the tensor's end. The runtime rounds texel buffers up to whole
/// texels; other buffers must not be read in this way, which the caller checks.
bool isPaddedView(mlir::RankedTensorType type, LayoutAttr layout);

/// Packs elements into a vector of type `type`, or four bytes or bools into a word if `type` is
/// i32.
mlir::Value packVector(mlir::OpBuilder &builder, mlir::Location loc,
                       llvm::ArrayRef<mlir::Value> elements, mlir::Type type);

/// Returns one element of a group. If the group is a word of bytes or bools, `part` is this word
/// and `lane` the number of the byte. Otherwise `part` is the element itself, taken out of the
/// vector already, and `lane` is 0. The result is converted to the type `element`.
mlir::Value elementOf(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value part, int64_t lane,
                      mlir::Type element);

} // namespace gantry::codegen

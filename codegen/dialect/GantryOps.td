// The operations of the Gantry dialect, from dispatches on tensors to the matrices in a kernel.
#ifndef GANTRY_OPS
#define GANTRY_OPS

include "codegen/dialect/GantryAttributes.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Gantry_LayoutArrayAttr : TypedArrayAttrBase<Gantry_LayoutAttr, "layouts of tensors">;

class Gantry_Op<string mnemonic, list<Trait> traits = []> : Op<Gantry_Dialect, mnemonic, traits>;

def Gantry_DispatchOp : Gantry_Op<"dispatch", [IsolatedFromAbove, Pure, AttrSizedOperandSegments]> {
  let summary = "one kernel launch";
  let description = [{
    A dispatch computes its result from its operands in one kernel launch. Before outline-kernels its
    region holds the computation as linalg on tensors: at most one reduction, or several over the
    rows of the result, or one attention; all other operators in the region are evaluated where
    their result is used. After outline-kernels, `kernel` names the module that holds the
    computation.

    `dims` are the dynamic sizes that the kernel needs, once each. `operand_dims` and `result_dims`
    list, for each dynamic dimension of the operands (results) in order, its position in `dims`.
    The arguments of the region's block are the operands, then the dims.

    ```mlir
    %y = gantry.dispatch (%x) dims(%n) {operand_dims = array<i64: 0>, result_dims = array<i64: 0>}
        : (tensor<?x4xf32>, index) -> tensor<?x4xf32> { … gantry.yield %r : tensor<?x4xf32> }
    ```

    - `flops` is the number of floating-point operations of its operators.
    - `in_place` is the operand whose storage the result takes. The operand is not used afterwards,
      and only the invocation that writes an element of the result reads that element of it.
    - `layouts` has an entry for each operand and one for the result; all are row-major without it.
    - `rows` marks a dispatch with several reductions over the rows of its result.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, Variadic<Index>:$dims,
      Optional<Index>:$flops, DenseI64ArrayAttr:$operand_dims, DenseI64ArrayAttr:$result_dims,
      OptionalAttr<SymbolRefAttr>:$kernel, OptionalAttr<I64Attr>:$in_place,
      OptionalAttr<Gantry_LayoutArrayAttr>:$layouts, UnitAttr:$rows);
  let results = (outs AnyRankedTensor:$result);
  let regions = (region MaxSizedRegion<1>:$body);
  let assemblyFormat = [{
    ($kernel^)? `(` $inputs `)` `dims` `(` $dims `)` (`flops` $flops^)? attr-dict `:` functional-type(operands, results)
    (`do` $body^)?
  }];
  // A dispatch with an empty block, whose arguments are the operands and the dims.
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::ValueRange":$inputs,
      "::mlir::ValueRange":$dims, "::mlir::Value":$flops, "::llvm::ArrayRef<int64_t>":$operandDims,
      "::llvm::ArrayRef<int64_t>":$resultDims)>];
  let hasVerifier = 1;
}

def Gantry_MoveOp : Gantry_Op<"move", [Pure, AllTypesMatch<["source", "result"]>]> {
  let summary = "a tensor's bytes to the host, or back to the device";
  let description = [{
    The result holds the operand's bytes in the host's memory (`to_host`) or in the device's. Made by
    fit-budget for tensors that are alive but not used for a while; becomes a copy command.

    ```mlir
    %h = gantry.move %x to_host : tensor<64x128xf32>
    %y = gantry.move %h : tensor<64x128xf32>
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$source, UnitAttr:$to_host);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$source (`to_host` $to_host^)? attr-dict `:` type($source)";
}

def Gantry_LoadMatrixOp : Gantry_Op<"load_matrix"> {
  let summary = "a matrix of a subgroup, from shared memory";
  let description = [{
    The subgroup's lanes load one matrix together, whose elements begin at vector `at` of the pool. Its
    rows (its columns, if `columns`) lie one after the other, `stride` vectors apart; within one of them
    elements are adjacent, whatever their size. All lanes have the same operands.

    ```mlir
    %a = gantry.load_matrix %pool[%at] stride 5 : memref<640xvector<4xi32>, #spirv.storage_class<Workgroup>>
        -> !spirv.coopmatrix<16x16xf16, Subgroup, MatrixA>
    ```
  }];
  let arguments = (ins Arg<MemRefRankOf<[VectorOfLengthAndType<[4], [I32]>], [1]>, "", [MemRead]>:$pool,
      Index:$at, I64Attr:$stride, UnitAttr:$columns);
  let results = (outs AnyType:$matrix);
  let assemblyFormat = [{
    $pool `[` $at `]` `stride` $stride (`columns` $columns^)? attr-dict `:` type($pool) `->` type($matrix)
  }];
  let hasVerifier = 1;
}

def Gantry_StoreMatrixOp : Gantry_Op<"store_matrix"> {
  let summary = "a matrix of a subgroup, to shared memory";
  let description = [{
    The counterpart of load_matrix, by rows.

    ```mlir
    gantry.store_matrix %sum, %pool[%at] stride 5
        : !spirv.coopmatrix<16x16xf32, Subgroup, MatrixAcc>, memref<640xvector<4xi32>, #spirv.storage_class<Workgroup>>
    ```
  }];
  let arguments = (ins AnyType:$matrix,
      Arg<MemRefRankOf<[VectorOfLengthAndType<[4], [I32]>], [1]>, "", [MemWrite]>:$pool, Index:$at,
      I64Attr:$stride);
  let assemblyFormat = [{
    $matrix `,` $pool `[` $at `]` `stride` $stride attr-dict `:` type($matrix) `,` type($pool)
  }];
  let hasVerifier = 1;
}

def Gantry_YieldOp : Gantry_Op<"yield", [Pure, Terminator, HasParent<"DispatchOp">]> {
  let summary = "ends a dispatch's region with its result";
  let arguments = (ins AnyRankedTensor:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

#endif

// The operations of the Gantry dialect: dispatches and copies on the level of tensors, and
// cooperative matrices on the level of kernels. outline-kernels, form-dispatches and other names of
// this form are passes (codegen/passes/Passes.td).
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
    A dispatch computes its result from its operands in one kernel launch. Before outline-kernels
    its region holds the computation as linalg on tensors. The region has at most one reduction, or
    several over the rows of the result, or one attention; all other operators are computed where
    their results are used. After outline-kernels, `kernel` names the module that holds the
    computation.

    `dims` are the dynamic sizes that the kernel needs, without duplicates. share-kernels lets
    dispatches with similar kernels share one, and appends to `dims` the sizes by which they differ.
    `operand_dims` has one entry for each dynamic dimension of the operands, in order: the index of
    the dimension's size in `dims`. `result_dims` is the same for the result. The arguments of the
    region's block are the operands, then the dims.

    ```mlir
    %y = gantry.dispatch (%x) dims(%n) {operand_dims = array<i64: 0>, result_dims = array<i64: 0>}
        : (tensor<?x4xf32>, index) -> tensor<?x4xf32> { … gantry.yield %r : tensor<?x4xf32> }
    ```

    - `flops` is the number of floating-point operations of the operators.
    - `in_place` is the index of the operand whose storage the result takes. The operand is not used
      afterwards, and only the invocation that writes an element of the result reads the same
      element of the operand.
    - `layouts` has an entry for each operand and one for the result. Without it, all tensors are in
      row-major order.
    - `rows` marks a dispatch with several reductions over the rows of its result.
    - `copy_reason` is set if the dispatch only copies elements; it says in words why the copy is
      necessary.
    - `scattered` is set if the dispatch replaces rows of the operand `in_place` and writes nothing
      else (gantry.scatter). The region then yields the rows and the tensor of their positions.
      `scattered` has the extents of this tensor; a dynamic extent is stored as -1 - i, where i is
      the index of its size in `dims`.
    - `collapsed`: the first `collapsed` dimensions of the result are one dimension in the kernel's
      function (collapse-dims).
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, Variadic<Index>:$dims,
      Optional<Index>:$flops, DenseI64ArrayAttr:$operand_dims, DenseI64ArrayAttr:$result_dims,
      OptionalAttr<SymbolRefAttr>:$kernel, OptionalAttr<I64Attr>:$in_place,
      OptionalAttr<Gantry_LayoutArrayAttr>:$layouts, UnitAttr:$rows,
      OptionalAttr<StrAttr>:$copy_reason, OptionalAttr<DenseI64ArrayAttr>:$scattered,
      DefaultValuedAttr<I64Attr, "1">:$collapsed);
  let results = (outs AnyRankedTensor:$result);
  let regions = (region MaxSizedRegion<1>:$body);
  let assemblyFormat = [{
    ($kernel^)? `(` $inputs `)` `dims` `(` $dims `)` (`flops` $flops^)? attr-dict `:` functional-type(operands, results)
    (`do` $body^)?
  }];
  // Builds a dispatch whose region has an empty block with the operands and the dims as arguments.
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::ValueRange":$inputs,
      "::mlir::ValueRange":$dims, "::mlir::Value":$flops, "::llvm::ArrayRef<int64_t>":$operandDims,
      "::llvm::ArrayRef<int64_t>":$resultDims)>];
  let hasVerifier = 1;
}

def Gantry_MoveOp : Gantry_Op<"move", [Pure, AllTypesMatch<["source", "result"]>]> {
  let summary = "copies a tensor to the host or back to the device";
  let description = [{
    The result has the bytes of the operand, in the host's memory if `to_host` is set, otherwise in
    the device's. fit-budget creates this operation for tensors that are alive but not used for a
    while. The operation becomes a copy command of the artifact (the compiled model).

    ```mlir
    %h = gantry.move %x to_host : tensor<64x128xf32>
    %y = gantry.move %h : tensor<64x128xf32>
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$source, UnitAttr:$to_host);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$source (`to_host` $to_host^)? attr-dict `:` type($source)";
}

def Gantry_ConcatOp : Gantry_Op<"concat", [Pure]> {
  let summary = "views tensors that lie one after another in memory as one tensor";
  let description = [{
    The result has the inputs one after another along dimension `dim`. The operation moves no data:
    the dispatch that computes an input writes the input into its slice of the result. The extents
    from `dim` on are static. place-concats creates this operation. It stands between dispatches and
    not in their regions.

    If `interleaved` is set, the inputs alternate: index i of the result along `dim` is index i / k
    of input i mod k, where k is the number of inputs. All inputs have the same type. The importer
    creates such operations for transposed convolutions.

    A tensor may be an input of several of these operations. Their results then lie in the storage
    of the largest one and overlap there, so that the tensor is stored once
    (codegen/passes/storage/placement.h).

    ```mlir
    %c = gantry.concat %a, %b along 1
        : (tensor<1x64x55x55xf32>, tensor<1x32x55x55xf32>) -> tensor<1x96x55x55xf32>
    %i = gantry.concat %d, %e along 3 interleaved
        : (tensor<1x64x28x28xf32>, tensor<1x64x28x28xf32>) -> tensor<1x64x28x56xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, I64Attr:$dim, UnitAttr:$interleaved);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $inputs `along` $dim (`interleaved` $interleaved^)? attr-dict `:` functional-type($inputs, $result)
  }];
  let hasVerifier = 1;
}

def Gantry_ScatterOp : Gantry_Op<"scatter", [Pure, AllTypesMatch<["data", "result"]>]> {
  let summary = "replaces rows of a tensor";
  let description = [{
    The result is `data`, except that row `positions[i]` (along dimension 0) is row i of `updates`,
    where i is an index of `positions`. The shape of `updates` is that of `positions`, followed by
    that of a row. A row with a negative position is not written. If several rows have the same
    position, one of them is written. If there is an operand `rows`, the result has this many rows,
    and those that neither `data` nor `updates` has are undefined. The importer and place-scatters
    create this operation. place-scatters copies `data` if its rows must not be replaced in place,
    and form-dispatches makes a dispatch that writes only the rows.

    ```mlir
    %r = gantry.scatter %updates into %data at %positions
        : tensor<2x64xf32> into tensor<512x64xf32> at tensor<2xi32>
    %g = gantry.scatter %updates into %state at %ends growing to %rows
        : tensor<2x64xf32> into tensor<?x64xf32> at tensor<2xi32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$updates, AnyRankedTensor:$data,
      RankedTensorOf<[I32]>:$positions, Optional<Index>:$rows);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $updates `into` $data `at` $positions (`growing` `to` $rows^)? attr-dict `:`
    type($updates) `into` type($data) `at` type($positions)
  }];
  let hasVerifier = 1;
}

def Gantry_LoadMatrixOp : Gantry_Op<"load_matrix"> {
  let summary = "loads a cooperative matrix from shared memory";
  let description = [{
    The lanes of a subgroup load one matrix together. The pool is the workgroup's shared memory, as
    vectors of 16 bytes. The matrix begins at vector `at` of the pool. Its rows (its columns, if
    `columns` is set) begin `stride` vectors apart, and the elements of a row (column) are adjacent.
    All lanes must have the same operands.

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
  let summary = "stores a cooperative matrix to shared memory";
  let description = [{
    The counterpart of load_matrix. The rows of the matrix begin `stride` vectors apart.

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
  let description = [{
    A dispatch that is `scattered` yields the rows that it writes, and their positions.
  }];
  let arguments = (ins AnyRankedTensor:$value, Optional<RankedTensorOf<[I32]>>:$positions);
  let assemblyFormat = "$value (`at` $positions^ `:` type($positions))? attr-dict `:` type($value)";
  let builders = [OpBuilder<(ins "::mlir::Value":$value), [{
    build($_builder, $_state, value, ::mlir::Value());
  }]>];
}

#endif

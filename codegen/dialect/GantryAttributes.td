// The types of the Gantry dialect's attributes. GantryDialect.td lists the names of the attributes
// and the operations that may have them. order-dispatches, fit-budget and other names of this form
// are passes (codegen/passes/Passes.td).
//
// A dispatch is one kernel launch (gantry.dispatch in GantryOps.td). Its dims are the dynamic sizes
// that the kernel receives. A tile is the part of the result that one invocation, subgroup or
// workgroup computes. The peak of live bytes is the largest number of bytes that the tensors of a
// run occupy at one moment.
//
// Parameters that equal their defaults are not printed. Sizes in bytes, and counts, are at least 0,
// if the description does not say otherwise. verify_attributes.cpp checks this, and the rules in the
// descriptions below.
#ifndef GANTRY_ATTRIBUTES
#define GANTRY_ATTRIBUTES

include "codegen/dialect/GantryDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

class Gantry_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::gantry::codegen";
  let genSpecializedAttr = 0;
}

def Gantry_TileKind : Gantry_Enum<"TileKind", "how a kernel computes its tile", [
  // Runs on any device: uses neither subgroup operations nor texel buffers nor shared memory.
  I32EnumAttrCase<"kBaseline", 0, "baseline">,
  // Reads operands from texel buffers. The lanes of a subgroup may compute a tile together.
  I32EnumAttrCase<"kTexel", 1, "texel">,
  // Copies operands to shared memory and reads them there.
  I32EnumAttrCase<"kStaged", 2, "staged">,
  // Like staged, but multiplies the operands with the device's cooperative matrices.
  I32EnumAttrCase<"kMatrices", 3, "matrices">,
  // Like baseline, but uses the device's instruction for the dot product of four bytes.
  I32EnumAttrCase<"kDots", 4, "dots">,
  // The lanes of a subgroup compute a tile together. Operands are read as in the baseline.
  I32EnumAttrCase<"kSubgroup", 5, "subgroup">
]>;

// `index` below is the parameter of BindingAttr with this name.
def Gantry_ArgumentRole : Gantry_Enum<"ArgumentRole", "what an argument of a kernel receives", [
  I32EnumAttrCase<"kBuffer", 0, "buffer">,         // a scalar or vector view of buffer `index`
  I32EnumAttrCase<"kDim", 1, "dim">,               // element `index` of the dispatch's dims
  I32EnumAttrCase<"kWorkgroupX", 2, "workgroup_x">,
  I32EnumAttrCase<"kWorkgroupY", 3, "workgroup_y">,
  I32EnumAttrCase<"kInvocation", 4, "invocation">, // the invocation's index in its workgroup
  I32EnumAttrCase<"kLane", 5, "lane">,             // the invocation's index in its subgroup
  I32EnumAttrCase<"kSubgroup", 6, "subgroup">      // the subgroup's index in its workgroup
]>;

def Gantry_BindingMode : Gantry_Enum<"BindingMode", "how a SPIR-V module reaches its buffers", [
  I32EnumAttrCase<"kStorageBuffer", 0, "storage_buffer">, // descriptors of storage buffers
  I32EnumAttrCase<"kAddress", 1, "address">,              // 64-bit addresses in push constants
  I32EnumAttrCase<"kTexel", 2, "texel">                   // descriptors of storage and texel buffers
]>;

def Gantry_TexelFormat : Gantry_Enum<"TexelFormat", "the format of a texel buffer", [
  I32EnumAttrCase<"kRgba32f", 0, "rgba32f">,
  I32EnumAttrCase<"kRgba16f", 1, "rgba16f">,
  I32EnumAttrCase<"kRgba32i", 2, "rgba32i">,
  I32EnumAttrCase<"kRgba8ui", 3, "rgba8ui">
]>;

def Gantry_FailureCause : Gantry_Enum<"FailureCause", "the cause of a pass's failure", [
  I32EnumAttrCase<"kInput", 0, "input">,            // the model or an option of the caller is wrong
  I32EnumAttrCase<"kUnsupported", 1, "unsupported"> // the compiler does not support the model
]>;

//===----------------------------------------------------------------------===//
// Bases
//===----------------------------------------------------------------------===//

class Gantry_Attr<string name, string attrMnemonic> : AttrDef<Gantry_Dialect, name> {
  let mnemonic = attrMnemonic;
  let assemblyFormat = "`<` struct(params) `>`";
}

// A list in square brackets. Without brackets, the parser would take the parameter after the list
// as another element.
class Gantry_List<string element> : ArrayRefParameter<element> {
  let parser = "parseList<" # element # ">($_parser)";
  let printer = "printList($_printer, $_self)";
}

// A list that is not printed if it is empty.
class Gantry_OptionalList<string element> : OptionalArrayRefParameter<element> {
  let parser = "parseList<" # element # ">($_parser)";
  let printer = "printList($_printer, $_self)";
}

class Gantry_OptionalInt<string default = "0"> : DefaultValuedParameter<"int64_t", default>;
def Gantry_Flag : DefaultValuedParameter<"bool", "false">;

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

def Gantry_DimAttr : Gantry_Attr<"Dim", "dim"> {
  let summary = "a dimension of an input";
  let description = [{
    The name and the range of a dynamic dimension. Dimensions with the same name have the same size.
    The name of a static dimension is empty. If `max` is 0, the size has no upper limit.

    ```mlir
    #gantry.dim<"time", min = 8, max = 64>
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$name, Gantry_OptionalInt<"1">:$min,
      Gantry_OptionalInt<>:$max);
  let assemblyFormat = "`<` $name (`,` struct($min, $max)^)? `>`";
  let genVerifyDecl = 1;
}

def Gantry_PortAttr : Gantry_Attr<"Port", "port"> {
  let summary = "an input or an output of the program";
  let description = [{
    The name is not empty. `dims` has one entry for each dimension of the argument, and none for an
    output. The ranges of two dimensions with the same name must overlap, because both dimensions
    have the same size. MLIR's integers are signless: `is_unsigned` says that the model's integers
    are unsigned. If `donated` is set, a run may reuse the memory of the input.

    ```mlir
    func.func @main(%x: tensor<?x4xf32> {gantry.port =
        #gantry.port<name = "x", dims = [<"batch">, <"">]>})
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$name,
      Gantry_OptionalList<"::gantry::codegen::DimAttr">:$dims, Gantry_Flag:$is_unsigned,
      Gantry_Flag:$donated);
  let genVerifyDecl = 1;
}

def Gantry_StateAttr : Gantry_Attr<"State", "state"> {
  let summary = "an input that keeps its buffer from run to run";
  let description = [{
    After a run, the buffer of the argument holds result `result` of the function, which has the
    argument's element type and rank. If `result` is -1, runs only read the buffer. `initial` is the
    value of the buffer before the first run.

    The buffer holds the value in row-major order of the argument's type. If `order` is not empty,
    this type is not that of the model's input: dimension i of the argument, and of the result, is
    dimension order[i] of the input and of the output that the caller sees. order-states sets it.

    ```mlir
    func.func @main(%w: tensor<4xf32> {gantry.state = #gantry.state<result = 0>}) -> tensor<4xf32>
    ```
  }];
  let parameters = (ins Gantry_OptionalInt<"-1">:$result,
      OptionalParameter<"::mlir::ElementsAttr">:$initial, Gantry_OptionalList<"int64_t">:$order);
  let assemblyFormat = "(`<` struct(params)^ `>`)?";
  let builders = [AttrBuilder<(ins "int64_t":$result, "::mlir::ElementsAttr":$initial), [{
    return $_get($_ctxt, result, initial, ::llvm::ArrayRef<int64_t>());
  }]>];
  let genVerifyDecl = 1;
}

def Gantry_RequirementsAttr : Gantry_Attr<"Requirements", "requirements"> {
  let summary = "what the model assumes of its dynamic dimensions";
  let description = [{
    Each affine map of `non_negative` has one result, which must not be negative. Symbol i of every
    map is the size of the dynamic dimension whose name is entry i of `symbols`. The runtime checks
    the conditions before a run.
  }];
  let parameters = (ins Gantry_List<"::mlir::StringAttr">:$symbols,
      Gantry_List<"::mlir::AffineMap">:$non_negative);
  let genVerifyDecl = 1;
}

def Gantry_OrderAttr : Gantry_Attr<"Order", "order"> {
  let summary = "the result of order-dispatches";
  let description = [{
    order-dispatches chooses the order in which the dispatches run. `model_peak_bytes` is the peak
    of live bytes in the model's own order. `model_stages` and `stages` are the numbers of stages in
    the model's own order and in the chosen order. A stage is a sequence of dispatches without a
    barrier between them.
  }];
  let parameters = (ins "int64_t":$model_peak_bytes, "int64_t":$model_stages, "int64_t":$stages);
  let genVerifyDecl = 1;
}

def Gantry_BudgetAttr : Gantry_Attr<"Budget", "budget"> {
  let summary = "the result of fit-budget";
  let description = [{
    fit-budget lowers the memory of a run to a budget: it computes tensors again, or moves them to
    the host until their next use. `bytes` is the budget, at least 1, and `peak_before` the peak of
    live bytes before the pass. `recomputed` is the number of dispatches that were added to compute
    tensors again. `recomputed_peak` is the peak of live bytes with these dispatches, but without
    moves to the host. `moved` is the number of times that a tensor is moved to the host and back.
  }];
  let parameters = (ins "int64_t":$bytes, "int64_t":$peak_before, "int64_t":$recomputed,
      "int64_t":$recomputed_peak, "int64_t":$moved);
  let genVerifyDecl = 1;
}

def Gantry_StripChainAttr : Gantry_Attr<"StripChain", "strip_chain"> {
  let summary = "a chain of operators that is computed in strips of rows (the pass `strips`)";
  let description = [{
    A strip is a range of rows of the chain's result. The program computes all operators of the
    chain for one strip, then for the next, so the tensors between the operators are small.

    `first` and `last` are the names of the chain's first and last operator; they may be empty.
    `count` is the number of strips, at least 2. `saved_bytes` is the number of bytes by which the
    strips lower the peak of live bytes. A negative number means that they raise the peak; the pass
    accepts such strips only if they lower the smallest memory budget that can be met. `operations`
    is the number of arithmetic operations that the strips add, because neighbouring strips both
    compute the rows that both need.
  }];
  let parameters = (ins "::mlir::StringAttr":$first, "::mlir::StringAttr":$last, "int64_t":$count,
      "int64_t":$saved_bytes, "int64_t":$operations);
  let genVerifyDecl = 1;
}

def Gantry_StripsAttr : Gantry_Attr<"Strips", "strips"> {
  let summary = "the result of the pass `strips`";
  let description = [{
    `chains` lists the chains in the order in which they were chosen. `model_operations` is the
    number of arithmetic operations of the model without strips.
  }];
  let parameters = (ins Gantry_List<"::gantry::codegen::StripChainAttr">:$chains,
      "int64_t":$model_operations);
  let genVerifyDecl = 1;
}

def Gantry_FailureAttr : Gantry_Attr<"Failure", "failure"> {
  let summary = "the cause of a pass's failure";
  let description = [{
    A pass that fails because of the model or an option sets this attribute on the function.
    compileModel() (codegen/pipeline.h) then returns the corresponding result instead of an internal
    error.
  }];
  let parameters = (ins EnumParameter<Gantry_FailureCause>:$cause);
  let assemblyFormat = "`<` $cause `>`";
}

//===----------------------------------------------------------------------===//
// A kernel on tensors
//===----------------------------------------------------------------------===//

def Gantry_LayoutAttr : Gantry_Attr<"Layout", "layout"> {
  let summary = "the order of a tensor's elements in memory";
  let description = [{
    `parts` is a flat list of pairs (dimension, block), from the outermost to the innermost part of
    an address. The index of a part is floor(index along the dimension / block), modulo the number
    of blocks in the next larger block of the same dimension if there is one
    (codegen/tiling/layout.h). The empty list is row-major order.

    A tensor may be a box (a range of indices along each dimension) in a larger tensor, its
    *storage*. An example is the input of a concatenation, which lies in the result. `within` then
    has the extents of the storage, which determine the strides; an entry -1 means that the storage
    has the tensor's own extent. If `within` is empty, the tensor is dense. The tensor's first
    element lies `start` elements after the address at which the tensor's buffer is bound. `steps`
    has, for each dimension, the distance between neighbouring elements of the tensor, as a
    difference of their indices in the storage. It is empty if all these distances are 1, and it may
    only be set if `within` is set.

    ```mlir
    #gantry.layout<[0, 1, 1, 4, 2, 1, 3, 1, 1, 1]> // groups of four channels are adjacent
    #gantry.layout<[], within = [-1, 256, 28, 28]> // 64 of the 256 channels of each image
    #gantry.layout<[], within = [-1, 64, 56, 56], steps = [1, 1, 2, 2]> // every second row and column
    ```
  }];
  let parameters = (ins Gantry_List<"int64_t">:$parts, Gantry_OptionalList<"int64_t">:$within,
      Gantry_OptionalInt<>:$start, Gantry_OptionalList<"int64_t">:$steps);
  let assemblyFormat = "`<` $parts (`,` struct($within, $start, $steps)^)? `>`";
  let builders = [AttrBuilder<(ins "::llvm::ArrayRef<int64_t>":$parts), [{
    return $_get($_ctxt, parts, ::llvm::ArrayRef<int64_t>(), 0, ::llvm::ArrayRef<int64_t>());
  }]>];
  let genVerifyDecl = 1;
}

def Gantry_MeasuredAttr : Gantry_Attr<"Measured", "measured"> {
  let summary = "a tile from a table of measured tiles";
  let description = [{
    Such a table has the tile that was fastest for each kernel when it was measured on a device
    (codegen/tuning/tuning_table.h). `tile` is the tile's exact text without its kind (docs/tuning.md).
    `origin` is a text for users that names the table and the measured time. Neither is empty.
    `requested` says that the table is the caller's own, not the built-in one: the compiler then
    warns if the kernel cannot have the tile.
  }];
  let parameters = (ins EnumParameter<Gantry_TileKind>:$kind, "::mlir::StringAttr":$tile,
      "::mlir::StringAttr":$origin, Gantry_Flag:$requested);
  let genVerifyDecl = 1;
}

def Gantry_KernelAttr : Gantry_Attr<"Kernel", "kernel"> {
  let summary = "marks the module of a kernel";
  let description = [{
    `key` identifies the kernel in tables of measured tiles: 16 hexadecimal digits
    (codegen/tuning/kernel_key.h). `measured` is the tile that a table has for this key.
    `program_steps` is the number of loop steps of all dispatches of the program, or 0 if it is
    unknown.

    ```mlir
    module @kernel_0 attributes {gantry.kernel = #gantry.kernel<key = "0123456789abcdef">} { … }
    ```
  }];
  let parameters = (ins OptionalParameter<"::mlir::StringAttr">:$key,
      OptionalParameter<"::gantry::codegen::MeasuredAttr">:$measured,
      OptionalParameter<"int64_t">:$program_steps);
  let assemblyFormat = "(`<` struct(params)^ `>`)?";
  let genVerifyDecl = 1;
}

def Gantry_SignatureAttr : Gantry_Attr<"Signature", "signature"> {
  let summary = "the dispatch whose region became a kernel's function on tensors";
  let description = [{
    The function describes the kernel's computation with linalg operations. Its arguments are the
    dispatch's operands, then its dims. Each parameter except `dim_multiples` has the meaning of the
    attribute of `gantry.dispatch` with the same name. If `dim_multiples` is not empty, it has one
    number for each dim, and the dim is always a multiple of this number.
  }];
  let parameters = (ins Gantry_OptionalList<"int64_t">:$operand_dims,
      Gantry_OptionalList<"int64_t">:$result_dims,
      Gantry_OptionalList<"::gantry::codegen::LayoutAttr">:$layouts, Gantry_Flag:$rows,
      Gantry_OptionalList<"int64_t">:$dim_multiples);
  let assemblyFormat = "(`<` struct(params)^ `>`)?";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// A kernel on buffers
//===----------------------------------------------------------------------===//

def Gantry_TileAttr : Gantry_Attr<"Tile", "tile"> {
  let summary = "the tile of the result that an invocation, a subgroup or a workgroup computes";
  let description = [{
    `grid` is the index of this function among the functions of its kernel; the baseline has index
    0. `extents` are the numbers of elements of the tile along each dimension of the result, where
    the dimensions from `merged` on count as one dimension. `lanes` is the number of invocations of
    a subgroup that compute the tile together. `text` describes the tile for users. `exact` is the
    tile in the notation of tables of measured tiles; the compiler can reproduce the tile from it.
    `merged` is at most the number of `extents`. Neither text is empty.

    A kernel with dynamic dimensions may have several functions of one kind, each with the tile that
    is best for some sizes. `cost` is then the predicted cost of one tile, from which the runtime
    chooses a function when it knows the sizes; for other functions it is 0. If `dim_multiples` has
    n entries, n > 0, the function is only valid if the kernel's dim i is a multiple of entry i for
    each i below n.
  }];
  let parameters = (ins EnumParameter<Gantry_TileKind>:$kind, Gantry_OptionalInt<>:$grid,
      Gantry_List<"int64_t">:$extents, "int64_t":$merged, Gantry_OptionalInt<"1">:$lanes,
      Gantry_OptionalInt<>:$cost, Gantry_OptionalList<"int64_t">:$dim_multiples,
      "::mlir::StringAttr":$text, "::mlir::StringAttr":$exact);
  let genVerifyDecl = 1;
}

def Gantry_LaunchAttr : Gantry_Attr<"Launch", "launch"> {
  let summary = "how a kernel is launched";
  let description = [{
    The kernel takes `buffers` buffers, of which the last is the result, and `dims` dynamic sizes. A
    workgroup has `workgroup_size` invocations and computes `tiles_per_workgroup`
    tiles. If `subgroup_size` is not 0, every subgroup must have exactly this many active
    invocations. `shared_bytes` is the size of a workgroup's shared memory. `staged_bytes` is the
    sum of the sizes of all arrays in shared memory, or 0 if no operand is staged. It is larger than
    `shared_bytes` if two arrays use the same bytes at different times, and may be a little smaller
    because the size of the memory is rounded up. `matrix_feature` is the device feature that a
    kernel with cooperative matrices needs.
  }];
  let parameters = (ins "int64_t":$buffers, Gantry_OptionalInt<>:$dims, "int64_t":$workgroup_size,
      Gantry_OptionalInt<"1">:$tiles_per_workgroup, Gantry_OptionalInt<>:$subgroup_size,
      Gantry_OptionalInt<>:$shared_bytes, Gantry_OptionalInt<>:$staged_bytes,
      OptionalParameter<"::mlir::StringAttr">:$matrix_feature);
  let genVerifyDecl = 1;
}

def Gantry_LoopsAttr : Gantry_Attr<"Loops", "loops"> {
  let summary = "the number of loop iterations of one invocation";
  let description = [{
    The number of loop iterations that one invocation executes, over all loops, is at most `rounds`
    times the product of some of the dispatch's dims: those whose indices `dims` lists, in ascending
    order. `rounds` is at most 2^32 - 1; a larger number is stored as 2^32 - 1.
  }];
  let parameters = (ins "int64_t":$rounds, Gantry_OptionalList<"int64_t">:$dims);
  let genVerifyDecl = 1;
}

def Gantry_SlicesAttr : Gantry_Attr<"Slices", "slices"> {
  let summary = "how a dispatch can be cut into slices";
  let description = [{
    The runtime cuts a dispatch into several launches, its slices, if one of its buffers is larger
    than a device can bind. A slice has `workgroups` workgroups, at least 1. `bytes` has an entry
    for each buffer: the number of bytes by which the start of the buffer advances from one slice to
    the next. The entry is 0 for a buffer that every slice uses as a whole.
  }];
  let parameters = (ins "int64_t":$workgroups, Gantry_List<"int64_t">:$bytes);
  let genVerifyDecl = 1;
}

def Gantry_PredictionAttr : Gantry_Attr<"Prediction", "prediction"> {
  let summary = "what the cost model predicts for a kernel with its tile";
  let description = [{
    `cost` is the predicted cost of the whole kernel, in the unit of codegen/tiling/tile_cost.h.
    `accesses` is the number of loads and stores of memory that one invocation executes, and
    `vector_accesses` the number of those that load or store a vector. A vector access in which each
    invocation touches a cache line of its own counts as two. Sizes that are known only at run time
    are assumed to be 64.
  }];
  let parameters = (ins "int64_t":$cost, "int64_t":$accesses, Gantry_OptionalInt<>:$vector_accesses);
  let genVerifyDecl = 1;
}

def Gantry_RemarksAttr : Gantry_Attr<"Remarks", "remarks"> {
  let summary = "the reasons for the kernel's tile, one sentence each, for `gantry inspect --why`";
  let parameters = (ins Gantry_List<"::mlir::StringAttr">:$texts);
  let assemblyFormat = "`<` $texts `>`";
  let genVerifyDecl = 1;
}

def Gantry_BindingAttr : Gantry_Attr<"Binding", "binding"> {
  let summary = "what an argument of a kernel receives";
  let description = [{
    An argument with the role `buffer` is a view of a buffer: a pointer to its single elements or to
    vectors of them. `index` is the index of the buffer or, for the role `dim`, of the dim; other
    roles have none. `texels_of` is the buffer's element type if the view has another one: a view of
    an f16 buffer as texels has f32 elements. `skipped` is the number of elements of the buffer
    before the view's first vector, from 0 to 3.

    ```mlir
    func.func @k(%x: memref<?xf32> {gantry.binding = #gantry.binding<buffer[0]>},
                 %n: index {gantry.binding = #gantry.binding<dim[0]>},
                 %lane: index {gantry.binding = #gantry.binding<lane>})
    ```
  }];
  let parameters = (ins EnumParameter<Gantry_ArgumentRole>:$role,
      Gantry_OptionalInt<"-1">:$index, OptionalParameter<"::mlir::Type">:$texels_of,
      Gantry_OptionalInt<"0">:$skipped);
  let assemblyFormat = [{`<` $role (`` `[` $index^ `]`)? (`texels_of` `=` $texels_of^)?
                         (`skipped` `=` $skipped^)? `>`}];
  let genVerifyDecl = 1;
}

def Gantry_TexelViewAttr : Gantry_Attr<"TexelView", "texel_view"> {
  let summary = "a buffer that is read as texels";
  let description = [{
    `buffer` is the buffer's index. If `alone` is set, the buffer is bound only as a texel buffer;
    otherwise it is bound as a storage buffer too.
  }];
  let parameters = (ins "int64_t":$buffer, EnumParameter<Gantry_TexelFormat>:$format,
      Gantry_Flag:$alone);
  let genVerifyDecl = 1;
}

def Gantry_BuffersAttr : Gantry_Attr<"Buffers", "buffers"> {
  let summary = "how a SPIR-V module reaches its buffers";
  let description = [{
    Only the mode `texel` has `texel_views`. The views are in the order of their buffers, and each
    buffer has at most one view.
  }];
  let parameters = (ins EnumParameter<Gantry_BindingMode>:$mode,
      Gantry_OptionalList<"::gantry::codegen::TexelViewAttr">:$texel_views);
  let genVerifyDecl = 1;
}

#endif

// The types of the Gantry dialect's attributes. GantryDialect.td lists the operations that they
// belong to.
//
// Parameters that equal their default are not printed. Extents and counts are at least 0.
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
  I32EnumAttrCase<"kBaseline", 0, "baseline">, // for any device: no subgroup operations, texel buffers or shared memory
  I32EnumAttrCase<"kTexel", 1, "texel">,       // operands are read as texels; a subgroup may share a tile
  I32EnumAttrCase<"kStaged", 2, "staged">,     // operands are staged in shared memory
  I32EnumAttrCase<"kMatrices", 3, "matrices">, // staged, and multiplied by the device's cooperative matrices
  I32EnumAttrCase<"kDots", 4, "dots">          // as baseline, with the device's dot products of four bytes
]>;

def Gantry_ArgumentRole : Gantry_Enum<"ArgumentRole", "what an argument of a kernel receives", [
  I32EnumAttrCase<"kBuffer", 0, "buffer">,         // one view of buffer `index`
  I32EnumAttrCase<"kDim", 1, "dim">,               // dynamic dimension `index`
  I32EnumAttrCase<"kWorkgroupX", 2, "workgroup_x">,
  I32EnumAttrCase<"kWorkgroupY", 3, "workgroup_y">,
  I32EnumAttrCase<"kInvocation", 4, "invocation">, // the invocation's index in its workgroup
  I32EnumAttrCase<"kLane", 5, "lane">,             // the invocation's index in its subgroup
  I32EnumAttrCase<"kSubgroup", 6, "subgroup">      // the subgroup's index in its workgroup
]>;

def Gantry_BindingMode : Gantry_Enum<"BindingMode", "how a SPIR-V module reaches its buffers", [
  I32EnumAttrCase<"kStorageBuffer", 0, "storage_buffer">, // descriptors of storage buffers
  I32EnumAttrCase<"kAddress", 1, "address">,              // 64-bit addresses in push constants
  I32EnumAttrCase<"kTexel", 2, "texel">                   // storage buffers and texel buffers
]>;

def Gantry_TexelFormat : Gantry_Enum<"TexelFormat", "the format of a texel buffer", [
  I32EnumAttrCase<"kRgba32f", 0, "rgba32f">,
  I32EnumAttrCase<"kRgba16f", 1, "rgba16f">
]>;

def Gantry_FailureCause : Gantry_Enum<"FailureCause", "who is at fault where a pass fails", [
  I32EnumAttrCase<"kInput", 0, "input">,            // the model or an option of the caller
  I32EnumAttrCase<"kUnsupported", 1, "unsupported"> // the compiler does not support the model
]>;

//===----------------------------------------------------------------------===//
// Bases
//===----------------------------------------------------------------------===//

class Gantry_Attr<string name, string attrMnemonic> : AttrDef<Gantry_Dialect, name> {
  let mnemonic = attrMnemonic;
  let assemblyFormat = "`<` struct(params) `>`";
}

// A list in square brackets. Without the brackets a list would swallow the parameter after it.
class Gantry_List<string element> : ArrayRefParameter<element> {
  let parser = "parseList<" # element # ">($_parser)";
  let printer = "printList($_printer, $_self)";
}

// A list that is not printed where it is empty.
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
    The name and the range of a dynamic dimension. Dimensions of one name have one size. The name of
    a static dimension is empty. `max` 0 means that the size has no upper limit.

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
    `dims` has one entry for each dimension of an input; outputs have none. MLIR's arithmetic is
    signless: `is_unsigned` says that the model's integers are unsigned. The memory of a `donated`
    input may be reused by the run.

    ```mlir
    func.func @main(%x: tensor<?x4xf32> {gantry.port =
        #gantry.port<name = "x", dims = [<"batch">, <"">]>})
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$name,
      Gantry_OptionalList<"::gantry::codegen::DimAttr">:$dims, Gantry_Flag:$is_unsigned,
      Gantry_Flag:$donated);
}

def Gantry_RequirementsAttr : Gantry_Attr<"Requirements", "requirements"> {
  let summary = "what the model assumes of its dynamic dimensions";
  let description = [{
    Each map takes the sizes of the dimensions `symbols` as its symbols, and its one result must not
    be negative. The runtime checks this before a run.
  }];
  let parameters = (ins Gantry_List<"::mlir::StringAttr">:$symbols,
      Gantry_List<"::mlir::AffineMap">:$non_negative);
  let genVerifyDecl = 1;
}

def Gantry_OrderAttr : Gantry_Attr<"Order", "order"> {
  let summary = "what order-dispatches achieved";
  let description = [{
    A stage is a run of dispatches without a barrier in between. `model_peak_bytes` and
    `model_stages` are those of the model's own order, `stages` is that of the chosen order.
  }];
  let parameters = (ins "int64_t":$model_peak_bytes, "int64_t":$model_stages, "int64_t":$stages);
}

def Gantry_BudgetAttr : Gantry_Attr<"Budget", "budget"> {
  let summary = "what fit-budget did";
  let description = [{
    `bytes` is the budget and `peak_before` the arena's peak without it. `recomputed` dispatches were
    added, which alone lowers the peak to `recomputed_peak`; `moved` tensors wait on the host.
  }];
  let parameters = (ins "int64_t":$bytes, "int64_t":$peak_before, "int64_t":$recomputed,
      "int64_t":$recomputed_peak, "int64_t":$moved);
}

def Gantry_FailureAttr : Gantry_Attr<"Failure", "failure"> {
  let summary = "why a pass refused the program";
  let description = [{
    A pass that fails for a reason outside of the compiler leaves this on the function, and the
    pipeline returns the corresponding result instead of an internal error.
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
    Pairs of a dimension and a block, from the outermost to the innermost part of an address:
    codegen/tiling/layout.h has the definition. The empty list is row-major order.

    ```mlir
    #gantry.layout<[0, 1, 1, 4, 2, 1, 3, 1, 1, 1]> // four channels of an image lie innermost
    ```
  }];
  let parameters = (ins Gantry_List<"int64_t">:$parts);
  let assemblyFormat = "`<` $parts `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool isRowMajor() const { return getParts().empty(); }
  }];
}

def Gantry_MeasuredAttr : Gantry_Attr<"Measured", "measured"> {
  let summary = "a tile from a table of measured tiles";
  let description = [{
    `tile` is the exact text of the tile (docs/tuning.md) and `origin` says for people where it
    comes from. `requested` says that the caller gave the table: the compiler warns where it cannot
    take the tile.
  }];
  let parameters = (ins "::mlir::StringAttr":$tile, "::mlir::StringAttr":$origin,
      Gantry_Flag:$requested);
}

def Gantry_KernelAttr : Gantry_Attr<"Kernel", "kernel"> {
  let summary = "marks the module of a kernel";
  let description = [{
    `key` is the kernel's name in tables of measured tiles (codegen/tuning/kernel_key.h), and
    `measured` the tile that a table has for it.

    ```mlir
    module @kernel_0 attributes {gantry.kernel = #gantry.kernel<key = "0123456789abcdef">} { … }
    ```
  }];
  let parameters = (ins OptionalParameter<"::mlir::StringAttr">:$key,
      OptionalParameter<"::gantry::codegen::MeasuredAttr">:$measured);
  let assemblyFormat = "(`<` struct(params)^ `>`)?";
}

def Gantry_SignatureAttr : Gantry_Attr<"Signature", "signature"> {
  let summary = "the dispatch that a kernel's function on tensors was made of";
  let description = [{
    The function takes the dispatch's tensors, then its dims. The parameters are those of
    `gantry.dispatch` with the same names.
  }];
  let parameters = (ins Gantry_OptionalList<"int64_t">:$operand_dims,
      Gantry_OptionalList<"int64_t">:$result_dims,
      Gantry_OptionalList<"::gantry::codegen::LayoutAttr">:$layouts, Gantry_Flag:$rows);
  let assemblyFormat = "(`<` struct(params)^ `>`)?";
}

//===----------------------------------------------------------------------===//
// A kernel on buffers
//===----------------------------------------------------------------------===//

def Gantry_TileAttr : Gantry_Attr<"Tile", "tile"> {
  let summary = "the tile of the result that one invocation, or one workgroup, computes";
  let description = [{
    `grid` is the index of this function among those of its kernel; 0 is the baseline. `extents` are
    those of the tile along the result's dimensions, of which those from `merged` on are treated as
    one. `lanes` invocations of a subgroup share a tile. `text` describes the tile for people, and
    `exact` is the text from which a table of measured tiles makes the same tile again.
  }];
  let parameters = (ins EnumParameter<Gantry_TileKind>:$kind, Gantry_OptionalInt<>:$grid,
      Gantry_List<"int64_t">:$extents, "int64_t":$merged, Gantry_OptionalInt<"1">:$lanes,
      "::mlir::StringAttr":$text, "::mlir::StringAttr":$exact);
  let genVerifyDecl = 1;
}

def Gantry_LaunchAttr : Gantry_Attr<"Launch", "launch"> {
  let summary = "how a kernel is launched";
  let description = [{
    The kernel takes `buffers` buffers, of which the last is the result, and `dims` dynamic
    dimensions. A workgroup has `workgroup_size` invocations and computes `tiles_per_workgroup`
    tiles. `subgroup_size` is the size that its subgroups must have, each of them full; 0 stands for
    any. `shared_bytes` is the shared memory of a workgroup, and `staged_bytes` the sum of what is
    staged there, which is larger where two boxes use the same place at different times.
    `matrix_feature` is the device feature that a kernel with cooperative matrices needs.
  }];
  let parameters = (ins "int64_t":$buffers, Gantry_OptionalInt<>:$dims, "int64_t":$workgroup_size,
      Gantry_OptionalInt<"1">:$tiles_per_workgroup, Gantry_OptionalInt<>:$subgroup_size,
      Gantry_OptionalInt<>:$shared_bytes, Gantry_OptionalInt<>:$staged_bytes,
      OptionalParameter<"::mlir::StringAttr">:$matrix_feature);
  let genVerifyDecl = 1;
}

def Gantry_LoopsAttr : Gantry_Attr<"Loops", "loops"> {
  let summary = "how long an invocation's loops are";
  let description = [{
    An invocation runs at most `rounds` rounds of nested loops, times the sizes of the dynamic
    dimensions `dims`.
  }];
  let parameters = (ins "int64_t":$rounds, Gantry_OptionalList<"int64_t">:$dims);
}

def Gantry_SlicesAttr : Gantry_Attr<"Slices", "slices"> {
  let summary = "where a dispatch may be cut into parts";
  let description = [{
    A part may end after every `workgroups` workgroups; each buffer then advances by its entry of
    `bytes`, which is 0 for a buffer that every part reads from its start.
  }];
  let parameters = (ins "int64_t":$workgroups, Gantry_List<"int64_t">:$bytes);
}

def Gantry_RemarksAttr : Gantry_Attr<"Remarks", "remarks"> {
  let summary = "why the kernel has this tile, one sentence each, for `gantry inspect --why`";
  let parameters = (ins Gantry_List<"::mlir::StringAttr">:$texts);
  let assemblyFormat = "`<` $texts `>`";
}

def Gantry_BindingAttr : Gantry_Attr<"Binding", "binding"> {
  let summary = "what an argument of a kernel receives";
  let description = [{
    `index` numbers the buffers and the dims. `texels_of` is the element type of a buffer whose view
    has another: an f16 buffer that is read as texels, which are f32.

    ```mlir
    func.func @k(%x: memref<?xf32> {gantry.binding = #gantry.binding<buffer[0]>},
                 %n: index {gantry.binding = #gantry.binding<dim[0]>},
                 %lane: index {gantry.binding = #gantry.binding<lane>})
    ```
  }];
  let parameters = (ins EnumParameter<Gantry_ArgumentRole>:$role,
      Gantry_OptionalInt<"-1">:$index, OptionalParameter<"::mlir::Type">:$texels_of);
  let assemblyFormat = "`<` $role (`` `[` $index^ `]`)? (`texels_of` `=` $texels_of^)? `>`";
  let genVerifyDecl = 1;
}

def Gantry_TexelViewAttr : Gantry_Attr<"TexelView", "texel_view"> {
  let summary = "a buffer that is read as texels";
  let description = [{
    `alone` says that the buffer is not bound as a storage buffer as well.
  }];
  let parameters = (ins "int64_t":$buffer, EnumParameter<Gantry_TexelFormat>:$format,
      Gantry_Flag:$alone);
}

def Gantry_BuffersAttr : Gantry_Attr<"Buffers", "buffers"> {
  let summary = "how a SPIR-V module reaches its buffers";
  let parameters = (ins EnumParameter<Gantry_BindingMode>:$mode,
      Gantry_OptionalList<"::gantry::codegen::TexelViewAttr">:$texel_views);
}

#endif

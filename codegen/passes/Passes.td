// Declares and describes the compiler's passes, in alphabetical order. pipeline.cpp has the order in
// which they run.
#ifndef GANTRY_PASSES
#define GANTRY_PASSES

include "mlir/Pass/PassBase.td"

def ApplyTuning : Pass<"apply-tuning", "::mlir::ModuleOp"> {
  let summary = "look up the kernels in tables of measured tiles";
  let description = [{
    Sets `gantry.kernel` on each kernel's module: its key (codegen/tuning/kernel_key.h) and, if a
    table has a tile for this key, the tile and its origin. emit-kernels takes the tile if the
    kernel can have it. The table in `file` takes precedence over the built-in table.

    Before:
    ```mlir
    module @kernel_0 attributes {gantry.kernel = #gantry.kernel} { func.func @kernel_0 … }
    ```
    After:
    ```mlir
    module @kernel_0 attributes {gantry.kernel = #gantry.kernel<key = "0123456789abcdef",
        measured = <kind = baseline, tile = "points=4 steps=-",
        origin = "tuned.json: 8.1 us, the predicted tile 9.4 us, measured on …", requested = true>>} { … }
    ```
  }];
  let options = [Option<"profile", "profile", "std::string", "\"vulkan:generic\"",
                        "the device profile whose tiles are looked up">,
                 Option<"file", "file", "std::string", "\"\"", "a table of measured tiles, or none">,
                 Option<"builtIn", "built-in", "bool", "true",
                        "also use the table that is built into the compiler">];
  let dependentDialects = ["::gantry::codegen::GantryDialect"];
}

def AssignStorage : Pass<"assign-storage", "::mlir::func::FuncOp"> {
  let summary = "let results take the storage of operands, and describe tensors inside of others";
  let description = [{
    Decides for each tensor whether it has storage of its own.

    Marks a dispatch with `in_place = i` if its result may take the storage of operand i. If several
    operands qualify, the pass chooses the first. The operand must be a transient or a donated input
    with the type and the layout of the result. Neither the operand nor a view of it may be used
    after the dispatch. An element of the operand may be read only by the invocation that writes the
    same element of the result. If the result is the next value of a state (`gantry.state`),
    the state's input qualifies in the same way and is preferred.

    A tensor that place-concats has placed in the storage of a concatenation is a box in it
    (codegen/passes/storage/placement.h). Unless the box is one contiguous range of the storage, the
    layouts of the dispatches that write or read the tensor get the extents of the storage, from which
    kernels compute the strides. A buffer is bound at a multiple of `alignment` bytes; the layout's `start`
    is the number of elements from this address to the box.

    Before: `%e = gantry.dispatch(%x) { exp }; %s = gantry.dispatch(%e) { sum of each row };
    %r = gantry.dispatch(%e, %s) { divide }`.
    After: `…; %r = gantry.dispatch(%e, %s) in_place = 0 { divide }`.

    Before: `%a = gantry.dispatch(%x) { exp }; %c = gantry.concat %a, %b along 1`, where `%a` has the
    type tensor<8x4x16xf32> and `%c` tensor<8x6x16xf32>.
    After: `%a = gantry.dispatch(%x) layouts = [#gantry.layout<[]>, #gantry.layout<[], within =
    [8, 6, 16]>] { exp }; …`.
  }];
  let options = [Option<"alignment", "alignment", "uint64_t", "256",
                        "a buffer is bound at a multiple of this many bytes; at least 16">];
  let dependentDialects = ["::gantry::codegen::GantryDialect"];
}

def BindBuffers : Pass<"bind-buffers", "::mlir::ModuleOp"> {
  let summary = "bind a SPIR-V kernel's buffers, dimensions and ids";
  let description = [{
    Runs on the module of one kernel after convert-kernels-to-spirv. Makes a spirv.module from each
    function for each way to bind its buffers, and replaces the function's arguments by variables:
    the buffers, the sizes of dynamic dimensions, and the ids of the workgroup, the subgroup and the
    invocation.
    `gantry.buffers` on the module names the way:
    - `storage_buffer`: buffer i is descriptor set 0, binding i. The push-constant block holds the
      dynamic dimensions, each in the low 4 bytes of an 8-byte word.
    - `address`: the block holds the 64-bit device addresses of the buffers, then the dimensions.
      Loads and stores use PhysicalStorageBuffer pointers and state their alignment.
    - `texel`: the only way for kernels with texel loads (the tile's kind is `texel`). It is like
      `storage_buffer`, except that a view of operand i that is only loaded as vectors is a uniform
      texel buffer, at binding (number of buffers) + i.

    The attributes that describe the kernel move from the function to the module.

    Before (a kernel with two buffers and one dynamic dimension; `!view` is
    `!spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>`):
    ```mlir
    spirv.func @k(%x: !view {gantry.binding = #gantry.binding<buffer[0]>},
                  %y: !view {gantry.binding = #gantry.binding<buffer[1]>},
                  %n: i32 {gantry.binding = #gantry.binding<dim[0]>}, …) { … }
    ```
    After:
    ```mlir
    spirv.module Logical GLSL450 … {gantry.buffers = #gantry.buffers<mode = storage_buffer>, …} {
      spirv.GlobalVariable @block : !spirv.ptr<!spirv.struct<(i32 [0])>, PushConstant>
      spirv.GlobalVariable @buffer0 bind(0, 0) … : !view
      spirv.GlobalVariable @buffer1 bind(0, 1) … : !view
      spirv.func @k() { … }
    }
    spirv.module PhysicalStorageBuffer64 GLSL450 … {
        gantry.buffers = #gantry.buffers<mode = address>, …} {
      spirv.GlobalVariable @block :
          !spirv.ptr<!spirv.struct<(i64 [0], i64 [8], i32 [16])>, PushConstant>
      spirv.func @k() { … spirv.ConvertUToPtr … }
    }
    ```
  }];
  let dependentDialects = ["::mlir::spirv::SPIRVDialect"];
}

def CenterZeroPoints : Pass<"center-zero-points", "::mlir::func::FuncOp"> {
  let summary = "move the zero points of integer matmuls to the middle of the bytes' range";
  let description = [{
    The pass is for devices with dot products of four signed bytes. It changes matmuls of bytes in
    which one factor b is a constant and the other factor a has a zero point z. It replaces z by m,
    the middle of the bytes' range: 128 if a is unsigned, otherwise 0. Then a - m is a signed byte,
    and kernels need no arithmetic for its zero point. A term that does not depend on the reduction
    step is added to the result:
    sum (a - z) b = sum (a - m) b + (m - z) sum b.
    It also holds for the elements of a's padding, whose value z is therefore kept. A reduction
    without a dimension that divides into groups of four steps is not changed.

    Before: `%s = sum over k of (extui %a[m, k] - 120) * extsi %b[k, n]`.
    After: `%s = sum over k of (extui %a[m, k] - 128) * extsi %b[k, n]; %r = %s[m, n] + %c[n]`,
    where `%c[n]` is the constant 8 * (sum over k of `%b[k, n]`). If the zero point is a tensor
    `%z`, the added term is `(128 - extui %z) * %c[n]`, where `%c[n]` is the sum itself.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def ChooseLayouts : Pass<"choose-layouts", "::mlir::func::FuncOp"> {
  let summary = "store images in blocks of four channels and operands of matmuls in panels";
  let description = [{
    Runs after form-dispatches and sets `layouts` of the dispatches (codegen/tiling/layout.h). The
    arithmetic does not change.

    An image is a tensor `[n, c, …]` that a dispatch reads as a convolution or a pool does: over
    windows, or with a reduction over the channels c. If a dispatch computes an image and only
    dispatches read it, it is stored as `[n, c / 4, …, c mod 4]`. A tensor of the same rank that is
    computed from such an image is stored in the same way. A vec4 load then reads four channels of
    one pixel, whatever the window. An input of the program that is an image is first copied to this
    layout. `c` must be a multiple of four, so a layout never changes a tensor's size.

    The left operand of a large matmul is stored in panels of eight rows if the size of its rows is
    a multiple of 4 KiB and only such matmuls read it. In row-major order all rows would begin in
    the same cache set.

    With `bytes-only`, only images of bytes change. This is for devices on which blocked layouts are
    faster only if one load reads four bytes as a word.

    Before (an 8-channel image is negated and convolved with a filter, the program's input `%f`):
    ```mlir
    %a = gantry.dispatch(%x) { negate }
    %b = gantry.dispatch(%a, %f) { convolve }
    ```
    After, where #blocked is #gantry.layout<[0, 1, 1, 4, 2, 1, 3, 1, 1, 1]>:
    ```mlir
    %g = gantry.dispatch(%f) layouts = [#gantry.layout<[]>, #blocked] { copy }
    %a = gantry.dispatch(%x) layouts = [#gantry.layout<[]>, #blocked] { negate }
    %b = gantry.dispatch(%a, %g) layouts = [#blocked, #blocked, #gantry.layout<[]>] { convolve }
    ```
  }];
  let options = [Option<"bytesOnly", "bytes-only", "bool", "false",
                        "only change the layout of images of bytes">];
}

def CollapseDims : Pass<"collapse-dims", "::mlir::ModuleOp"> {
  let summary = "merge the dimensions that a kernel treats alike";
  let description = [{
    If the first loops of all operations of a kernel's function are, in order, the first dimensions of
    some of its tensors, and the indices of the other tensors do not depend on these loops, these
    dimensions become one. A batch of matmuls by one matrix becomes one matmul, whose tiles may contain
    rows of several matrices of the batch. Kernels of different ranks become equal up to their sizes, so
    that share-kernels may let them share. An elementwise kernel whose tensors have equal layouts gets
    one dimension, in the order of memory. The attribute `collapsed` of a dispatch has the number of
    dimensions that became one.

    Kernels with dynamic sizes, slices, pads or `linalg.index` stay as they are.

    Before: `func.func @kernel_0(%x: tensor<4x49x256xf32>, %w: tensor<256x768xf32>) -> tensor<4x49x768xf32>`
    After: `func.func @kernel_0(%x: tensor<196x256xf32>, %w: tensor<256x768xf32>) -> tensor<196x768xf32>`
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def ConvertKernelsToSPIRV : Pass<"convert-kernels-to-spirv", "::mlir::ModuleOp"> {
  let summary = "convert a kernel's functions to the SPIR-V dialect";
  let description = [{
    Runs on the module of one kernel after emit-kernels. Converts the operations of the dialects
    memref, arith, math, scf and vector to the SPIR-V dialect. Buffers become pointers to
    StorageBuffer structs; the sizes of dynamic dimensions, and the ids of the workgroup, the
    subgroup and the invocation, become 32-bit integers. All of them stay arguments of the function
    until bind-buffers replaces them.

    Before:
    ```mlir
    func.func @k(%x: memref<?xf32, #spirv.storage_class<StorageBuffer>>
        {gantry.binding = #gantry.binding<buffer[0]>}, …) { … arith.negf … }
    ```
    After:
    ```mlir
    spirv.func @k(%x: !spirv.ptr<!spirv.struct<(!spirv.rtarray<f32, stride=4> [0])>, StorageBuffer>
        {gantry.binding = #gantry.binding<buffer[0]>}, …) { … spirv.FNegate … }
    ```
  }];
  let dependentDialects = ["::mlir::spirv::SPIRVDialect", "::mlir::math::MathDialect"];
}

def DistributeElementwise : Pass<"distribute-elementwise", "::mlir::func::FuncOp"> {
  let summary = "apply elementwise operators to the phases of transposed convolutions";
  let description = [{
    The inputs of an interleaved tensor (gantry.concat) are the phases of a transposed convolution. The
    pass applies an elementwise operator of the whole tensor to each phase instead; it then joins the
    dispatch that computes the phase. This is done if nothing else uses the tensor, and if the
    operator's other operands have the same elements for all phases, for example one scale for each
    channel. If one sum computes all phases, the
    operator is applied to the sum, before the dimensions of rows and phases are joined
    (isUnfolding() in fusion_groups.h).

    Before:
    ```mlir
    %y = gantry.concat %a, %b along 3 interleaved : …
    %r = linalg.generic … ins(%y) { maximum of the element and 0 }
    ```
    After:
    ```mlir
    %c = linalg.generic … ins(%a) { maximum of the element and 0 }
    %d = linalg.generic … ins(%b) { maximum of the element and 0 }
    %r = gantry.concat %c, %d along 3 interleaved : …
    ```
  }];
  let dependentDialects = ["::gantry::codegen::GantryDialect", "::mlir::tensor::TensorDialect"];
}

def EmitKernels : Pass<"emit-kernels", "::mlir::ModuleOp"> {
  let summary = "lower a kernel from linalg on tensors to loads, arithmetic and stores";
  let description = [{
    Runs on the module of one kernel. Chooses a tile for the device profile and replaces the
    function on tensors by a function on buffers, in which one invocation computes one tile of the
    result. If the device profile prefers other kinds of tiles (texel loads, operands staged in
    shared memory, cooperative matrices, dot products of bytes), adds a function for each kind. In
    these kinds, a subgroup or a workgroup may share the tile. The attributes `gantry.launch`,
    `gantry.tile`, `gantry.loops`, `gantry.slices`, `gantry.prediction` and `gantry.remarks`
    describe each function (codegen/dialect/GantryAttributes.td);
    codegen/passes/kernel_function.h defines its arguments.

    For a kernel with dynamic dimensions, several texel tiles are chosen: for one, few and many
    elements along these dimensions. Each becomes a function, with the predicted cost of a tile, by
    which a session chooses among them when it knows the sizes. If the elements along a dynamic
    dimension are neighbours in memory, another tile may be added for multiples of four: its rows
    consist of whole vectors.

    If apply-tuning found a measured tile and the kernel can have it, this tile replaces the
    predicted tiles. If it is not a baseline tile, the predicted baseline is kept as well.

    Before:
    ```mlir
    func.func @k(%x: tensor<64xf32>) -> tensor<64xf32> {
      %e = tensor.empty() : tensor<64xf32>
      %r = linalg.generic … { ^bb0(%a: f32, %o: f32): %n = arith.negf %a … }
      return %r
    }
    ```
    After (a tile of four elements):
    ```mlir
    func.func @k(%x4: memref<?xvector<4xf32>>, %y4: memref<?xvector<4xf32>>, %wg: index, …) {
      %v = memref.load %x4[%i] … arith.negf … memref.store %w, %y4[%i]
    }
    ```
  }];
  let options = [Option<"profile", "profile", "std::string", "\"vulkan:generic\"",
                        "the device profile to choose tiles for">,
                 Option<"sharedMemory", "shared-memory", "uint32_t", "0",
                        "limit of a workgroup's shared memory in bytes; 0: the profile's">,
                 Option<"candidate", "candidate", "uint32_t", "0",
                        "how many of the cheapest tiles each kernel skips">];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect", "::mlir::arith::ArithDialect",
                           "::mlir::spirv::SPIRVDialect", "::gantry::codegen::GantryDialect"];
}

def EmitNative : Pass<"emit-native", "::mlir::ModuleOp"> {
  let summary = "write kernels as PTX or AMDGPU assembly";
  let description = [{
    Runs on the module of one kernel after emit-kernels and does not change the module. For each
    chip, a copy is lowered to the LLVM dialect with NVVM's or ROCDL's operations
    (codegen/targets/native.h) and written as assembly to FOLDER/NAME.CHIP.ptx or
    FOLDER/NAME.CHIP.s. Functions with texel loads or cooperative matrices are left out.

    Before: `%v = memref.load %x[%i]; %o = spirv.GroupNonUniformShuffleXor <Subgroup> %v, %four;
    %s = arith.addf %v, %o`.
    In the file for sm_80: `ld.global.f32 …; shfl.sync.bfly.b32 …, 4, 31, 255; add.rn.f32 …`.
  }];
  let options = [Option<"folder", "folder", "std::string", "\"\"", "the folder of the files">,
                 ListOption<"chips", "chips", "std::string",
                            "the chips, for example sm_80 and gfx1100">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
                           "::mlir::ROCDL::ROCDLDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect", "::mlir::scf::SCFDialect"];
}

def FitBudget : Pass<"fit-budget", "::mlir::func::FuncOp"> {
  let summary = "lower the peak of the arena to a budget";
  let description = [{
    Runs after order-dispatches. A transient that is alive but not used at the peak leaves the arena
    until its next use. It is then either computed again (its dispatch is cloned) or moved back from
    the host, to which it was moved after its last use (`gantry.move`). engine/plan/order/budget.h
    chooses the transients and the cheaper way: a byte moved over the bus costs as much as 16 bytes
    of device memory traffic or 512 floating-point operations.

    All bytes of a storage count as live while any of its tensors is in use. They count separately by
    tensor if the budget cannot be met otherwise and this lowers the smallest possible budget by at
    least a tenth (SharedStorage in dispatch_graph.h says why).
    The live tensors may then fit into the budget while the arena, which also has gaps between
    them, does not. In this case the emission of the program fails and reports the arena's size.

    `gantry.budget` on the function has the numbers of recomputed and moved tensors. The pass fails
    if a single dispatch needs more than the budget; the message has the smallest possible budget.
    It also fails if an input of the program has a dynamic shape.

    Before: `%a = f(%x); %b = g(…); %c = h(%b); %d = k(%a, %c)`.
    After: `%a = f(%x); %b = g(…); %c = h(%b); %a2 = f(%x); %d = k(%a2, %c)`.
  }];
  let options = [Option<"budgetBytes", "budget-bytes", "uint64_t", "0",
                        "the limit of the arena in bytes; 0: none">];
  let dependentDialects = ["::gantry::codegen::GantryDialect"];
}

def FoldReshapes : Pass<"fold-reshapes", "::mlir::func::FuncOp"> {
  let summary = "let slices and permutations do the work of the reshapes after them";
  let description = [{
    Reshapes between dispatches are views of dense tensors, so an operator that only moves elements
    and whose result is reshaped would have to be stored. The pass handles three kinds of
    such operators:
    - a slice whose dimensions of extent 1 a reshape drops (for example, heads of an attention that
      are split from one tensor): the slice drops the dimensions itself;
    - a slice whose dimensions a reshape divides (for example, heads of an attention whose queries,
      keys and values are one tensor): the tensor is divided before it is sliced;
    - a permutation between two reshapes of fixed shapes (for example, a shuffle of channels): one operator
      with the composed indexing map. The result of such an operator (isShuffle() in
      fusion_groups.h) is stored: if readers computed the permuted index themselves, they would lose
      vector loads. A concatenation that only this operator reads is evaluated inside of it.

    Before: `%s = tensor.extract_slice %x …; %c = tensor.collapse_shape %s [[0, 1], [2]]
    : tensor<1x2x8xf32> into tensor<2x8xf32>`.
    After: `%c = tensor.extract_slice %x … to tensor<2x8xf32>`.

    Before: `%s = tensor.extract_slice %x[0, 8] [5, 8] [1, 1] : tensor<5x24xf32> to tensor<5x8xf32>;
    %e = tensor.expand_shape %s : tensor<5x8xf32> into tensor<5x2x4xf32>`.
    After: `%d = tensor.expand_shape %x : tensor<5x24xf32> into tensor<5x6x4xf32>; %e =
    tensor.extract_slice %d[0, 2, 0] [5, 2, 4] [1, 1, 1]`.

    Before: `%e = tensor.expand_shape %x : tensor<1x8x…> into tensor<1x2x4x…>; %p = permute(%e);
    %c = tensor.collapse_shape %p : tensor<1x4x2x…> into tensor<1x8x…>`.
    After: `%c = linalg.generic … ins(%x), where %x is read at (d0, (d1 mod 2) * 4 + d1 floordiv 2, …)`.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FormDispatches : Pass<"form-dispatches", "::mlir::func::FuncOp"> {
  let summary = "group the operators into dispatches";
  let description = [{
    Decides which tensors are stored in memory. All operators between stored tensors become one
    dispatch. A dispatch has at most one reduction, or several over the rows of its result, or one
    attention. The following operators are inlined into it:
    - pads, slices, permutations and broadcasts of its operands, and the dequantization of
      constants;
    - elementwise producers with one consumer, if the dispatch needs each of their elements once, or
      if it broadcasts the elements and they are cheap to compute;
    - gates: the multiplication of a matmul's operand by a computed factor for each step of the
      reduction, as in squeeze-and-excitation;
    - prologues: cheap elementwise producers of a matmul's operand, as batch norm and ReLU before a
      convolution 1x1, if evaluating them in every tile costs less than storing and loading their
      result, and no reduction before them can evaluate them;
    - after a reduction, the chain of elementwise consumers over the same elements (bias,
      activation, residual);
    - the operators that compute the rows of a `gantry.scatter`, and their positions.
    Reshapes are views and stay between dispatches. A value with several consumers is inlined only
    if it is pure data movement, or part of a softmax, a normalization or an attention (below);
    otherwise it is computed once and stored.

    Reductions over the last dimension whose results are broadcast back over it (softmax,
    normalizations) are fused with the operators that read the broadcast, and with the elementwise
    operators in between. Such a dispatch is marked with `rows`.

    An attention (codegen/tiling/attention.h: a matmul, elementwise operators, a softmax, another
    matmul) becomes one dispatch, whose kernel does not store the scores. Its parts stay separate
    dispatches if the scores have fewer than `score-bytes` bytes, if a row of the values is too long
    for registers, or if the dispatch would bind too many buffers. `gantry.why` on the last matmul
    then has the reason, which `gantry inspect --why` shows.

    Before: `%c = linalg.generic {reduction} …; %r = linalg.generic {relu} (%c)`.
    After: `%r = gantry.dispatch (…) { %c = …; %r = …; gantry.yield %r }`.

    Afterwards every operator is in a dispatch, apart from reshapes. The pass fails for a tensor
    with 2^31 or more elements.
  }];
  let options = [Option<"maxBuffers", "max-buffers", "unsigned", "8",
                        "the largest number of buffers that a dispatch binds, including its result">,
                 Option<"scoreBytes", "score-bytes", "uint64_t", "0",
                        "an attention whose scores have fewer bytes is not fused">];
  let dependentDialects = ["::gantry::codegen::GantryDialect", "::mlir::affine::AffineDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NarrowFloats : Pass<"narrow-floats", "::mlir::func::FuncOp"> {
  let summary = "store the program's own f32 tensors as f16";
  let description = [{
    Runs after form-dispatches. Constants and the tensors between dispatches become f16. A dispatch
    extends such an operand when it reads it, computes in f32, and truncates its result. The
    program's inputs and outputs, and every tensor that an operation other than a dispatch or a
    reshape uses, keep their types. A finite constant beyond the range of f16 becomes the f16 of
    largest magnitude with its sign. The result of a dispatch that sums elements, and not products
    of two tensors, stays f32: such a sum may exceed the range of f16 before another dispatch
    divides it, as in a mean.

    Before: `%y = gantry.dispatch (%x) … { %r = f(%x : f32); gantry.yield %r }`.
    After: `%y = gantry.dispatch (%x) … { %e = extf(%x : f16); %r = f(%e);
    %t = truncf(%r); gantry.yield %t }`.
  }];
  let dependentDialects = ["::gantry::codegen::GantryDialect", "::mlir::tensor::TensorDialect"];
}

def OrderDispatches : Pass<"order-dispatches", "::mlir::func::FuncOp"> {
  let summary = "order the dispatches to lower the peak of live bytes";
  let description = [{
    Reorders the dispatches and the views between them to lower the largest number of bytes in
    transients that are alive at one moment. A result that may take an operand's storage, and this
    operand, count only once. Nothing is computed twice. engine/plan/order/order.h has the
    search. The model's own order is kept if the search finds no better one. The new order has at
    most `max-stage-growth` percent more stages than the model's own (a stage is the dispatches
    between two barriers). A dynamic dimension counts as its upper limit, or as 64 if it has none.

    A dispatch that only computes the next value of a state (`gantry.state`) stays behind the
    dispatches that read the old value, so that the new value can be written over the old one.

    `gantry.order` on the function compares the new order with the model's own.

    Before: `%a = big(%x); %b = big(%x); %c = small(%a); %d = small(%b)`.
    After: `%a = big(%x); %c = small(%a); %b = big(%x); %d = small(%b)`.
  }];
  let options = [Option<"maxStageGrowth", "max-stage-growth", "unsigned", "400",
                        "the limit of additional stages, in percent of the model's own">,
                 Option<"wholeStorages", "whole-storages", "bool", "false",
                        "whether a storage of several tensors counts as a whole, as in fit-budget">];
  let dependentDialects = ["::gantry::codegen::GantryDialect"];
}

def OrderStates : Pass<"order-states", "::mlir::func::FuncOp"> {
  let summary = "store states such that they can grow in place";
  let description = [{
    A state (`gantry.state`) grows if its next value is a `tensor.concat` that appends rows to it.
    An example is a cache of keys with the dimensions batch, head, row and element. In row-major
    order, the new rows of a head would follow the old rows of the same head, so the rows of all
    other heads would have to move. The pass therefore makes the dimension of the rows the first one
    of the state and of its next value. place-scatters then writes the new rows after the old ones.

    Operators read the state, or its next value, through a transposition, which form-dispatches
    usually makes part of their dispatches. The runtime permutes the value when a caller writes or
    reads the state; `order` of `gantry.state` tells how.

    The pass changes a state that grows if nothing but the concatenation reads it, and if the
    function returns the concatenation itself and not a reshape of it. Programs that share a state
    need the same order. The pass therefore also changes a state that the function only reads or
    only writes, if exactly one of its dimensions is dynamic; this dimension becomes the first.

    Before:
    ```mlir
    func.func @main(%s: tensor<1x4x?x64xf32> {gantry.state = #gantry.state<result = 0>}, …) {
      %n = tensor.concat dim(2) %s, %k : (tensor<1x4x?x64xf32>, tensor<1x4x1x64xf32>) -> …
      return %n : tensor<1x4x?x64xf32> }
    ```
    After:
    ```mlir
    func.func @main(%s: tensor<?x1x4x64xf32> {gantry.state = #gantry.state<result = 0, order = [2, 0, 1, 3]>}, …) {
      %t = transpose %k : tensor<1x1x4x64xf32>
      %n = tensor.concat dim(0) %s, %t : (tensor<?x1x4x64xf32>, tensor<1x1x4x64xf32>) -> …
      return %n : tensor<?x1x4x64xf32> }
    ```
  }];
  let dependentDialects = ["::gantry::codegen::GantryDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def OutlineKernels : Pass<"outline-kernels", "::mlir::ModuleOp"> {
  let summary = "move each dispatch's region into a module of its own";
  let description = [{
    Each distinct region becomes `module @kernel_N { func.func @kernel_N(tensors…, dims…) }`, and
    the dispatch refers to the module by name. Equal regions share a module, so that repeated blocks
    of a network share their kernels. Locations are ignored when regions are compared. The module's
    attribute has the number of loop steps of the whole program (a dynamic extent counts as 64),
    because the choice of a tile weighs the time in which the driver compiles the kernel against the
    time of a run, which is estimated from these steps.

    Before:
    ```mlir
    %a = gantry.dispatch(%x) { exp of the transpose }
    %b = gantry.dispatch(%a) { tanh }
    %c = gantry.dispatch(%b) { exp of the transpose }
    ```
    After:
    ```mlir
    %a = gantry.dispatch @kernel_0(%x)
    %b = gantry.dispatch @kernel_1(%a)
    %c = gantry.dispatch @kernel_0(%b)
    …
    module @kernel_0 attributes {gantry.kernel = #gantry.kernel<program_steps = 192>} {
      func.func @kernel_0(%p: tensor<8x8xf32>) -> tensor<8x8xf32> { exp of the transpose }
    }
    module @kernel_1 … { func.func @kernel_1(%p: tensor<8x8xf32>) -> tensor<8x8xf32> { tanh } }
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def PackConstants : Pass<"pack-constants", "::mlir::func::FuncOp"> {
  let summary = "store the constant operand of a reduction in the order in which kernels read it";
  let description = [{
    Permutes a constant operand of a reduction (a filter, a weight matrix) at compile time so that
    its last parallel dimension is innermost. One vec4 load then reads the weights of four
    neighboring output channels. A splat constant only changes its type. Without `dots`, a constant
    is not permuted if the extent of its last parallel dimension is not a multiple of four.

    Before: filter `[oc, ic, kh, kw]`. After: filter `[ic, kh, kw, oc]`, with the indexing map
    changed to match.

    With `blocks`, for devices whose kernels load vec4 along the reduction and shuffle them between
    lanes, the filter becomes `[oc / 8, kh, kw, ic / 4, oc mod 8, ic mod 4]`.

    With `dots`, for devices with dot products of four bytes, a filter of bytes becomes
    `[kh, kw, ic / 4, oc, ic mod 4]`.
  }];
  let options = [Option<"blocks", "blocks", "bool", "false",
                        "pack vec4 along the reduction, eight output channels together">,
                 Option<"dots", "dots", "bool", "false",
                        "pack four bytes along the reduction, all output channels together">];
}

def PadSizes : Pass<"pad-sizes", "::mlir::func::FuncOp"> {
  let summary = "round the sizes of matmuls and convolutions up to multiples of four or eight";
  let description = [{
    Kernels access memory in vectors of four elements, and in the fastest kernels of matmuls a lane
    computes eight columns of the result. The pass rounds a size up if a matmul or a convolution has
    it as the size of a reduction loop, of the columns, or of the channels: to a multiple of eight
    if that adds at most a tenth, otherwise to a multiple of four. All operators between the matmuls then
    compute tensors with padding (size_classes.h). Constants get zeros. If a reduction reads the
    padding of a computed tensor, the padding is zero: a select replaces any other value that an operator
    would compute there, so that infinities and NaNs cannot reach the padding either.

    Inputs of the program, and results that cannot have padding, are copied into padded tensors.
    The copies are marked with `gantry.stored`, so that form-dispatches never inlines them. With
    `blocks` (for a software device, a driver that runs on the CPU), kernels read rows of floats at
    any address as vectors, and compute the last steps of a sum whose length is no multiple of four.
    The reduction loop of a matmul then needs no padding. The columns of a right operand that is not
    a constant are padded only if the result has many rows.
    Operators that need the tensor without padding read a slice. A size stays as it is if these
    conversions cost more than the matmuls and convolutions gain, if it is dynamic, or if a reduction that does not
    ignore zeros, as a maximum, runs over it.

    Before: `%y = matmul(%x : tensor<8x767xf32>, %w : tensor<767x61xf32>)`.
    After: `%p = copy(tensor.pad %x) : tensor<8x768xf32>; %m = matmul(%p, %w' : tensor<768x64xf32>);
    %y = tensor.extract_slice %m[0, 0] [8, 61] [1, 1]`.
  }];
  let options = [Option<"blocks", "blocks", "bool", "false",
                        "a software device, for which images are stored in blocks of channels">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PlaceConcats : Pass<"place-concats", "::mlir::func::FuncOp"> {
  let summary = "let operators write into the slices of a concatenation";
  let description = [{
    Replaces a `tensor.concat` by a `gantry.concat`, a view of its inputs: the operators that compute
    the inputs write into the result's storage, and nothing is copied. This requires
    - fixed sizes from the concatenated dimension on, so that the places of the inputs are known;
    - that each input which a reshape reads is one contiguous range of the result;
    - with `blocks`, that the view costs less than the copy. A view may rule out blocks of four
      channels, a layout of choose-layouts: they need inputs with a multiple of four channels that
      no reshape reads, and a result that the function does not return. Operators that read the
      tensors as images are then slower. A view may also place rows of inputs at addresses that are
      not multiples of four elements, so that they cannot be accessed as vectors. The costs are
      counted per access, in units of the copy of one element
      (measured by benchmarks/kernels/concats.py).
    If the function returns the result, the inputs are written into the caller's output.

    An input is copied into the result if it is an input of the program or a constant, if the
    function returns it, or if it lies in another storage already. A concatenation stays as it is if
    more than half of its elements come from inputs that must be copied, or from operators that only
    move elements (slices, permutations). `gantry.why` on a copy or on a
    concatenation that stays says why.

    The inputs of several concatenations may begin with the same tensors, as in DenseNet. All of them
    then lie in the storage of the largest.

    An interleaved `gantry.concat`, which the importer makes, is kept. But if a tensor is its input
    several times (equal phases of a transposed convolution), the tensor is copied for the second and
    later places. An input that no operator computes, such as a reshape, is copied too.

    Before: `%c = tensor.concat dim(1) %a, %b : (tensor<1x64x8x8xf32>, tensor<1x32x8x8xf32>) -> …`.
    After: `%c = gantry.concat %a, %b along 1 : …`.
  }];
  let options = [Option<"blocks", "blocks", "bool", "false",
                        "choose-layouts stores tensors in blocks of four channels">];
  let dependentDialects = ["::gantry::codegen::GantryDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PlacePads : Pass<"place-pads", "::mlir::func::FuncOp"> {
  let summary = "let operators write into the interior of a padded tensor";
  let description = [{
    The readers of a pad usually evaluate it while they read, so the padded tensor is not stored. If
    the function returns it, or if a reshape views it, it must be stored. If, in such a case, a
    reduction (or an elementwise operator that is part of its kernel) computes the source, and nothing
    else reads the source, the pass replaces the pad by concatenations of the source with constants.
    place-concats turns these into views: the reduction writes the interior, and a small dispatch fills
    each side of the border. Without the pass, a dispatch would copy the whole tensor.

    The pass compares the costs of both ways in units of the copy of one element; `dispatch` is the
    cost of an additional dispatch. Sizes must be fixed.

    Before: `%p = tensor.pad %a low[1, 2] high[0, 2] { yield %c } : tensor<64x64xf32> to tensor<65x68xf32>`.
    After, where %f, %g and %h are operators that fill tensors with %c:
    ```mlir
    %r = tensor.concat dim(1) %f, %a, %g : … -> tensor<64x68xf32>
    %p = tensor.concat dim(0) %h, %r : … -> tensor<65x68xf32>
    ```
  }];
  let options = [Option<"dispatch", "dispatch", "double", "7000",
                        "the time of a dispatch, divided by the time to copy one element">];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def PlaceScatters : Pass<"place-scatters", "::mlir::func::FuncOp"> {
  let summary = "copy the tensors whose rows may not be replaced in place";
  let description = [{
    A `tensor.concat` that appends rows to a state, and is the state's next value, becomes a
    `gantry.scatter` of these rows, so that the state grows in place. This requires that nothing else
    reads the state, and that the dimensions before the concatenated one have the extent 1
    (order-states).

    A `gantry.scatter` becomes a dispatch that writes its rows into the storage of its data. This is
    possible if nothing else uses the data, and if the data is computed by the program, or is a
    donated input, or is a state whose next value is the result. Otherwise the pass inserts a copy
    of the data; `gantry.why` on the copy says why.

    Before: `%r = gantry.scatter %u into %x at %p`, where %x is an input that the caller keeps.
    After: `%c = copy(%x); %r = gantry.scatter %u into %c at %p`.
  }];
  let dependentDialects = ["::gantry::codegen::GantryDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ShareKernels : Pass<"share-kernels", "::mlir::ModuleOp"> {
  let summary = "let dispatches whose kernels differ only in sizes share a kernel";
  let description = [{
    Runs on kernels that are functions on buffers. Two kernels with equal operations may differ in
    constants that are bounds of loops or parts of addresses. The first of such kernels then takes
    these constants as arguments, like the sizes of dynamic dimensions, and serves the dispatches of
    all. Constants whose differences between the kernels are proportional share an argument. Drivers
    compile one kernel instead of many. Divisors stay constants in kernels with few other operations,
    because drivers replace divisions by constants with cheaper operations.

    `gantry.loops` becomes the largest among the kernels. `gantry.slices` is removed if it differs.
    Kernels whose `gantry.slices` differ are not shared if a tensor is too large for the bindings of
    some devices, which then need the slices. Other attributes that only describe a kernel (its key,
    its prediction, its remarks) are those of the first.

    Before:
    ```mlir
    %a = gantry.dispatch @kernel_0(%x) dims()
    %b = gantry.dispatch @kernel_1(%y) dims()
    module @kernel_0 { func.func @kernel_0(…) { scf.for %i = %c0 to %c24 … muli %j, %c96 } }
    module @kernel_1 { func.func @kernel_1(…) { scf.for %i = %c0 to %c28 … muli %j, %c112 } }
    ```
    After:
    ```mlir
    %a = gantry.dispatch @kernel_0(%x) dims(%c0)
    %b = gantry.dispatch @kernel_0(%y) dims(%c1)
    module @kernel_0 { func.func @kernel_0(…, %n) {
      %p = addi (muli %n, %c4), %c24   %q = addi (muli %n, %c16), %c96
      scf.for %i = %c0 to %p … muli %j, %q } }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def SplitReductions : Pass<"split-reductions", "::mlir::func::FuncOp"> {
  let summary = "divide a long reduction into two";
  let description = [{
    One invocation executes all steps of a reduction. With more than 32,768 steps, too few
    invocations would share the work, rounding errors would add up, and some drivers stop loops
    after 65,535 rounds without an error. Such a reduction becomes two. The first has a parallel
    loop in place of one reduction loop, or divides a reduction loop into a parallel loop over parts
    and a reduction loop within a part, so that at most 4,096 steps remain. The second combines the
    results of the first. If the extent has no suitable divisor, the last part is padded; the
    padding is not combined. If an extent is dynamic, the outermost reduction loop that is not part
    of a window becomes parallel, provided that at least two reduction loops are not part of a
    window. Only reductions whose partial results can be combined are split: sums, products, minima
    and maxima. Rows of up to 262,144 elements that a subgroup shares are not split.

    On a GPU, a result with few points also leaves most of the device idle. With `invocations`, a
    sum of products of f32 is divided into parts, along its longest loop, until that many invocations
    have work. Each keeps at least 128 steps, and the parts together are not larger than the operands.
    The parts are then the first dimension of the first reduction's result.

    Before: `%s = sum over k of %x[m, k]`, k below 100,003.
    After: `%p = sum over k of pad(%x)[m, j, k]`, j below 25, k below 4,001, j * 4,001 + k below
    100,003; `%s = sum over j of %p[m, j]`.
  }];
  let options = [Option<"invocations", "invocations", "int64_t", "0",
                        "the number of invocations that keep the device busy; 0: not known">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def Strips : Pass<"strips", "::mlir::func::FuncOp"> {
  let summary = "compute chains of operators in strips of rows";
  let description = [{
    A large tensor between two operators need not exist whole if the second one is computed in strips
    of rows: each strip needs only some rows of the tensor. The pass does this for chains of
    convolutions, pools, pads, elementwise operators and concatenations of channels. The rows that
    neighboring strips both need (the halo of a window) are computed in each of them. The strips are
    joined by a `tensor.concat` along the rows.

    The pass measures instead of guessing. It runs `passes`, the passes that decide on storage, on a
    clone of the function, and takes the peak of live bytes in the order that order-dispatches would
    choose. strip_search.h proposes chains around the largest tensors at the peak. A proposal is
    applied to a clone, measured, and kept if the peak falls. This repeats until nothing is gained.

    Without a budget, all strips together cost at most 2 % of the model's arithmetic and copy no
    tensor, each chain lowers the peak by at least 5 %, and programs with a small peak, short strips
    and small strips are left out (`min-bytes`, `min-rows`, `min-elements`). An additional dispatch costs as much as
    `dispatch-cost` operations. With a budget, strips may add a quarter of the arithmetic to bring
    the peak below it. If the operands and the result of a single dispatch still exceed the budget,
    strips may add as much as is needed. They may then also compute a second time a tensor that
    operators outside of the chain also read. fit-budget does the rest.

    Where the strips cannot be written into the joined tensor, a dispatch copies them. It may bind at
    most `max-buffers` buffers.

    `gantry.strips` on the function lists the chains. Functions with dynamic inputs are not changed.

    Before (a convolution with a window of one element, and a pool; `%t` is large):
    ```mlir
    %t = linalg.generic {convolution} ins(%x, %f) … -> tensor<1x64x112x112xf32>
    %y = linalg.generic {max over 2 x 2} ins(%t) … -> tensor<1x64x56x56xf32>
    ```
    After:
    ```mlir
    %x0 = tensor.extract_slice %x[0, 0, 0, 0] [1, 3, 56, 112] [1, 1, 1, 1]
    %t0 = linalg.generic {convolution} ins(%x0, %f) … -> tensor<1x64x56x112xf32>
    %y0 = linalg.generic {max over 2 x 2} ins(%t0) … -> tensor<1x64x28x56xf32>
    %x1 = tensor.extract_slice %x[0, 0, 56, 0] [1, 3, 56, 112] [1, 1, 1, 1]
    %t1 = linalg.generic {convolution} ins(%x1, %f) … -> tensor<1x64x56x112xf32>
    %y1 = linalg.generic {max over 2 x 2} ins(%t1) … -> tensor<1x64x28x56xf32>
    %y = tensor.concat dim(2) %y0, %y1
    ```
  }];
  let options = [Option<"passes", "passes", "std::string",
                        "\"func.func(place-concats,form-dispatches)\"",
                        "the passes that decide on storage">,
                 Option<"budgetBytes", "budget-bytes", "uint64_t", "0",
                        "the limit of the arena in bytes; 0: none">,
                 Option<"keepOrder", "keep-order", "bool", "false",
                        "the dispatches run in the model's own order">,
                 Option<"maxBuffers", "max-buffers", "unsigned", "8",
                        "the largest number of buffers that the concatenation of strips binds">,
                 Option<"dispatchCost", "dispatch-cost", "double", "3e6",
                        "without a budget, the cost of an additional dispatch, in operations">,
                 Option<"minBytes", "min-bytes", "uint64_t", "524288",
                        "without a budget, a program whose peak is lower than this is not changed">,
                 Option<"minRows", "min-rows", "int64_t", "8",
                        "without a budget, the smallest number of rows of a strip">,
                 Option<"minElements", "min-elements", "int64_t", "16384",
                        "without a budget, the smallest number of elements of a strip of a tensor">];
  let dependentDialects = ["::gantry::codegen::GantryDialect", "::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def SumIntegers : Pass<"sum-integers", "::mlir::func::FuncOp"> {
  let summary = "compute matmuls of dequantized tensors in integers";
  let description = [{
    Runs on the operations that the importer makes. In a matmul or convolution with dequantized
    operands, each operand is `(q - zero point) * scale` with 8-bit q. If the scales do not vary
    along a reduced dimension, this sum of products becomes a sum of integer products and one
    multiplication by both scales:
    sum (a - za) sa (b - zb) sb = (sum (a - za) (b - zb)) sa sb.
    The integer sum is exact. The pass recognizes the arithmetic of the bodies, whatever operators
    they come from. A pad with 0 between the dequantization and the sum becomes a pad with the zero
    point. A sum that could exceed 32 bits is not changed.

    Before: `%x = dequantize(%q); %w = dequantize(%p); %y = sum of %x * %w : f32`.
    After: `%s = sum of (ext %q - zx) * (ext %p - zw) : i32; %y = float(%s) * (sx * sw)`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

#endif

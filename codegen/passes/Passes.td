// The passes of the compiler, in alphabetical order. pipeline.cpp tells their order in time.
#ifndef GANTRY_PASSES
#define GANTRY_PASSES

include "mlir/Pass/PassBase.td"

def ApplyTuning : Pass<"apply-tuning", "::mlir::ModuleOp"> {
  let summary = "look up the kernels in tables of measured tiles";
  let description = [{
    Gives each kernel's module its key (`gantry.key`: codegen/tuning/kernel_key.h) and, where a table has
    a tile for it, that tile and where it is from (`gantry.measured`), which emit-kernels takes if it
    fits. The table of a file comes before the one that is built in.

    Before:
    ```mlir
    module @kernel_0 attributes {gantry.kernel} { func.func @kernel_0 … }
    ```
    After:
    ```mlir
    module @kernel_0 attributes {gantry.kernel, gantry.key = "0123456789abcdef",
        gantry.measured = {tile = "baseline points=4 steps=-", origin = "tuned.json: 8.10 us on …"}} { … }
    ```
  }];
  let options = [Option<"profile", "profile", "std::string", "\"vulkan:generic\"",
                        "the device profile whose tiles are taken">,
                 Option<"file", "file", "std::string", "\"\"", "a table of measured tiles, or none">,
                 Option<"builtIn", "built-in", "bool", "true",
                        "whether the table that comes with the compiler is looked into">];
  let dependentDialects = ["::gantry::codegen::GantryDialect"];
}

def BindBuffers : Pass<"bind-buffers", "::mlir::ModuleOp"> {
  let summary = "materialise a SPIR-V kernel's buffers, dimensions and ids as the device takes them";
  let description = [{
    Runs on the module of one kernel after convert-kernels-to-spirv. Makes two SPIR-V modules of it,
    one per way of binding, marked with `gantry.binding_mode`:
    - `storage_buffer`: buffer i is descriptor set 0, binding i; the push-constant block holds the
      dynamic dimensions, one 8-byte word each, of which the low 4 bytes are read.
    - `address`: the block holds the 64-bit device address of each buffer, then the dimensions;
      loads and stores go through PhysicalStorageBuffer pointers with their alignment stated.

    It is the last pass that knows the kernel ABI, and the only one that knows how it is bound.
  }];
  let dependentDialects = ["::mlir::spirv::SPIRVDialect"];
}

def CenterZeroPoints : Pass<"center-zero-points", "::mlir::func::FuncOp"> {
  let summary = "take zero points out of sums of products of bytes";
  let description = [{
    For devices that multiply four bytes of two words at once, as signed ones. A factor with a zero point,
    by a factor that is a constant, gets the zero point with which it is a signed byte: 128 if it is
    unsigned, else 0. What that changes is the same for all steps and is added to the result:
    sum (a - z) b = sum (a - m) b + (m - z) sum b. A padding with the zero point is right as it is. Where a sum
    has no four steps, nothing is changed.

    Before: `%s = sum over k of (extui %a[m, k] - 120) * extsi %b[k, n]`.
    After: `%s = sum over k of (extui %a[m, k] - 128) * extsi %b[k, n]; %r = %s[m, n] + %c[n]`, where `%c` is
    the constant 8 * sum over k of `%b[k, n]`. A zero point `%z` that a run decides: `+ (128 - extui %z) * %c[n]`,
    where `%c` is the sum.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def ChooseLayouts : Pass<"choose-layouts", "::mlir::func::FuncOp"> {
  let summary = "keep the images between convolutions in blocks of four channels";
  let description = [{
    Runs after form-dispatches. A tensor `[n, c, …]` that one dispatch makes and only dispatches read
    is laid out as `[n, c / 4, …, c mod 4]` where one of them reads it as a convolution or a pool
    does (over windows, or reducing over the channels), or where it comes from such a tensor: then
    a vector load brings four channels of one pixel, for whatever window. An input of the program that
    is read so is copied first. `c` must be a multiple of
    four, so a layout never changes a size. Each dispatch says how its operands and its result lie
    (`gantry.layouts`, see codegen/tiling/layout.h); the arithmetic is not touched.

    The left operand of a large product, whose rows are a multiple of 4 KiB apart and therefore compete for
    the same places in a cache, lies in panels of eight rows where nothing else reads it.

    With `bytes-only`, for devices that only gain by words of four bytes: images of bytes alone.
  }];
  let options = [Option<"bytesOnly", "bytes-only", "bool", "false", "lay out images of bytes alone">];
}

def ConvertKernelsToSPIRV : Pass<"convert-kernels-to-spirv", "::mlir::ModuleOp"> {
  let summary = "convert a kernel's function to the SPIR-V dialect";
  let description = [{
    Runs on the module of one kernel after emit-kernels. memref, arith, math, scf and vector become
    the SPIR-V dialect; the function keeps its arguments (pointers to StorageBuffer structs, and
    32-bit integers for index), which bind-buffers gives their place.
  }];
  let dependentDialects = ["::mlir::spirv::SPIRVDialect", "::mlir::math::MathDialect"];
}

def EmitKernels : Pass<"emit-kernels", "::mlir::ModuleOp"> {
  let summary = "lower a kernel from linalg on tensors to loads, arithmetic and stores";
  let description = [{
    Runs on the module of one kernel, as outline-kernels left it. Chooses the register tile for the
    device profile, then replaces the function on tensors by one on buffers, in which one
    invocation computes one tile; where the profile says that operands are better staged in shared
    memory, a second function beside it, in which a workgroup does, by the device's matrices if the
    operands are f16. A tile that was measured (`gantry.measured`) is taken instead of the predicted one of
    its kind if the kernel can have it; a device's variants of other kinds are then left out, but for the
    baseline. The new function's arguments are, in this order: for each buffer
    its scalar view and, where it has one, its vector view (memref in StorageBuffer space, with the
    attribute `gantry.binding`), the dynamic dimensions (index, `gantry.dim`), and the ids of
    workgroup, invocation, lane and subgroup (`gantry.builtin`).

    Before:
    ```mlir
    func.func @k(%x: tensor<64xf32>) -> tensor<64xf32> {
      %e = tensor.empty() : tensor<64xf32>
      %r = linalg.generic … { ^bb0(%a: f32, %o: f32): %n = arith.negf %a … }
      return %r
    }
    ```
    After (a tile of four points):
    ```mlir
    func.func @k(%x4: memref<?xvector<4xf32>>, %y4: memref<?xvector<4xf32>>, %wg: index, …) {
      %v = memref.load %x4[%i] … arith.negf … memref.store %w, %y4[%i]
    }
    ```
  }];
  let options = [Option<"profile", "profile", "std::string", "\"vulkan:generic\"",
                        "the device profile to tile for">,
                 Option<"sharedMemory", "shared-memory", "uint32_t", "0",
                        "bytes of shared memory that a workgroup may have; 0: the profile's">,
                 Option<"candidate", "candidate", "uint32_t", "0",
                        "how many cheaper tiles each kernel passes over">];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect", "::mlir::arith::ArithDialect",
                           "::mlir::spirv::SPIRVDialect", "::gantry::codegen::GantryDialect"];
}

def EmitNative : Pass<"emit-native", "::mlir::ModuleOp"> {
  let summary = "write kernels as assembly of LLVM's back ends, beside the pipeline";
  let description = [{
    Runs on the module of one kernel, as emit-kernels left it, and leaves it as it is. A copy is
    lowered to the LLVM dialect with NVVM's or ROCDL's operations (targets/native.h says how a
    kernel is called) and written to FOLDER/NAME.CHIP.ptx or .s, for each chip in turn. Functions
    that load texels are Vulkan's alone.
  }];
  let options = [Option<"folder", "folder", "std::string", "\"\"", "where the files go">,
                 ListOption<"chips", "chips", "std::string",
                            "NVIDIA's as sm_80, AMD's as gfx1100">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
                           "::mlir::ROCDL::ROCDLDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect", "::mlir::scf::SCFDialect"];
}

def FitBudget : Pass<"fit-budget", "::mlir::func::FuncOp"> {
  let summary = "bring the peak of the arena down to a budget";
  let description = [{
    Runs after order-dispatches on static programs. A transient that is alive but not used across
    the peak is computed again before its next use (its dispatch is cloned), or moved to the host
    and back (`gantry.move`), whichever costs less (engine/plan/budget.h chooses). A byte moved
    over the bus counts as much as 16 bytes of device memory or 512 floating-point operations.

    Fails, naming the smallest budget that can be met, where a single dispatch needs more. Leaves on
    the function `gantry.budget`, and of what it did `gantry.recomputed` (dispatches),
    `gantry.recomputed_peak` (bytes, with these alone) and `gantry.moved` (tensors).

    Before: `%a = f(%x); %b = g(…); %c = h(%b); %d = k(%a, %c)`.
    After: `%a = f(%x); %b = g(…); %c = h(%b); %a2 = f(%x); %d = k(%a2, %c)`.
  }];
  let options = [Option<"budgetBytes", "budget-bytes", "uint64_t", "0",
                        "the most bytes that the arena may have; 0: no budget">];
  let dependentDialects = ["::gantry::codegen::GantryDialect"];
}

def FormDispatches : Pass<"form-dispatches", "::mlir::func::FuncOp"> {
  let summary = "group the operators into dispatches";
  let description = [{
    Decides which tensors live in memory; everything between two of them becomes one dispatch.
    A dispatch holds at most one reduction, or several over the rows of its result. Inlined into it
    are: pads, slices and permutations that feed it, constants that are dequantised, elementwise
    producers whose elements it needs once, gates (a product's operand times a computed factor for
    each step of its sum, as in squeeze and excitation), and after a reduction the chain of
    elementwise consumers over the same elements (bias, activation, residual). Reshapes are views
    and stay between dispatches. A value with several consumers is inlined only if it is pure data
    movement; otherwise it is computed once and kept.

    Reductions over the last dimension that are broadcast back over it (softmax, normalisations) join
    the kernel of what they are broadcast to, with everything read at the same place in between; such
    a dispatch is marked `gantry.rows`.

    An attention (tiling/attention.h: a product, elementwise operations, a softmax of these, another product)
    is one dispatch, whose kernel keeps no scores in memory. Its parts stay dispatches of their own where the
    scores have fewer than `score-bytes`, where the values are too long for registers, or where it would bind
    too many buffers; `gantry.why` on the last product says so, for `gantry inspect --why`.

    Before: `%c = linalg.generic {reduction} …; %r = linalg.generic {relu} (%c)`.
    After: `%r = gantry.dispatch (…) { %c = …; %r = …; gantry.yield %r }`.

    After this pass no compute op is left outside of a dispatch; what has been fused cannot be told
    apart again.
  }];
  let options = [Option<"maxBuffers", "max-buffers", "unsigned", "8",
                        "buffers a dispatch may bind, its result included">,
                 Option<"scoreBytes", "score-bytes", "uint64_t", "0",
                        "an attention with fewer bytes of scores keeps them in memory">];
  let dependentDialects = ["::gantry::codegen::GantryDialect", "::mlir::affine::AffineDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NarrowFloats : Pass<"narrow-floats", "::mlir::func::FuncOp"> {
  let summary = "keep the program's own f32 tensors in memory as f16";
  let description = [{
    Runs after form-dispatches. Constants and the tensors between dispatches become f16: a dispatch
    converts each such operand as it reads it and its result as it writes it, and computes in f32 in
    between. The program's inputs and outputs keep their types, and with them whatever is seen by
    anything but dispatches. Finite constants that f16 cannot hold become the largest that it can.
    Sums of elements, such as those of a mean that is divided where it is read, stay f32.

    Before: `%y = gantry.dispatch (%x) … { %r = f(%x : f32); gantry.yield %r }`.
    After: `%y = gantry.dispatch (%x) … { %e = extf(%x : f16); %r = f(%e);
    %t = truncf(%r); gantry.yield %t }`.
  }];
  let dependentDialects = ["::gantry::codegen::GantryDialect", "::mlir::tensor::TensorDialect"];
}

def OrderDispatches : Pass<"order-dispatches", "::mlir::func::FuncOp"> {
  let summary = "choose the order of the dispatches in which the fewest bytes are alive at once";
  let description = [{
    Sorts the dispatches (with the views between them) so that the largest sum of transients alive
    at one moment falls, counting results that may take an operand's storage once; nothing is
    computed twice (engine/plan/order.h is the search). Where no order is better the model's own
    stays. The order needs at most `max-stage-growth` per cent more stages (dispatches between two
    barriers) than the model's own. Dynamic dimensions count as 64.

    Leaves on the function what the model's own order would need: `gantry.given_peak` bytes in
    `gantry.given_stages` stages, and the stages of the new order, `gantry.stages`.

    Before: `%a = big(%x); %b = big(%x); %c = small(%a); %d = small(%b)`.
    After: `%a = big(%x); %c = small(%a); %b = big(%x); %d = small(%b)`.
  }];
  let options = [Option<"maxStageGrowth", "max-stage-growth", "unsigned", "400",
                        "how many per cent more stages the order may have">];
  let dependentDialects = ["::gantry::codegen::GantryDialect"];
}

def OutlineKernels : Pass<"outline-kernels", "::mlir::ModuleOp"> {
  let summary = "move each dispatch's region into a module of its own; equal regions share one";
  let description = [{
    Each distinct region becomes `module @kernel_N { func.func @kernel_N(tensors…, dims…) }`, and
    the dispatch refers to it by name. Regions that differ in locations alone are equal: repeated
    blocks of a network share their kernels.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def PackConstants : Pass<"pack-constants", "::mlir::func::FuncOp"> {
  let summary = "store the constant operand of a contraction in the order in which kernels read it";
  let description = [{
    A constant operand of a reduction (a filter, a weight matrix) is permuted at compile time so
    that its parallel dimension is innermost: one vector load then brings the weights of four
    neighbouring output channels. Splat constants only change their type.

    Before: filter `[oc, ic, kh, kw]`. After: filter `[ic, kh, kw, oc]`, with the indexing map
    changed alike.

    With `blocks`, for devices whose kernels read vectors of four along the reduction and pass them
    from lane to lane: filter `[oc / 8, kh, kw, ic / 4, oc mod 8, ic mod 4]`.

    With `dots`, for devices that multiply and add four bytes of two words at once: a filter of bytes
    becomes `[kh, kw, ic / 4, oc, ic mod 4]`.
  }];
  let options = [Option<"blocks", "blocks", "bool", "false",
                        "vectors of four along the reduction, eight neighbours of them together">,
                 Option<"dots", "dots", "bool", "false",
                        "bytes whose products are summed: fours along the reduction, all neighbours of them together">];
}

def PlaceInPlace : Pass<"place-in-place", "::mlir::func::FuncOp"> {
  let summary = "let results take the storage of an operand that dies";
  let description = [{
    Marks a dispatch `in_place = i` where operand i is a transient of the same size that is not
    used afterwards (nor through a view), and every element of it is read only by the invocation
    that writes the same element of the result: it is read through identity maps alone.
  }];
  let dependentDialects = ["::gantry::codegen::GantryDialect"];
}

def SplitReductions : Pass<"split-reductions", "::mlir::func::FuncOp"> {
  let summary = "make two reductions of a long one";
  let description = [{
    One invocation walks all steps of a reduction (or of a row: form-dispatches). Of one with more than
    32,768 steps few invocations would work for long, rounding errors add up, and some drivers stop
    loops after 65,535 rounds without a word. Such a reduction becomes one that leaves a loop out, or
    divides it into parts of at most 4,096 steps, and one that combines what the parts gave. A loop
    without a fitting divisor is divided into equal parts of which the last is padded; the padding is
    not combined. Of loops of unknown extent, the outer one is left out where there are two. Only
    reductions whose combination is associative are split (sums, products, minima, maxima).

    Before: `%s = sum over k of %x[m, k]`, k below 100,003.
    After: `%p = sum over k of pad(%x)[m, j, k]`, j below 25, k below 4,001, j * 4,001 + k below
    100,003; `%s = sum over j of %p[m, j]`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def SumIntegers : Pass<"sum-integers", "::mlir::func::FuncOp"> {
  let summary = "sum products of dequantised tensors as integers";
  let description = [{
    Runs on the importer's form. A sum of products whose two operands are dequantised from 8 bits,
    `(q - zero point) * scale`, with scales per tensor or per slice of the result, becomes a sum of
    integer products and one multiplication by both scales:
    sum (a - za) sa (b - zb) sb = (sum (a - za) (b - zb)) sa sb. The sum is exact. Recognised by
    what the bodies compute, whatever operators they came from. A pad with 0 in between becomes one
    with the zero point. Left alone: sums that could leave 32 bits, scales along a reduced dimension.

    Before: `%x = dequantise(%q); %w = dequantise(%p); %y = sum of %x * %w : f32`.
    After: `%s = sum of (ext %q - zx) * (ext %p - zw) : i32; %y = float(%s) * (sx * sw)`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

#endif

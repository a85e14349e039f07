// The manual of the compiler's passes, in alphabetical order. pipeline.cpp has the order in which they run.
#ifndef GANTRY_PASSES
#define GANTRY_PASSES

include "mlir/Pass/PassBase.td"

def ApplyTuning : Pass<"apply-tuning", "::mlir::ModuleOp"> {
  let summary = "look up the kernels in tables of measured tiles";
  let description = [{
    Gives each kernel's module its key (codegen/tuning/kernel_key.h) and, where a table has a tile for
    that key, the tile and its origin. emit-kernels takes the tile if the kernel can have it. The table
    in `file` takes precedence over the built-in table.

    Before:
    ```mlir
    module @kernel_0 attributes {gantry.kernel = #gantry.kernel} { func.func @kernel_0 … }
    ```
    After:
    ```mlir
    module @kernel_0 attributes {gantry.kernel = #gantry.kernel<key = "0123456789abcdef",
        measured = <tile = "baseline points=4 steps=-", origin = "tuned.json: 8.10 us on …">>} { … }
    ```
  }];
  let options = [Option<"profile", "profile", "std::string", "\"vulkan:generic\"",
                        "the device profile whose tiles are looked up">,
                 Option<"file", "file", "std::string", "\"\"", "a table of measured tiles, or none">,
                 Option<"builtIn", "built-in", "bool", "true",
                        "also look into the compiler's own table">];
  let dependentDialects = ["::gantry::codegen::GantryDialect"];
}

def BindBuffers : Pass<"bind-buffers", "::mlir::ModuleOp"> {
  let summary = "bind a SPIR-V kernel's buffers, dimensions and ids";
  let description = [{
    Runs on the module of one kernel after convert-kernels-to-spirv. Replaces the function's arguments
    by variables and makes a spirv.module for each way of binding, which `gantry.buffers` names:
    - `storage_buffer`: buffer i is descriptor set 0, binding i. The push-constant block holds the
      dynamic dimensions, each in the low 4 bytes of an 8-byte word.
    - `address`: the block holds the 64-bit device addresses of the buffers, then the dimensions. Loads
      and stores use PhysicalStorageBuffer pointers and state their alignment.
    - `texel`, in place of both for texel kernels: like `storage_buffer`, but operands that are only
      read as vectors are uniform texel buffers, at binding (number of buffers) + i.

    The attributes that describe the kernel move from the function to the module.
  }];
  let dependentDialects = ["::mlir::spirv::SPIRVDialect"];
}

def CenterZeroPoints : Pass<"center-zero-points", "::mlir::func::FuncOp"> {
  let summary = "move the zero points of integer matmuls to the middle of the bytes' range";
  let description = [{
    Serves devices with dot products of four signed bytes. One factor of the matmul is a constant. The
    other factor has a zero point z, which is replaced by m, the value that makes the factor a signed
    byte: 128 if the byte is unsigned, otherwise 0. The difference is the same for every step of the
    reduction and is added to the result:
    sum (a - z) b = sum (a - m) b + (m - z) sum b.
    Padding with the zero point stays correct. A reduction whose steps do not divide into groups of
    four is not changed.

    Before: `%s = sum over k of (extui %a[m, k] - 120) * extsi %b[k, n]`.
    After: `%s = sum over k of (extui %a[m, k] - 128) * extsi %b[k, n]; %r = %s[m, n] + %c[n]`, where
    `%c` is the constant 8 * sum over k of `%b[k, n]`. If the zero point `%z` is only known at run
    time, `+ (128 - extui %z) * %c[n]` is added, where `%c` is the sum itself.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def ChooseLayouts : Pass<"choose-layouts", "::mlir::func::FuncOp"> {
  let summary = "store the images between convolutions in blocks of four channels";
  let description = [{
    Runs after form-dispatches and sets `layouts` of the dispatches (codegen/tiling/layout.h). The
    arithmetic does not change.

    A tensor `[n, c, …]` that a dispatch makes, and only dispatches read, is stored as
    `[n, c / 4, …, c mod 4]` where a dispatch reads it like a convolution or a pool (over windows, or
    reducing over the channels), or where it is made from such a tensor. A vec4 load then reads four
    channels of one pixel, for any window. An input of the program that is read in this way is copied
    first. `c` must be a multiple of four, so a layout never changes a tensor's size.

    The left operand of a large matmul is stored in panels of eight rows where its rows are a multiple
    of 4 KiB apart, so that they compete for one cache set, and nothing else reads it.

    With `bytes-only`, only images of bytes change. This serves devices that gain only by loading four
    bytes as one word.
  }];
  let options = [Option<"bytesOnly", "bytes-only", "bool", "false", "only change the layout of images of bytes">];
}

def ConvertKernelsToSPIRV : Pass<"convert-kernels-to-spirv", "::mlir::ModuleOp"> {
  let summary = "convert a kernel's functions to the SPIR-V dialect";
  let description = [{
    Runs on the module of one kernel after emit-kernels. memref, arith, math, scf and vector become the
    SPIR-V dialect. The functions keep their arguments, which become pointers to StorageBuffer structs
    and 32-bit integers, until bind-buffers replaces them.
  }];
  let dependentDialects = ["::mlir::spirv::SPIRVDialect", "::mlir::math::MathDialect"];
}

def EmitKernels : Pass<"emit-kernels", "::mlir::ModuleOp"> {
  let summary = "lower a kernel from linalg on tensors to loads, arithmetic and stores";
  let description = [{
    Runs on the module of one kernel. Chooses a tile for the device profile and replaces the function
    on tensors by one on buffers, in which one invocation computes one tile of the result. Where the
    device gains by other kinds of tiles (texel loads, operands staged in shared memory, cooperative
    matrices, dot products of bytes), adds a function for each kind. The attributes `gantry.launch`,
    `gantry.tile`, `gantry.loops`, `gantry.slices` and `gantry.remarks` describe each function
    (codegen/dialect/GantryAttributes.td); codegen/passes/kernel_function.h defines its arguments.

    A measured tile of apply-tuning replaces the predicted tiles if the kernel can have it. If it is
    not a baseline tile, the predicted baseline is kept beside it.

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
                        "the number of cheaper tiles that each kernel skips">];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect", "::mlir::arith::ArithDialect",
                           "::mlir::spirv::SPIRVDialect", "::gantry::codegen::GantryDialect"];
}

def EmitNative : Pass<"emit-native", "::mlir::ModuleOp"> {
  let summary = "write kernels as assembly of LLVM's back ends";
  let description = [{
    Runs on the module of one kernel after emit-kernels and does not change it. A copy is lowered to
    the LLVM dialect with NVVM's or ROCDL's operations (codegen/targets/native.h) and written to
    FOLDER/NAME.CHIP.ptx or .s, for each chip in turn. Functions with texel loads or cooperative
    matrices are left out.
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
    Runs after order-dispatches on programs with static shapes. A transient that is alive but unused at
    the peak is either computed again before its next use (its dispatch is cloned) or moved to the host
    and back (`gantry.move`). engine/plan/order/budget.h chooses the cheaper way: a byte moved over the bus
    costs as much as 16 bytes of device memory traffic or 512 floating-point operations.

    `gantry.budget` on the function says what was done. The pass fails, naming the smallest possible
    budget, where a single dispatch needs more than the budget.

    Before: `%a = f(%x); %b = g(…); %c = h(%b); %d = k(%a, %c)`.
    After: `%a = f(%x); %b = g(…); %c = h(%b); %a2 = f(%x); %d = k(%a2, %c)`.
  }];
  let options = [Option<"budgetBytes", "budget-bytes", "uint64_t", "0",
                        "the limit of the arena in bytes; 0: none">];
  let dependentDialects = ["::gantry::codegen::GantryDialect"];
}

def FormDispatches : Pass<"form-dispatches", "::mlir::func::FuncOp"> {
  let summary = "group the operators into dispatches";
  let description = [{
    Decides which tensors are stored in memory. All operators between stored tensors become one
    dispatch. A dispatch has at most one reduction, or several over the rows of its result, or one
    attention. The following operators are inlined into it:
    - pads, slices and permutations of its operands, and constants that are dequantized;
    - elementwise producers of which it needs each element once;
    - gates: a matmul's operand times a computed factor for each step of the reduction, as in
      squeeze-and-excitation;
    - after a reduction, the chain of elementwise consumers over the same elements (bias, activation,
      residual).
    Reshapes are views and stay between dispatches. A value with several consumers is inlined only if
    it is pure data movement; otherwise it is computed once and stored.

    Reductions over the last dimension whose results are broadcast back over it (softmax,
    normalizations) are fused with the operators that read the broadcast, and with all operators at the
    same place in between. Such a dispatch is marked with `rows`.

    An attention (codegen/tiling/attention.h: a matmul, elementwise operators, their softmax, another
    matmul) becomes one dispatch, whose kernel does not store the scores. Its parts stay separate
    dispatches where the scores have fewer than `score-bytes`, where a row of the values is too long for
    registers, or where it would bind too many buffers. `gantry.why` on the last matmul then gives the
    reason, which `gantry inspect --why` shows.

    Before: `%c = linalg.generic {reduction} …; %r = linalg.generic {relu} (%c)`.
    After: `%r = gantry.dispatch (…) { %c = …; %r = …; gantry.yield %r }`.

    Afterwards every compute operation is in a dispatch.
  }];
  let options = [Option<"maxBuffers", "max-buffers", "unsigned", "8",
                        "the largest number of buffers that a dispatch binds, including its result">,
                 Option<"scoreBytes", "score-bytes", "uint64_t", "0",
                        "an attention with fewer bytes of scores stores them in memory">];
  let dependentDialects = ["::gantry::codegen::GantryDialect", "::mlir::affine::AffineDialect",
                           "::mlir::tensor::TensorDialect"];
}

def NarrowFloats : Pass<"narrow-floats", "::mlir::func::FuncOp"> {
  let summary = "store the program's own f32 tensors as f16";
  let description = [{
    Runs after form-dispatches. Constants and the tensors between dispatches become f16. A dispatch
    extends such an operand when it reads it, computes in f32, and truncates its result. The program's
    inputs and outputs keep their types, and so does every tensor that an operation other than a
    dispatch uses. Finite constants that exceed the range of f16 become its largest number. Sums of
    elements, such as those of a mean that is divided where it is read, stay f32.

    Before: `%y = gantry.dispatch (%x) … { %r = f(%x : f32); gantry.yield %r }`.
    After: `%y = gantry.dispatch (%x) … { %e = extf(%x : f16); %r = f(%e);
    %t = truncf(%r); gantry.yield %t }`.
  }];
  let dependentDialects = ["::gantry::codegen::GantryDialect", "::mlir::tensor::TensorDialect"];
}

def OrderDispatches : Pass<"order-dispatches", "::mlir::func::FuncOp"> {
  let summary = "order the dispatches so that the peak of live bytes is lowest";
  let description = [{
    Reorders the dispatches and the views between them to lower the largest number of bytes in
    transients that are alive at one moment. A result that may take an operand's storage counts once
    with it. Nothing is computed twice. engine/plan/order/order.h is the search. The model's own order is kept
    where no better one is found. The new order has at most `max-stage-growth` percent more stages
    (dispatches between two barriers) than the model's own. A dynamic dimension counts as its upper
    limit, or as 64.

    `gantry.order` on the function compares the new order with the model's own.

    Before: `%a = big(%x); %b = big(%x); %c = small(%a); %d = small(%b)`.
    After: `%a = big(%x); %c = small(%a); %b = big(%x); %d = small(%b)`.
  }];
  let options = [Option<"maxStageGrowth", "max-stage-growth", "unsigned", "400",
                        "the limit of additional stages in percent">];
  let dependentDialects = ["::gantry::codegen::GantryDialect"];
}

def OutlineKernels : Pass<"outline-kernels", "::mlir::ModuleOp"> {
  let summary = "move each dispatch's region into a module of its own";
  let description = [{
    Each distinct region becomes `module @kernel_N { func.func @kernel_N(tensors…, dims…) }`, and the
    dispatch refers to it by name. Equal regions share a module, so that repeated blocks of a network
    share their kernels; locations do not matter for equality.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def PackConstants : Pass<"pack-constants", "::mlir::func::FuncOp"> {
  let summary = "store the constant operand of a reduction in the order in which kernels read it";
  let description = [{
    Permutes a constant operand of a reduction (a filter, a weight matrix) at compile time so that its
    parallel dimension is innermost. One vec4 load then reads the weights of four neighboring output
    channels. Splat constants only change their type.

    Before: filter `[oc, ic, kh, kw]`. After: filter `[ic, kh, kw, oc]`, with the indexing map changed
    to match.

    With `blocks`, for devices whose kernels read vec4 along the reduction and pass them between lanes:
    filter `[oc / 8, kh, kw, ic / 4, oc mod 8, ic mod 4]`.

    With `dots`, for devices with dot products of four bytes, a filter of bytes becomes
    `[kh, kw, ic / 4, oc, ic mod 4]`.
  }];
  let options = [Option<"blocks", "blocks", "bool", "false",
                        "pack vec4 along the reduction, for eight neighbors together">,
                 Option<"dots", "dots", "bool", "false",
                        "pack groups of four bytes along the reduction, for all neighbors together">];
}

def PlaceInPlace : Pass<"place-in-place", "::mlir::func::FuncOp"> {
  let summary = "let a result take the storage of an operand that is no longer used";
  let description = [{
    Marks a dispatch with `in_place = i` where operand i is a transient of the same size, neither it
    nor a view of it is used afterwards, and only the invocation that writes an element of the result
    reads the same element of the operand, through identity maps.
  }];
  let dependentDialects = ["::gantry::codegen::GantryDialect"];
}

def SplitReductions : Pass<"split-reductions", "::mlir::func::FuncOp"> {
  let summary = "divide a long reduction into two";
  let description = [{
    One invocation walks all steps of a reduction. With more than 32,768 steps, too few invocations would
    share the work, rounding errors would add up, and some drivers stop loops after 65,535 rounds without
    an error. Such a reduction becomes two: the first leaves out a loop, or divides it into parts of at
    most 4,096 steps, and the second combines the results. A loop without a fitting divisor is divided
    into equal parts of which the last is padded; the padding is not combined. Of two loops of unknown
    extent, the outer one is left out. Only reductions with an associative combination are split: sums,
    products, minima and maxima. Rows of up to 262,144 elements that a subgroup shares are not split.

    Before: `%s = sum over k of %x[m, k]`, k below 100,003.
    After: `%p = sum over k of pad(%x)[m, j, k]`, j below 25, k below 4,001, j * 4,001 + k below
    100,003; `%s = sum over j of %p[m, j]`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def SumIntegers : Pass<"sum-integers", "::mlir::func::FuncOp"> {
  let summary = "compute matmuls of dequantized tensors in integers";
  let description = [{
    Runs on the importer's form. A sum of products whose two operands are dequantized from 8 bits,
    `(q - zero point) * scale`, with scales per tensor or per slice of the result, becomes a sum of
    integer products and one multiplication by both scales:
    sum (a - za) sa (b - zb) sb = (sum (a - za) (b - zb)) sa sb. The integer sum is exact. The pass
    recognizes the arithmetic of the bodies, whatever operators they come from. A pad with 0 between
    the dequantization and the sum becomes a pad with the zero point. Sums that could exceed 32 bits and
    scales along a reduced dimension are left alone.

    Before: `%x = dequantize(%q); %w = dequantize(%p); %y = sum of %x * %w : f32`.
    After: `%s = sum of (ext %q - zx) * (ext %p - zw) : i32; %y = float(%s) * (sx * sw)`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

#endif

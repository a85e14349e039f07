/* compiler.h: the C API of the Gantry compiler, in C11.
 *
 * The compiler reads a model (.onnx, or .mlir with the dialects func, tensor, linalg, arith, math
 * or TOSA) and writes an artifact (.gantry), which the runtime (gantry/gantry.h) runs. Compiler and
 * runtime are separate libraries: an application that ships artifacts needs neither this header nor
 * MLIR.
 *
 * Threads  Several threads may call these functions at the same time. One compilation uses several
 *          threads itself.
 * Errors   A function that can fail returns a gantry_compile_result_t and reports the error through
 *          its diagnostic callback. If a required pointer is NULL, the result is BAD_INPUT. No
 *          exception leaves the library.
 * Memory   If the host has no memory left, the result is INTERNAL, and a diagnostic says so. Where
 *          the containers of LLVM and MLIR need the memory, however, the process ends;
 *          docs/out-of-memory.md lists these places. A program that must survive them should run
 *          the compiler in a separate process.
 */
#ifndef GANTRY_COMPILER_H_
#define GANTRY_COMPILER_H_

#include <gantry/version.h> /* GANTRY_VERSION_* */
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define GANTRY_COMPILER_API __attribute__((visibility("default")))
#else
#define GANTRY_COMPILER_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gantry_compile_result {
  GANTRY_COMPILE_OK = 0,
  /* The model or an option is missing, damaged or impossible. */
  GANTRY_COMPILE_BAD_INPUT = 1,
  /* The model needs something that is not supported yet. One diagnostic lists all operators that
   * are not supported. */
  GANTRY_COMPILE_UNSUPPORTED = 2,
  /* A file could not be written. An incomplete artifact is removed. */
  GANTRY_COMPILE_IO = 3,
  /* A pass failed (options.reproducer then has a reproducer), or the host has no memory left. */
  GANTRY_COMPILE_INTERNAL = 4
} gantry_compile_result_t;

/* Receives one line of text without a newline. severity: 0 error, 1 warning, 2 note. */
typedef void (*gantry_diagnostic_fn)(void *user, int severity, const char *message);
/* Receives the name of a stage of the compilation ("kernels"), the number of its steps that are
 * done, and the number of all its steps. May be called from any thread of the compilation, but
 * never by two at once. */
typedef void (*gantry_progress_fn)(void *user, const char *stage, size_t done, size_t total);
/* Receives the path, relative to the model's folder, of a file besides the model that the
 * compilation reads (external data). Called once for each file, from the thread that called
 * gantry_compile. */
typedef void (*gantry_file_read_fn)(void *user, const char *location);

/* The sizes that a dynamic dimension of the inputs will have: from `min` to `max`, inclusive. If
 * both are equal, the kernels are compiled for this one size. */
typedef struct gantry_dim_range {
  const char *name; /* The name in the model, or, without one, "x_dim0" for dimension 0 of x. */
  int64_t min, max; /* 1 <= min <= max */
} gantry_dim_range_t;

/* A state: an input that keeps its buffer from run to run (gantry_state_t in gantry.h). A star in
 * the names stands for any text, the same in both: {"past.*", "present.*"} declares a state for
 * each input whose name matches "past.*". */
typedef struct gantry_state_pair {
  const char *input; /* An input, or an ONNX initializer, whose value is the state's first value. */
  const char *output; /* The output that runs write to the buffer; NULL: they only read it. */
} gantry_state_pair_t;

/* The options of a compilation. A field that is 0 or NULL has its default value. Strings and arrays
 * must stay valid until gantry_compile returns.
 *
 * A device profile describes a device to compile for. A dispatch is one kernel launch, a transient
 * a tensor between dispatches of a run, and a tile the part of a kernel's result that one
 * invocation, subgroup or workgroup computes. */
typedef struct gantry_compile_options {
  size_t struct_size;  /* sizeof(gantry_compile_options_t); set by the caller. */
  const char *profile; /* The device profile, such as "vulkan:lavapipe". NULL: "vulkan:generic". */
  /* 1: the result of every operator becomes an output under its ONNX name. */
  int32_t keep_all_outputs;
  const char *dump_ir;      /* Folder for the IR after each pass, or NULL. */
  const char *dump_ir_pass; /* The one pass to dump after ("form-dispatches"); NULL: all passes. */
  const char *dump_spirv;   /* Folder for each kernel's SPIR-V (.spv and .spvasm), or NULL. */
  const char *reproducer;   /* File for a reproducer, written when a pass fails, or NULL. */
  gantry_diagnostic_fn diagnostic; /* Or NULL. */
  gantry_progress_fn progress;     /* Or NULL. */
  void *user;                      /* Passed to the callbacks. */
  /* 1: dispatches run in the model's own order. 0: in an order that takes less memory. */
  int32_t keep_order;
  /* Limit of the arena (the memory of all transients) in bytes; 0: none. To stay within it, tensors
   * are computed twice or moved to the host for a while. If the limit cannot be met, the result is
   * BAD_INPUT, and the diagnostic says which limit could be met. */
  uint64_t memory_budget_bytes;
  /* Limit of a workgroup's shared memory in bytes; 0: the profile's. Kernels use less shared memory
   * or none to stay within it, so a low limit never makes a compilation fail. */
  uint32_t shared_memory_bytes;
  /* 1: f32 constants and tensors between kernels are stored as f16. Kernels still compute in f32,
   * and inputs and outputs keep their types. */
  int32_t half_precision;
  /* Ranges of dynamic dimensions. If every dynamic dimension has an upper limit, the compiler plans
   * the memory once for all sizes. Otherwise the runtime plans it for each set of sizes. */
  const gantry_dim_range_t *dims;
  size_t dim_count;
  /* Names of inputs whose memory a run may reuse. These inputs lie in the arena, among the
   * transients (see gantry_port_info_t). */
  const char *const *donated_inputs;
  size_t donated_count;
  const char *dump_native; /* Folder for each kernel as assembly of LLVM's back ends, or NULL. */
  /* The chips of this assembly: "sm_80" writes KERNEL.sm_80.ptx, "gfx1100" KERNEL.gfx1100.s. A chip
   * that LLVM does not know is BAD_INPUT. */
  const char *const *native_chips;
  size_t native_chip_count;
  /* File with a table of measured tiles (written by gantry tune), or NULL. A kernel that has a tile
   * in this table, for the same profile, takes this tile if it fits. */
  const char *tuning;
  int32_t no_built_in_tuning; /* 1: ignore the measured tiles that are built into the compiler. */
  /* Number of tiles that each kernel without a measured tile skips, in the order of their predicted
   * time, so that gantry tune can measure the others; 0: it takes the tile that is predicted to be
   * the fastest. */
  uint32_t tile_candidate;
  /* Several device profiles, in place of `profile`. The artifact has a variant for each, and a
   * session (the program on one device, see gantry.h) takes the variant for its device. The first
   * variant is the artifact's baseline. */
  const char *const *profiles;
  size_t profile_count;          /* 0: only `profile`. */
  gantry_file_read_fn file_read; /* Or NULL. */
  /* Inputs that keep their buffers from run to run, in addition to those that the model declares:
   * an .mlir model by the argument attributes iree.abi.output and tf.aliasing_output, an ONNX model
   * by the update bindings of its training_info. The input and the output have one type and rank.
   * A dynamic dimension of a state needs an upper limit (`dims`). */
  const gantry_state_pair_t *states;
  size_t state_count;
  /* 1: compile one step of the ONNX model's training (training_info). Its update bindings become
   * states. */
  int32_t training;
  /* 1: never compute chains of operators in strips, one range of rows after another. 0: compute
   * them in strips where that makes the arena smaller and costs little, or where the memory budget
   * needs it. */
  int32_t no_strips;
  /* 1: dispatches whose kernels differ only in sizes have a kernel each, as gantry tune needs it.
   * 0: they share one kernel, which takes the sizes as arguments, so that programs load faster. */
  int32_t separate_kernels;
} gantry_compile_options_t;

/* Compiles the file `model` and writes the artifact to the file `output`. Writes a temporary file
 * and renames it, so that an interrupted or failed compilation leaves no incomplete artifact.
 * options may be NULL. */
GANTRY_COMPILER_API gantry_compile_result_t gantry_compile(const char *model, const char *output,
                                                           const gantry_compile_options_t *options);

/* Returns text that identifies this build of the compiler, for caches of artifacts. Two builds that
 * may compile a model differently return different texts. Returns "" if the build cannot be
 * identified; then artifacts must not be cached. The text is in static storage. */
GANTRY_COMPILER_API const char *gantry_compiler_identity(void);

/* Returns the names of the device profiles, one per line: "vulkan:generic\n...". The text is in
 * static storage. Returns "" if the host has no memory left. */
GANTRY_COMPILER_API const char *gantry_compile_profiles(void);

/* Returns the ONNX operators that this build imports, one per line, sorted. The text is in static
 * storage. Returns "" if the host has no memory left. */
GANTRY_COMPILER_API const char *gantry_compile_operators(void);

/* Reads a tensor from an ONNX TensorProto file (.pb), for example a test's expected output. Sets
 *   type        a gantry_type_t of gantry.h,
 *   rank, dims  the number of dimensions, at most 8, and their sizes; dims must have room for 8,
 *   data        the elements in row-major order; the caller frees them with free(),
 *   size_bytes  the size of data in bytes,
 *   name        the tensor's name, which the caller frees with free(); name may be NULL.
 * Errors are reported as by gantry_compile; diagnostic may be NULL. */
GANTRY_COMPILER_API gantry_compile_result_t gantry_read_tensor_proto(
    const char *path, int32_t *type, uint32_t *rank, int64_t *dims, void **data, size_t *size_bytes,
    char **name, gantry_diagnostic_fn diagnostic, void *user);

#ifdef __cplusplus
}
#endif
#endif

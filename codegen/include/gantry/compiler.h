/* compiler.h: the C API of the Gantry compiler. C11.
 *
 * A model (.onnx, or .mlir with func, tensor, linalg, arith, math or TOSA) becomes an artifact
 * (.gantry) that gantry/gantry.h runs. Separate from the runtime: an application that ships
 * artifacts needs neither this header nor MLIR.
 *
 * Threads: functions may be called from several threads; one compilation uses several itself.
 * Errors: gantry_compile returns 0, or the exit codes below, and reports through `diagnostic`. No
 * exception leaves the library. NULL where a pointer is needed is BAD_INPUT.
 * Memory: where the host has none left, the result is INTERNAL, with a diagnostic that says so.
 * LLVM and MLIR, however, end the process where it is missing in their own containers;
 * docs/out-of-memory.md lists these places. A program that must survive compiles in another one.
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
  GANTRY_COMPILE_BAD_INPUT = 1,   /* missing, damaged, or an impossible model */
  GANTRY_COMPILE_UNSUPPORTED = 2, /* operators that are not supported yet: one message lists all */
  GANTRY_COMPILE_IO = 3,          /* the output could not be written; nothing is left of it */
  GANTRY_COMPILE_INTERNAL = 4     /* a pass failed (a reproducer was written if asked for), or the
                                     host has no memory left */
} gantry_compile_result_t;

/* One line of text without its newline. severity: 0 error, 1 warning, 2 note. */
typedef void (*gantry_diagnostic_fn)(void *user, int severity, const char *message);
/* done of total steps, and what is being done: "kernels". Called from the compiling thread. */
typedef void (*gantry_progress_fn)(void *user, const char *stage, size_t done, size_t total);
/* A file besides the model that the compilation reads (external data), relative to the model's
 * folder. Called once for each, from the compiling thread. */
typedef void (*gantry_file_read_fn)(void *user, const char *location);

/* The sizes that a dynamic dimension of the inputs will have. most == least: always this one, and
 * kernels are made for it. name: the model's; "x_dim0" where dimension 0 of x has none. */
typedef struct gantry_dim_range {
  const char *name;
  int64_t least, most; /* 1 <= least <= most */
} gantry_dim_range_t;

typedef struct gantry_compile_options {
  size_t struct_size;       /* sizeof(gantry_compile_options_t) */
  const char *profile;      /* device profile: "vulkan:generic" (NULL), "vulkan:lavapipe" */
  int32_t keep_all_outputs; /* 1: every operator's result becomes an output under its ONNX name */
  const char *dump_ir;      /* folder for the IR after each pass, or NULL */
  const char *dump_ir_pass; /* only after this pass ("form-dispatches"), or NULL for all */
  const char *dump_spirv;   /* folder for each kernel's SPIR-V (.spv and .spvasm), or NULL */
  const char *reproducer;   /* file for a reproducer when a pass fails, or NULL */
  gantry_diagnostic_fn diagnostic;
  gantry_progress_fn progress;
  void *user;
  int32_t keep_order; /* 1: dispatches run in the model's own order, not in that of least memory */
  uint64_t memory_budget_bytes; /* the most that the arena (all transients) may have: tensors are
                                   computed again or moved to the host; 0: no budget. BAD_INPUT,
                                   with the smallest budget, where it cannot be met. */
  uint32_t
      shared_memory_bytes; /* the most shared memory that a workgroup may have; 0: the profile's.
                              Compilation never fails for it: kernels take less, or none. */
  int32_t half_precision;  /* 1: f32 constants and tensors between kernels are kept as f16; they are
                              computed with as f32, and inputs and outputs keep their types */
  const gantry_dim_range_t *dims; /* of dynamic dimensions. Where every one is bounded, the memory
                                     is planned now, once for all sizes, instead of at run time */
  size_t dim_count;
  const char *const *donated_inputs; /* names of inputs whose memory runs may reuse: they lie in the
                                        arena, among the transients (see gantry_port_t) */
  size_t donated_count;
  const char *dump_native; /* folder for each kernel as assembly of LLVM's back ends, or NULL */
  const char *const *native_chips; /* for which: "sm_80" gives KERNEL.sm_80.ptx, "gfx1100"
                                      KERNEL.gfx1100.s; BAD_INPUT for one that LLVM lacks */
  size_t native_chip_count;
  const char *tuning; /* a table of measured tiles (gantry tune), or NULL: kernels that it has
                         for the profile take these tiles if they fit */
  int32_t no_built_in_tuning; /* 1: not also those that come with the compiler */
  uint32_t tile_candidate; /* kernels without a measured tile pass over so many that are predicted
                              to be faster, to be measured; 0: they take the best */
  const char *const *profiles;   /* device profiles: the artifact has a variant for each, of which
                                    sessions take the one for their device; the first is the
                                    baseline. They take the place of `profile`. */
  size_t profile_count;          /* 0: `profile` alone */
  gantry_file_read_fn file_read; /* or NULL */
} gantry_compile_options_t;

/* Compiles the file at `model` and writes the artifact to `output` (to a temporary name first, then
 * renamed: an interrupted or failed compilation leaves nothing). options may be NULL. */
GANTRY_COMPILER_API gantry_compile_result_t gantry_compile(const char *model, const char *output,
                                                           const gantry_compile_options_t *options);

/* What this build of the compiler is: text that differs where another build may compile a model
 * differently. For caches of artifacts. "" where the build does not tell: then do not cache. Static
 * storage. */
GANTRY_COMPILER_API const char *gantry_compiler_identity(void);

/* The named profiles, one per line: "vulkan:generic\n...". Static storage. */
GANTRY_COMPILER_API const char *gantry_compile_profiles(void);

/* The ONNX operators this build imports, one per line, sorted. Static storage. */
GANTRY_COMPILER_API const char *gantry_compile_operators(void);

/* The contents of an ONNX TensorProto file (.pb). data is malloc'ed: free with free(). type is
 * gantry_type_t of gantry.h. dims has room for 8. Returns as gantry_compile. */
GANTRY_COMPILER_API gantry_compile_result_t gantry_read_tensor_proto(
    const char *path, int32_t *type, uint32_t *rank, int64_t *dims, void **data, size_t *size_bytes,
    char **name, gantry_diagnostic_fn diagnostic, void *user);

#ifdef __cplusplus
}
#endif
#endif

/* gantry.h: the C API of the Gantry runtime, and its manual. C11; a stable ABI from 1.0 on.
 *
 * What it is for: loading a compiled model (.gantry), binding it to a GPU or to a software device,
 * and running it, with every byte of device memory accounted for. It contains no compiler
 * (gantry/compiler.h) and links none.
 *
 *   device   one GPU or software device, reached through one backend
 *   program  a loaded artifact: kernels, constants, commands, plans; immutable; needs no device
 *   session  a program bound to a device: its constants, its arena, its runs
 *   run      one execution of a session in flight
 *   buffer   device memory that the host can see, bound as input or output without a copy
 *
 * Conventions
 *   Errors     Functions that can fail return gantry_status_t; the text of the last failure on the
 *              calling thread is gantry_last_error(). On failure out-parameters are left untouched.
 *   Limits     Where the host has no memory left, or refuses a thread, a function returns
 *              OUT_OF_MEMORY and has changed nothing. No function ends the process. Threads are
 *              optional: without them the calling thread works, and traces are not recorded.
 *              docs/out-of-memory.md lists what ends the process in Vulkan drivers.
 *   NULL       A pointer argument that is NULL gives INVALID_ARGUMENT unless its function says
 *              otherwise. Functions without a status then return 0 or NULL, or do nothing.
 *   Ownership  *_create, *_load and *_submit give the caller an object to release with the function
 *              of the same name ending in _release; release(NULL) does nothing. Objects may be
 *              released in any order: what depends on another keeps it alive. Strings returned as
 *              const char* belong to the object they came from.
 *   Threads    Programs and devices may be used from several threads. Sessions, runs and buffers
 *              are used by one thread at a time. Runs of one session execute in order; sessions are
 *              independent.
 *   Units      Sizes are bytes, times nanoseconds, unless a name says otherwise.
 *   Tensors    Dense, row-major, little-endian.
 */
#ifndef GANTRY_GANTRY_H_
#define GANTRY_GANTRY_H_

#include <gantry/version.h> /* GANTRY_VERSION_* */
#include <stddef.h>         /* NOLINT(modernize-deprecated-headers): this is C */
#include <stdint.h>         /* NOLINT(modernize-deprecated-headers) */

#if defined(__GNUC__)
#define GANTRY_API __attribute__((visibility("default")))
#else
#define GANTRY_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gantry_status {
  GANTRY_STATUS_OK = 0,
  GANTRY_STATUS_INVALID_ARGUMENT = 1,    /* the caller passed something wrong */
  GANTRY_STATUS_NOT_FOUND = 2,           /* a file, device or name does not exist */
  GANTRY_STATUS_UNSUPPORTED = 3,         /* valid, but this device or build cannot do it */
  GANTRY_STATUS_OUT_OF_MEMORY = 4,       /* host or device memory, or threads, are exhausted */
  GANTRY_STATUS_DATA_LOSS = 5,           /* a file is damaged */
  GANTRY_STATUS_VERSION_MISMATCH = 6,    /* a file is newer than this build */
  GANTRY_STATUS_DEVICE_LOST = 7,         /* the device stopped answering */
  GANTRY_STATUS_IO = 8,                  /* the operating system refused a read or a write */
  GANTRY_STATUS_FAILED_PRECONDITION = 9, /* right call, wrong moment */
  GANTRY_STATUS_INTERNAL = 10            /* a defect in Gantry: please report it */
} gantry_status_t;

/* Lower-case words for a status: "invalid argument". Never NULL. */
GANTRY_API const char *gantry_status_name(gantry_status_t status);

/* The message of the last failure on this thread, "" if there was none. Valid until the next call
 * of a Gantry function on this thread. */
GANTRY_API const char *gantry_last_error(void);

/* The version of the library that is loaded: "0.1.0". The version of the headers is
 * GANTRY_VERSION_STRING. */
GANTRY_API const char *gantry_version(void);

/* Frees what a function documents as "free with gantry_free". */
GANTRY_API void gantry_free(void *memory);

/* ---- element types --------------------------------------------------------------------------- */

typedef enum gantry_type {
  GANTRY_TYPE_F32 = 0,
  GANTRY_TYPE_F16 = 1,
  GANTRY_TYPE_F64 = 2,
  GANTRY_TYPE_BF16 = 3,
  GANTRY_TYPE_I8 = 4,
  GANTRY_TYPE_U8 = 5,
  GANTRY_TYPE_I16 = 6,
  GANTRY_TYPE_U16 = 7,
  GANTRY_TYPE_I32 = 8,
  GANTRY_TYPE_U32 = 9,
  GANTRY_TYPE_I64 = 10,
  GANTRY_TYPE_U64 = 11,
  GANTRY_TYPE_BOOL = 12 /* one byte, 0 or 1 */
} gantry_type_t;

GANTRY_API const char *gantry_type_name(gantry_type_t type); /* "f32"; never NULL */
GANTRY_API size_t gantry_type_size(gantry_type_t type);      /* bytes per element; 0 if unknown */

/* ---- devices --------------------------------------------------------------------------------- */

typedef struct gantry_device gantry_device_t;

typedef enum gantry_device_kind {
  GANTRY_DEVICE_DISCRETE = 0,
  GANTRY_DEVICE_INTEGRATED = 1,
  GANTRY_DEVICE_VIRTUAL = 2,
  GANTRY_DEVICE_SOFTWARE = 3
} gantry_device_kind_t;

typedef struct gantry_device_info {
  uint32_t index;       /* position in the preferred order; what --device takes */
  char name[256];       /* "llvmpipe (LLVM 15.0.6, 256 bits)" */
  char driver[256];     /* "llvmpipe Mesa 22.3.6 (LLVM 15.0.6)" */
  char backend[16];     /* "vulkan" */
  char api_version[16]; /* "1.3.230" */
  gantry_device_kind_t kind;
  uint64_t memory_bytes;             /* of the largest device-local heap */
  uint64_t max_allocation_bytes;     /* of one driver allocation */
  uint64_t max_storage_buffer_bytes; /* of one storage-buffer binding */
  uint32_t max_shared_memory_bytes;  /* per workgroup */
  uint32_t max_workgroup_invocations;
  uint32_t max_push_constant_bytes;
  uint32_t subgroup_size;
  int32_t buffer_device_address; /* 1 if kernels may address buffers by pointer */
  int32_t unified_memory;        /* 1 if device-local memory is host-visible */
  char profile[64]; /* device profile to compile for, for a program that runs here: "vulkan:generic"
                     */
  char missing[256]; /* what it lacks to be usable by Gantry ("timelineSemaphore"), or "" */
} gantry_device_info_t;

/* Lists the devices in the preferred order: discrete, integrated, virtual, software; *count takes
 * the capacity of infos and returns how many there are (infos may be NULL to ask). Without any
 * Vulkan device it fails with NOT_FOUND and says which package brings the software one. */
GANTRY_API gantry_status_t gantry_devices(gantry_device_info_t *infos, size_t *count);

/* Opens a device. selector: an index ("0"), part of its name in any case ("llvmpipe"), or NULL or
 * "": then the environment variable GANTRY_DEVICE decides if set, else the first usable device.
 * The environment variable GANTRY_VALIDATION=1 switches the validation layers on (=sync: with
 * synchronization validation), and their messages are counted by gantry_device_validation_messages.
 */
GANTRY_API gantry_status_t gantry_device_create(const char *selector, gantry_device_t **device);
GANTRY_API void gantry_device_release(gantry_device_t *device);
/* All zero for a device that is NULL. */
GANTRY_API void gantry_device_get_info(const gantry_device_t *device, gantry_device_info_t *info);
/* Messages of severity warning or error from the validation layers since the device was opened. */
GANTRY_API uint64_t gantry_device_validation_messages(const gantry_device_t *device);

/* What Gantry takes memory for. */
typedef enum gantry_memory_kind {
  GANTRY_MEMORY_DEVICE = 0,   /* fastest for kernels; the host does not see it */
  GANTRY_MEMORY_UPLOAD = 1,   /* written by the host */
  GANTRY_MEMORY_READBACK = 2, /* read by the host */
  GANTRY_MEMORY_UNIFIED = 3   /* seen by the host and bound by kernels */
} gantry_memory_kind_t;
#define GANTRY_MEMORY_KIND_COUNT 4

GANTRY_API const char *gantry_memory_kind_name(gantry_memory_kind_t kind); /* never NULL */

/* A memory heap of a device: a stretch of physical memory, such as that of the GPU or the host's.
 */
typedef struct gantry_memory_heap {
  size_t struct_size; /* sizeof(gantry_memory_heap_t); set by the caller, kept */
  uint64_t size_bytes;
  uint64_t budget_bytes; /* how much may be in use before the driver refuses or pages */
  uint64_t used_bytes;   /* now, by this process */
  int32_t device_local;  /* 1 if the memory is near to the device */
  int32_t budget_known; /* 1 if budget and use are the driver's own figures; 0: the budget is 0.8 of
                           the size, the use is what this device object has allocated */
  uint32_t first_kinds; /* bit 1 << gantry_memory_kind_t: kinds that are taken from here first */
  uint32_t other_kinds; /* kinds that are taken from here when another heap is full */
} gantry_memory_heap_t;

/* The heaps of a device are those with an index below the count. */
GANTRY_API uint32_t gantry_device_memory_heap_count(const gantry_device_t *device);
/* Fills *heap with the figures of this moment. NOT_FOUND where there is no such heap. */
GANTRY_API gantry_status_t gantry_device_memory_heap(gantry_device_t *device, uint32_t index,
                                                     gantry_memory_heap_t *heap);

/* All memory of a device (buffers, and the constants, arenas, inputs and outputs of its sessions)
 * goes through one manager, which takes it from the driver in slabs and keeps empty ones for reuse.
 * Figures of one kind of it: */
typedef struct gantry_memory_statistics {
  size_t struct_size;  /* sizeof(gantry_memory_statistics_t); set by the caller, kept */
  uint64_t live_bytes; /* of what is in use, as asked for */
  uint64_t live_buffers;
  uint64_t peak_live_bytes;
  uint64_t reserved_bytes; /* of slabs */
  uint64_t peak_reserved_bytes;
  uint64_t largest_free_bytes; /* the largest free stretch in a slab */
  uint64_t driver_allocations; /* of all kinds, so far */
  uint32_t slabs;
  uint32_t empty_slabs;
  double fragmentation; /* 1 - largest free stretch / all that is free; 0: nothing is free */
} gantry_memory_statistics_t;

GANTRY_API gantry_status_t gantry_device_memory_statistics(gantry_device_t *device,
                                                           gantry_memory_kind_t kind,
                                                           gantry_memory_statistics_t *statistics);

/* Gives empty slabs back to the driver until keep_bytes of them are left; returns how many bytes
 * went back. */
GANTRY_API uint64_t gantry_device_trim(gantry_device_t *device, uint64_t keep_bytes);

/* The most that may be taken from a memory heap (gantry_device_memory_heap); UINT64_MAX: no limit
 * but the driver's. What is above it stays. Beyond it allocations fail with OUT_OF_MEMORY. */
GANTRY_API gantry_status_t gantry_device_set_memory_limit(gantry_device_t *device, uint32_t heap,
                                                          uint64_t bytes);

/* Writes a report for people into text (size bytes, always terminated): what is in use and free per
 * kind, the budgets, the largest holders by name. Returns its whole length; text may be NULL. */
GANTRY_API size_t gantry_device_memory_report(gantry_device_t *device, char *text, size_t size);

/* ---- buffers --------------------------------------------------------------------------------- */

typedef struct gantry_buffer gantry_buffer_t;

/* Memory of a kind, of size_bytes (at least 1), aligned to 256 bytes. name: who holds it, for
 * statistics and reports; may be NULL. A buffer of any kind may be an input or output; those that
 * are not mapped are filled and read by other runs. */
GANTRY_API gantry_status_t gantry_buffer_create_kind(gantry_device_t *device,
                                                     gantry_memory_kind_t kind, uint64_t size_bytes,
                                                     const char *name, gantry_buffer_t **buffer);
/* The same in memory that host and device both see (GANTRY_MEMORY_UNIFIED): bound as input or
 * output without a copy. */
GANTRY_API gantry_status_t gantry_buffer_create(gantry_device_t *device, uint64_t size_bytes,
                                                gantry_buffer_t **buffer);
GANTRY_API void gantry_buffer_release(gantry_buffer_t *buffer);
/* Mapped for the buffer's life; NULL for memory that the host does not see. */
GANTRY_API void *gantry_buffer_data(gantry_buffer_t *buffer);
GANTRY_API uint64_t gantry_buffer_size(const gantry_buffer_t *buffer);

/* ---- programs -------------------------------------------------------------------------------- */

typedef struct gantry_program gantry_program_t;

#define GANTRY_MAX_RANK 8
#define GANTRY_DYNAMIC (-1) /* a dimension that the inputs decide */

typedef struct gantry_port_info {
  const char *name;
  gantry_type_t type;
  uint32_t rank;
  int64_t dims[GANTRY_MAX_RANK];          /* GANTRY_DYNAMIC where the inputs decide */
  const char *dim_names[GANTRY_MAX_RANK]; /* "batch"; NULL where it has none */
  int32_t
      donated; /* 1: an input that was donated when it was compiled. It has no memory of its own:
                  a run brings it into the arena, at its value's offset in
                  gantry_program_describe, and others take its place after its last use. What the
                  caller gives is copied and stays as it is, unless it is the very place in an
                  arena of the caller's: then nothing is copied, and the run overwrites it. */
} gantry_port_info_t;

/* Maps an artifact, checks its header and metadata. DATA_LOSS if it is damaged, VERSION_MISMATCH if
 * it is newer than this library. Constants are mapped; their checksums are verified as they are
 * uploaded by gantry_session_create. */
GANTRY_API gantry_status_t gantry_program_load(const char *path, gantry_program_t **program);
/* The same from memory, which must stay valid and unchanged until the program is released. */
GANTRY_API gantry_status_t gantry_program_load_memory(const void *data, size_t size,
                                                      gantry_program_t **program);
/* Reads all constants and compares their checksums, as gantry_session_create does while it uploads
 * them: DATA_LOSS names the first damaged stretch. Threads: any. */
GANTRY_API gantry_status_t gantry_program_verify(const gantry_program_t *program);
GANTRY_API void gantry_program_release(gantry_program_t *program);
GANTRY_API size_t gantry_program_input_count(const gantry_program_t *program);
GANTRY_API size_t gantry_program_output_count(const gantry_program_t *program);
/* index < count, else INVALID_ARGUMENT. Strings live as long as the program. */
GANTRY_API gantry_status_t gantry_program_input(const gantry_program_t *program, size_t index,
                                                gantry_port_info_t *info);
GANTRY_API gantry_status_t gantry_program_output(const gantry_program_t *program, size_t index,
                                                 gantry_port_info_t *info);
/* Everything in the artifact as JSON (values with lifetimes and offsets, commands, kernels, the
 * plan and its lower bound); docs/artifact-json.md has the schema. For a dynamic program, dims
 * gives the values of its symbols in their order (NULL, 0: sizes are shown as expressions), and the
 * plan is made for them. Free with gantry_free. */
GANTRY_API gantry_status_t gantry_program_describe(const gantry_program_t *program,
                                                   const int64_t *symbols, size_t symbol_count,
                                                   char **json);

/* An artifact may hold the model compiled for several device profiles. A session takes the variant
 * made for its device's profile (gantry_device_info_t), else one made for no device in particular,
 * else the first that the device can run; where the variant was not made for the device, it logs
 * so, once for each program, with the command that makes one. Inputs, outputs and symbols are the
 * same in all variants. gantry_program_describe and gantry_program_arena_bytes speak of variant 0.
 */
GANTRY_API size_t gantry_program_variant_count(const gantry_program_t *program); /* at least 1 */
/* "vulkan:lavapipe"; index < count, else NULL. Lives as long as the program. */
GANTRY_API const char *gantry_program_variant_profile(const gantry_program_t *program,
                                                      size_t index);
/* One variant alone, as a program whose sessions make no choice. index < count, else
 * INVALID_ARGUMENT. */
GANTRY_API gantry_status_t gantry_program_variant(const gantry_program_t *program, size_t index,
                                                  gantry_program_t **variant);

/* How large an arena a session's runs need: the plan's height. symbols as for
 * gantry_program_describe; a dynamic program needs them. With check_memory a session needs more. */
GANTRY_API gantry_status_t gantry_program_arena_bytes(const gantry_program_t *program,
                                                      const int64_t *symbols, size_t symbol_count,
                                                      uint64_t *bytes);

/* ---- sessions and runs ----------------------------------------------------------------------- */

typedef struct gantry_session gantry_session_t;
typedef struct gantry_run gantry_run_t;

typedef enum gantry_binding {
  GANTRY_BINDING_AUTO = 0,           /* what GANTRY_BINDING says, else what the device prefers */
  GANTRY_BINDING_STORAGE_BUFFER = 1, /* descriptors; synchronization validation sees these */
  GANTRY_BINDING_ADDRESS = 2,        /* buffer device addresses */
  GANTRY_BINDING_TEXEL = 3           /* descriptors, with texel buffers where a kernel reads some
                                        and the tensor is within the device's limits */
} gantry_binding_t;

typedef struct gantry_session_options {
  size_t struct_size; /* sizeof(gantry_session_options_t) */
  gantry_binding_t binding;
  int32_t timestamps;   /* 1: GPU time of each dispatch; see gantry_session_dispatch */
  int32_t check_memory; /* 1: poison every range before its first and after its last use, fill gaps
                           with canaries, check them after each run (a run then fails with INTERNAL
                           and names the value that was overrun). For tests: slow. */
  const char *cache_path; /* pipeline cache file; NULL: the user's cache folder; "": none */
  gantry_buffer_t *arena; /* memory for the transients, of gantry_program_arena_bytes or more, which
                             the session keeps until its end; NULL: memory of its own. Sessions of
                             one device may share it, since their runs take turns: it then has what
                             the largest needs. A shape that needs more fails with OUT_OF_MEMORY. */
  uint64_t dispatch_limit_ns; /* longer dispatches are cut into parts (at most 1024), by an estimate
                                 for a slow device of the kind, so that others, and watchdogs, get
                                 the GPU in between; 0: 500,000,000; UINT64_MAX: never */
} gantry_session_options_t;

/* Compiles the pipelines in parallel, uploads the constants, plans and allocates the arena (static
 * programs). options may be NULL. */
GANTRY_API gantry_status_t gantry_session_create(gantry_program_t *program, gantry_device_t *device,
                                                 const gantry_session_options_t *options,
                                                 gantry_session_t **session);
GANTRY_API void gantry_session_release(gantry_session_t *session);
/* The variant of the program that the session runs, as a program of its own to release. */
GANTRY_API gantry_status_t gantry_session_program(const gantry_session_t *session,
                                                  gantry_program_t **program);

/* One input or output of a run: host memory (data), or a buffer from byte offset on.
 * type must be that of the program's port. For inputs, dims must match the port, too. For outputs,
 * dims are ignored on entry and written with the shape; size_bytes is the capacity on entry, the
 * size on return. */
typedef struct gantry_tensor {
  gantry_type_t type;
  uint32_t rank;
  int64_t dims[GANTRY_MAX_RANK];
  void *data; /* host memory; only read for inputs; NULL if buffer is set */
  gantry_buffer_t *buffer;
  uint64_t offset;
  uint64_t size_bytes; /* of data, or of the stretch of buffer */
} gantry_tensor_t;

/* The output shapes for the given input shapes (data and buffer are not looked at): fills rank,
 * dims, type and size_bytes of each output. */
GANTRY_API gantry_status_t gantry_session_output_shapes(gantry_session_t *session,
                                                        const gantry_tensor_t *inputs,
                                                        size_t input_count,
                                                        gantry_tensor_t *outputs,
                                                        size_t output_count);

/* Runs and waits. INVALID_ARGUMENT names the port and the wrong shape, type, count or capacity. */
GANTRY_API gantry_status_t gantry_session_run(gantry_session_t *session,
                                              const gantry_tensor_t *inputs, size_t input_count,
                                              gantry_tensor_t *outputs, size_t output_count);

/* A session has at most this many runs under way. */
#define GANTRY_MAX_RUNS_IN_FLIGHT 8

/* The same without waiting for the run: inputs are consumed when it returns (host memory) or when
 * the run ends (buffers); outputs are valid after gantry_run_wait returned OK and must stay in
 * place until then. BLOCKS where GANTRY_MAX_RUNS_IN_FLIGHT runs of the session have been submitted
 * and not waited for: the ninth call returns after the oldest run has ended. A run no longer counts
 * when gantry_run_wait has said that it is done; a caller that must not block waits for its oldest
 * run with a timeout of 0 before it submits the ninth. A run that needs a larger arena than any
 * before it blocks until all others have ended. */
GANTRY_API gantry_status_t gantry_session_submit(gantry_session_t *session,
                                                 const gantry_tensor_t *inputs, size_t input_count,
                                                 gantry_tensor_t *outputs, size_t output_count,
                                                 gantry_run_t **run);
/* Waits up to timeout_ns (UINT64_MAX: for ever). *done is 1 when the run has ended; done may be
 * NULL. */
GANTRY_API gantry_status_t gantry_run_wait(gantry_run_t *run, uint64_t timeout_ns, int32_t *done);
/* Gives an input's buffer up to the run: like gantry_buffer_release, but before the run's end. The
 * memory is the heap's again as soon as the device is through with the runs of this session that
 * use it, whenever the caller waits for them. INVALID_ARGUMENT, and the buffer stays the caller's,
 * where the run does not read it or writes to it. */
GANTRY_API gantry_status_t gantry_run_donate(gantry_run_t *run, gantry_buffer_t *buffer);
GANTRY_API void gantry_run_release(gantry_run_t *run); /* waits for it */

/* Exact figures of a session. */
typedef struct gantry_statistics {
  uint64_t constant_bytes;    /* on the device */
  uint64_t arena_bytes;       /* of the last shape run */
  uint64_t lower_bound_bytes; /* of the last shape run */
  uint64_t io_bytes;          /* staging for inputs and outputs */
  uint64_t reserved_bytes;    /* all device memory of the session, as allocated from the driver */
  uint64_t runs;
  uint64_t plans;      /* shapes planned; each is cached */
  uint64_t recordings; /* command buffers recorded */
  uint64_t pipelines;
  uint64_t load_ns;         /* time gantry_session_create took */
  uint64_t last_run_ns;     /* host time from submission to completion of the last run */
  uint64_t last_run_gpu_ns; /* device time of the last run, if timestamps are on */
} gantry_statistics_t;
/* All zero for a session that is NULL. */
GANTRY_API void gantry_session_statistics(const gantry_session_t *session,
                                          gantry_statistics_t *statistics);

/* One dispatch of the last run (timestamps on). index < the program's command count, else
 * NOT_FOUND. */
typedef struct gantry_dispatch_info {
  const char *name; /* operators and nodes: "Conv_0 + Relu_1" */
  uint64_t gpu_ns;
  uint64_t flops; /* the operator's own operations for this shape */
  uint64_t bytes; /* the operator's own bytes, read and written, for this shape */
  uint32_t workgroups[3];
  uint32_t workgroup_size[3];
  uint32_t shared_bytes;
  gantry_binding_t binding;
  uint32_t parts; /* dispatches that it was cut into (dispatch_limit_ns, or buffers beyond what the
                     device binds at once); 1 as a rule */
  const char *kernel_key; /* names the kernel in tables of measured tiles (docs/tuning.md), and */
  const char *exact_tile; /* the tile in which it was computed: NULL for copies, and where the
                             artifact does not tell. Both live as long as the program. */
} gantry_dispatch_info_t;
GANTRY_API gantry_status_t gantry_session_dispatch(const gantry_session_t *session, size_t index,
                                                   gantry_dispatch_info_t *info);

/* ---- traces -----------------------------------------------------------------------------------
 */

/* What happens to memory, and when what runs, can be recorded to a .gtrace file or watched live
 * with gantry-profiler. While nobody listens it costs nothing to speak of. The environment decides
 * without a line of code: GANTRY_TRACE=FILE records the process from its first device on;
 * GANTRY_ATTACH=0 keeps viewers out, who otherwise find the process through a socket that only its
 * user can enter ($XDG_RUNTIME_DIR/gantry, or /tmp/gantry-UID); GANTRY_FLIGHT_RECORDER=FILE keeps
 * the last seconds in memory for a crash ("%p" in FILE becomes the process's number), of which
 * there are GANTRY_FLIGHT_SECONDS (10). The device's times of dispatches are taken in every run
 * where that is cheap. On a software device, where the driver makes them dear, short runs in a loop
 * have theirs a few times a second, so that it loses less than one percent, unless
 * GANTRY_TRACE_TIMES=all ("gantry record" sets it). All functions: threads: any. */

/* Records to a file until gantry_trace_stop_file or the end of the process. One at a time. */
GANTRY_API gantry_status_t gantry_trace_start_file(const char *path);
/* Everything so far is in the file, with its index, when it returns; what could not be written is
 * its status. */
GANTRY_API gantry_status_t gantry_trace_stop_file(void);
/* The flight recorder: the last seconds (1 to 86400; 0: 10; at most twice as many are kept) stay in
 * memory, of which it takes max_bytes (4 MiB at least; 0: 64 MiB). When the process dies of
 * SIGSEGV, SIGBUS, SIGFPE, SIGILL or SIGABRT they are written to crash_path ("%p" becomes the
 * process's number; NULL: not), and then happens what would have happened: the handler that the
 * program had set before, or its end. One at a time. */
GANTRY_API gantry_status_t gantry_trace_start_flight_recorder(const char *crash_path,
                                                              uint32_t seconds, uint64_t max_bytes);
/* What it keeps, up to now, to a file; it goes on. */
GANTRY_API gantry_status_t gantry_trace_write_flight_recorder(const char *path);
GANTRY_API void gantry_trace_stop_flight_recorder(void);
/* Lets viewers attach: host NULL: through the user's socket (what happens by itself, unless
 * GANTRY_ATTACH=0). Else over TCP on that address ("127.0.0.1"), for those who bring the token (1
 * to 64 bytes). A process may listen at several endpoints: the user's socket and any number of
 * ports.
 */
GANTRY_API gantry_status_t gantry_trace_listen(const char *host, uint16_t port, const char *token);
/* The same over TCP. With port 0 the system chooses a free port. *bound_port receives the port that
 * viewers connect to. */
GANTRY_API gantry_status_t gantry_trace_listen_tcp(const char *host, uint16_t port,
                                                   const char *token, uint16_t *bound_port);
/* Closes all endpoints; every viewer sees the stream's end. */
GANTRY_API void gantry_trace_stop_listening(void);
/* How many viewers are attached. */
GANTRY_API uint32_t gantry_trace_viewers(void);
/* 1 while somebody listens: viewers, a file, the flight recorder. */
GANTRY_API int32_t gantry_trace_is_on(void);

/* The id of a text, the same one for the same text; 0 for "" and NULL. Ask once, keep it. */
GANTRY_API uint32_t gantry_trace_name(const char *text);
/* A moment, with a number of yours. */
GANTRY_API void gantry_trace_mark(uint32_t name, int64_t value);
/* The value of a quantity from now on. */
GANTRY_API void gantry_trace_counter(uint32_t name, int64_t value);
/* A stretch of this thread's work; spans nest. Buffers made inside carry the innermost one's name.
 */
GANTRY_API void gantry_trace_begin_span(uint32_t name);
GANTRY_API void gantry_trace_end_span(void);
/* What viewers call this thread. */
GANTRY_API void gantry_trace_name_thread(const char *name);

#ifdef __cplusplus
}
#endif
#endif

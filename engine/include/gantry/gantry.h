/* gantry.h: the C API of the Gantry runtime, and its manual. C11; the ABI is stable from 1.0 on.
 *
 * The runtime loads a compiled model (an artifact, stored in a .gantry file), binds it to a GPU or
 * to a software device, runs it, and accounts for every byte of device memory. It contains no
 * compiler and links none; <gantry/compiler.h> is the compiler's API.
 *
 *   device   one GPU or software device
 *   program  a loaded artifact: kernels, constants, commands, plans. It is immutable and needs no
 *            device.
 *   session  a program bound to a device, with its constants, its arena and its runs
 *   run      one execution of a session
 *   buffer   device memory, which can be bound as an input or output without a copy
 *   arena    the memory of all transients (intermediate tensors) of a program
 *   state    an input and an output that share one buffer across runs, such as a parameter
 *
 * Conventions
 *   Errors     A function that can fail returns gantry_status_t, and gantry_last_error() returns
 *              the message of the calling thread's last failure. A failed call does not change its
 *              out-parameters.
 *   Memory     If the host has no memory left, a function returns OUT_OF_MEMORY and has changed
 *              nothing; it does not end the process. docs/out-of-memory.md lists the cases in which
 *              a Vulkan driver ends the process. If the system refuses to start a thread, the
 *              calling thread does the work; functions that start or serve a trace need a thread
 *              and return OUT_OF_MEMORY.
 *   NULL       A NULL pointer argument gives INVALID_ARGUMENT unless the function says otherwise.
 *              Functions that return no status then return 0 or NULL, or do nothing.
 *   Ownership  Functions with create, load or submit in their names return an object. Some
 *              other functions do too; their descriptions say so. The caller releases it with the
 *              *_release function of the object's type. Releasing NULL does nothing. Objects may
 *              be released in any order, because an object keeps the objects that it depends on
 *              alive. A const char* that a function returns or stores belongs to the object that
 *              was passed to the function.
 *   Threads    Programs and devices may be used from several threads. Sessions, runs and buffers
 *              are used by one thread at a time. Runs of one session execute in order; sessions are
 *              independent of each other unless they share a state.
 *   Units      Sizes are in bytes and times in nanoseconds, unless a name says otherwise.
 *   Tensors    Dense, row-major, little-endian.
 *   Structs    A struct with a field struct_size may grow in later versions. The caller sets
 *              struct_size to the struct's sizeof. If the library is older than the headers, it
 *              sets result fields that it does not know to zero. If the library is newer, options
 *              that the caller's struct lacks have their defaults.
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
  GANTRY_STATUS_INVALID_ARGUMENT = 1,    /* An argument is not valid. */
  GANTRY_STATUS_NOT_FOUND = 2,           /* A file, device or name does not exist. */
  GANTRY_STATUS_UNSUPPORTED = 3,         /* This device or build cannot do what was requested. */
  GANTRY_STATUS_OUT_OF_MEMORY = 4,       /* Host or device memory, or threads, are exhausted. */
  GANTRY_STATUS_DATA_LOSS = 5,           /* A file is damaged. */
  GANTRY_STATUS_VERSION_MISMATCH = 6,    /* A file is newer than this build. */
  GANTRY_STATUS_DEVICE_LOST = 7,         /* The device stopped responding. */
  GANTRY_STATUS_IO = 8,                  /* The operating system refused a read or a write. */
  GANTRY_STATUS_FAILED_PRECONDITION = 9, /* The object's present state does not allow the call. */
  GANTRY_STATUS_INTERNAL = 10            /* A defect in Gantry; please report it. */
} gantry_status_t;

/* Returns the lower-case words for a status, such as "invalid argument". Never NULL. */
GANTRY_API const char *gantry_status_name(gantry_status_t status);

/* Returns the message of the last failure on the calling thread, or "" if there was none. The text
 * is valid until the thread's next call of a Gantry function. */
GANTRY_API const char *gantry_last_error(void);

/* Returns the version of the loaded library, such as "0.1.0". The version of the headers is
 * GANTRY_VERSION_STRING. */
GANTRY_API const char *gantry_version(void);

/* Frees memory that a function documents as "free with gantry_free". */
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
  GANTRY_TYPE_BOOL = 12 /* One byte, 0 or 1. */
} gantry_type_t;

GANTRY_API const char *gantry_type_name(gantry_type_t type); /* "f32"; never NULL. */
GANTRY_API size_t gantry_type_size(gantry_type_t type);      /* Bytes per element; 0 if unknown. */

/* ---- devices --------------------------------------------------------------------------------- */

typedef struct gantry_device gantry_device_t;

typedef enum gantry_device_kind {
  GANTRY_DEVICE_DISCRETE = 0,
  GANTRY_DEVICE_INTEGRATED = 1,
  GANTRY_DEVICE_VIRTUAL = 2,
  GANTRY_DEVICE_SOFTWARE = 3
} gantry_device_kind_t;

/* The description of a device. */
typedef struct gantry_device_info {
  uint32_t index;       /* Position in the list of gantry_devices; also a selector. */
  char name[256];       /* "llvmpipe (LLVM 15.0.6, 256 bits)" */
  char driver[256];     /* "llvmpipe Mesa 22.3.6 (LLVM 15.0.6)" */
  char backend[16];     /* "vulkan" */
  char api_version[16]; /* "1.3.230" */
  gantry_device_kind_t kind;
  uint64_t memory_bytes;             /* Size of the largest device-local heap. */
  uint64_t max_allocation_bytes;     /* Max size of one driver allocation. */
  uint64_t max_storage_buffer_bytes; /* Max size of one storage-buffer binding. */
  uint32_t max_shared_memory_bytes;  /* Shared memory of one workgroup. */
  uint32_t max_workgroup_invocations;
  uint32_t max_push_constant_bytes;
  uint32_t subgroup_size;        /* Lanes; 1 if not known. */
  int32_t buffer_device_address; /* 1 if kernels can access buffers by address. */
  int32_t unified_memory;        /* 1 if the host can map the largest device-local heap. */
  char profile[64];              /* The device profile to compile for, such as "vulkan:generic". */
  char missing[256]; /* Missing required features ("timelineSemaphore"); "" if usable. */
} gantry_device_info_t;

/* Lists the devices in the order of preference: discrete, integrated, virtual, software. On entry
 * *count is the number of elements in infos; on return it is the number of devices. infos may be
 * NULL; the function then only sets *count. Returns NOT_FOUND if there is no Vulkan device; the
 * message names the package that provides the software device. */
GANTRY_API gantry_status_t gantry_devices(gantry_device_info_t *infos, size_t *count);

/* Opens a device. The selector is an index ("0") or a part of the device's name, compared without
 * case ("llvmpipe"). If the selector is NULL or "", the value of the environment variable
 * GANTRY_DEVICE is used; if that variable is not set either, the first usable device is opened.
 * GANTRY_VALIDATION=1 enables the Vulkan validation layers, and GANTRY_VALIDATION=sync also their
 * synchronization validation; gantry_device_validation_messages counts their messages. */
GANTRY_API gantry_status_t gantry_device_create(const char *selector, gantry_device_t **device);
GANTRY_API void gantry_device_release(gantry_device_t *device);
/* Fills *info; all fields are zero if the device is NULL. */
GANTRY_API void gantry_device_get_info(const gantry_device_t *device, gantry_device_info_t *info);
/* Returns the number of warnings and errors from the validation layers since the device was opened.
 */
GANTRY_API uint64_t gantry_device_validation_messages(const gantry_device_t *device);

/* The purpose of memory. It determines from which Vulkan memory types the memory is allocated. */
typedef enum gantry_memory_kind {
  GANTRY_MEMORY_DEVICE = 0,   /* Fastest for kernels; not visible to the host. */
  GANTRY_MEMORY_UPLOAD = 1,   /* Written by the host. */
  GANTRY_MEMORY_READBACK = 2, /* Read by the host. */
  GANTRY_MEMORY_UNIFIED = 3   /* Visible to the host and bound by kernels. */
} gantry_memory_kind_t;
#define GANTRY_MEMORY_KIND_COUNT 4

GANTRY_API const char *gantry_memory_kind_name(gantry_memory_kind_t kind); /* Never NULL. */

/* A memory heap of a device: one physical memory, such as the GPU's or the host's. */
typedef struct gantry_memory_heap {
  size_t struct_size; /* sizeof(gantry_memory_heap_t); set by the caller. */
  uint64_t size_bytes;
  uint64_t budget_bytes; /* Bytes that can be in use before the driver refuses allocations or pages
                            memory out. */
  uint64_t used_bytes;   /* Bytes in use by this process. */
  int32_t device_local;  /* 1 if the memory is local to the device. */
  int32_t budget_known;  /* 1 if budget and use are the driver's figures. 0 if the budget is 0.8 of
                            the size and the use is the sum of this device object's allocations. */
  uint32_t first_kinds;  /* Bits 1 << gantry_memory_kind_t: kinds that are allocated here first. */
  uint32_t other_kinds;  /* Kinds that are allocated here if their first heap is full. */
} gantry_memory_heap_t;

/* Returns the number of memory heaps. The index of a heap is below this number. */
GANTRY_API uint32_t gantry_device_memory_heap_count(const gantry_device_t *device);
/* Fills *heap with the present figures. Returns NOT_FOUND if there is no heap with that index. */
GANTRY_API gantry_status_t gantry_device_memory_heap(gantry_device_t *device, uint32_t index,
                                                     gantry_memory_heap_t *heap);

/* One memory manager per device holds all of the device's memory: buffers, and the constants,
 * arenas, inputs and outputs of sessions. It allocates large slabs from the driver, divides them
 * into buffers, and keeps empty slabs for reuse. These are its figures for one kind of memory. */
typedef struct gantry_memory_statistics {
  size_t struct_size;  /* sizeof(gantry_memory_statistics_t); set by the caller. */
  uint64_t live_bytes; /* Sum of the requested sizes of all buffers in use. */
  uint64_t live_buffers;
  uint64_t peak_live_bytes; /* The largest live_bytes so far. It is exact if one thread allocates.
                             * Each further thread may make it too large by about 16 MiB, or too
                             * small by 1 MiB, or by 1/32 of the thread's live bytes if that is
                             * more. */
  uint64_t reserved_bytes;  /* Sum of the sizes of the slabs. */
  uint64_t peak_reserved_bytes;
  uint64_t largest_free_bytes; /* Largest free range in one slab. */
  uint64_t driver_allocations; /* Driver allocations so far, of all kinds of memory. */
  uint32_t slabs;
  uint32_t empty_slabs;
  double fragmentation; /* 1 - largest_free_bytes / all free bytes; 0 if nothing is free. */
} gantry_memory_statistics_t;

/* Fills *statistics with the present figures of one kind of memory. */
GANTRY_API gantry_status_t gantry_device_memory_statistics(gantry_device_t *device,
                                                           gantry_memory_kind_t kind,
                                                           gantry_memory_statistics_t *statistics);

/* Gives empty slabs back to the driver until at most keep_bytes of empty slabs are left. Returns
 * the number of bytes that were given back. */
GANTRY_API uint64_t gantry_device_trim(gantry_device_t *device, uint64_t keep_bytes);

/* Limits the bytes that may be allocated from a memory heap, given by its index; UINT64_MAX removes
 * the limit. Allocations that would exceed the limit fail with OUT_OF_MEMORY. Memory that is
 * already allocated stays, even if it exceeds the limit. */
GANTRY_API gantry_status_t gantry_device_set_memory_limit(gantry_device_t *device, uint32_t heap,
                                                          uint64_t bytes);

/* Writes a report for people into text, which has room for size bytes: used and free memory of each
 * kind, the budgets, and the names whose buffers use the largest amounts. The text is cut to size
 * and always terminated; text may be NULL. Returns the length of the whole report without the
 * terminator. */
GANTRY_API size_t gantry_device_memory_report(gantry_device_t *device, char *text, size_t size);

/* ---- buffers --------------------------------------------------------------------------------- */

typedef struct gantry_buffer gantry_buffer_t;

/* Allocates size_bytes (at least 1) of one kind of memory, aligned to 256 bytes. Reports and traces
 * show the name; it is copied and may be NULL. Later calls with the same pointer to the same text,
 * such as a string literal, find the name quickly.
 * Buffers of every kind may be inputs and outputs; the contents of a buffer that is not visible to
 * the host are written and read only by runs.
 * The pointer is an opaque handle, not the address of an object. As long as the device or any of
 * its objects exists, the handle of a released or donated buffer is recognised: releasing it again
 * does nothing, its size is 0, its data is NULL, and functions that take it return
 * INVALID_ARGUMENT. The message for a donated buffer names the buffer and the run that took it; the
 * last 512 donations of the process are remembered. */
GANTRY_API gantry_status_t gantry_buffer_create_kind(gantry_device_t *device,
                                                     gantry_memory_kind_t kind, uint64_t size_bytes,
                                                     const char *name, gantry_buffer_t **buffer);
/* Allocates memory that is visible to host and device (GANTRY_MEMORY_UNIFIED), without a name. */
GANTRY_API gantry_status_t gantry_buffer_create(gantry_device_t *device, uint64_t size_bytes,
                                                gantry_buffer_t **buffer);
GANTRY_API void gantry_buffer_release(gantry_buffer_t *buffer);
/* Returns the host's address of the buffer, valid until the buffer is released; NULL if the memory
 * is not visible to the host. Like gantry_buffer_size, it sets gantry_last_error() if the buffer
 * was released or donated. */
GANTRY_API void *gantry_buffer_data(gantry_buffer_t *buffer);
/* Returns the size in bytes; 0 if the buffer was released or donated. */
GANTRY_API uint64_t gantry_buffer_size(const gantry_buffer_t *buffer);

/* ---- programs -------------------------------------------------------------------------------- */

typedef struct gantry_program gantry_program_t;

#define GANTRY_MAX_RANK 8
#define GANTRY_DYNAMIC (-1) /* A dimension that depends on the inputs of a run. */

/* A port: an input or output of a program. */
typedef struct gantry_port_info {
  const char *name;
  gantry_type_t type;
  uint32_t rank;
  int64_t dims[GANTRY_MAX_RANK]; /* GANTRY_DYNAMIC if the dimension depends on the inputs. */
  const char *dim_names[GANTRY_MAX_RANK]; /* "batch"; NULL if the dimension has no name. */
  /* 1 for an input that the compiler was told to donate (gantry compile --donate). A run copies it
   * into the arena, at the offset that gantry_program_describe gives for its value; other values
   * reuse these bytes after the input's last use. The caller's memory stays unchanged, with one
   * exception: if the caller provides the arena (gantry_session_options_t) and passes exactly these
   * bytes of the arena as the input, nothing is copied, and the run overwrites the bytes. */
  int32_t donated;
} gantry_port_info_t;

/* Maps an artifact and checks its header and metadata. Returns DATA_LOSS if the file is damaged and
 * VERSION_MISMATCH if it is newer than this library. The checksums of the constants are verified
 * later, when gantry_session_create uploads them. */
GANTRY_API gantry_status_t gantry_program_load(const char *path, gantry_program_t **program);
/* Loads an artifact from memory, which must stay valid and unchanged until the program is released.
 */
GANTRY_API gantry_status_t gantry_program_load_memory(const void *data, size_t size,
                                                      gantry_program_t **program);
/* Reads all constants and verifies their checksums. Returns DATA_LOSS, with the first damaged range
 * in the message. */
GANTRY_API gantry_status_t gantry_program_verify(const gantry_program_t *program);
GANTRY_API void gantry_program_release(gantry_program_t *program);
GANTRY_API size_t gantry_program_input_count(const gantry_program_t *program);
GANTRY_API size_t gantry_program_output_count(const gantry_program_t *program);
/* Fills *info. The index must be below the count, else INVALID_ARGUMENT. The strings are valid
 * until the program is released. */
GANTRY_API gantry_status_t gantry_program_input(const gantry_program_t *program, size_t index,
                                                gantry_port_info_t *info);
GANTRY_API gantry_status_t gantry_program_output(const gantry_program_t *program, size_t index,
                                                 gantry_port_info_t *info);
/* Returns the contents of the artifact as JSON: values with lifetimes and offsets, commands,
 * kernels, the plan and its lower bound. docs/artifact-json.md describes the schema. For a dynamic
 * program, symbols gives the values of its symbolic dimensions, in the order of the list "symbols"
 * in the JSON, and the plan is made for these values; with NULL and 0, sizes are shown as
 * expressions. Free the text with gantry_free. */
GANTRY_API gantry_status_t gantry_program_describe(const gantry_program_t *program,
                                                   const int64_t *symbols, size_t symbol_count,
                                                   char **json);

/* An artifact may hold several variants of a model, each compiled for one device profile. A session
 * uses the first variant that the device can run. It tries the variant for the device's profile
 * (gantry_device_info_t) first, then variants for no particular device (such as "vulkan:generic"),
 * then the others. If the chosen variant was not compiled for the device's profile, the session
 * logs a warning, once per program, with the command that compiles such a variant. All variants
 * have the same inputs, outputs and symbols. gantry_program_describe and gantry_program_arena_bytes
 * describe variant 0.
 *
 * Returns the number of variants, at least 1. */
GANTRY_API size_t gantry_program_variant_count(const gantry_program_t *program);
/* Returns the name of a variant's device profile, such as "vulkan:lavapipe", valid until the
 * program is released; NULL if the index is not below the count. */
GANTRY_API const char *gantry_program_variant_profile(const gantry_program_t *program,
                                                      size_t index);
/* Returns one variant as a program of its own, whose sessions use that variant. The caller releases
 * it. The index must be below the count, else INVALID_ARGUMENT. */
GANTRY_API gantry_status_t gantry_program_variant(const gantry_program_t *program, size_t index,
                                                  gantry_program_t **variant);

/* Returns the size of the arena that a run needs: the height of the memory plan, rounded up to a
 * multiple of 256 bytes. symbols gives the values of the symbolic dimensions as in
 * gantry_program_describe; a dynamic program requires them. A session with the option check_memory
 * needs a larger arena. */
GANTRY_API gantry_status_t gantry_program_arena_bytes(const gantry_program_t *program,
                                                      const int64_t *symbols, size_t symbol_count,
                                                      uint64_t *bytes);

/* ---- sessions and runs ----------------------------------------------------------------------- */

typedef struct gantry_session gantry_session_t;
typedef struct gantry_run gantry_run_t;
typedef struct gantry_state gantry_state_t;

/* How kernels access buffers. */
typedef enum gantry_binding {
  GANTRY_BINDING_AUTO = 0,           /* The environment variable GANTRY_BINDING, or else the mode
                                        that the device prefers. */
  GANTRY_BINDING_STORAGE_BUFFER = 1, /* Descriptors, which synchronization validation can check. */
  GANTRY_BINDING_ADDRESS = 2,        /* Buffer device addresses. */
  GANTRY_BINDING_TEXEL = 3           /* Descriptors. Kernels that were compiled for texel buffers
                                        read tensors through texel buffers, if the tensors are
                                        within the device's limits. */
} gantry_binding_t;

/* Options of a session; zero in every field except struct_size means the defaults. */
typedef struct gantry_session_options {
  size_t struct_size; /* sizeof(gantry_session_options_t) */
  gantry_binding_t binding;
  int32_t timestamps; /* 1: measure the GPU time of each dispatch (gantry_session_dispatch). */
  /* 1: find kernels that write past the end of a tensor or read a tensor outside its lifetime. The
   * memory of each tensor is filled with NaNs before the first use and after the last use, so a
   * wrong read spoils the result. Canaries follow each tensor and are checked after each run; if
   * one was overwritten, the run fails with INTERNAL and names the tensor. The option is slow and
   * meant for tests. */
  int32_t check_memory;
  const char *cache_path; /* Pipeline cache file; NULL: in the user's cache folder; "": none. */
  /* A buffer for the transients, of at least gantry_program_arena_bytes; the session keeps it
   * alive. NULL: the session allocates its own. Sessions of one device may share an arena, because
   * the runs of one device do not overlap. A run that needs a larger arena fails with
   * OUT_OF_MEMORY. */
  gantry_buffer_t *arena;
  /* A dispatch is cut into parts if its estimated time exceeds this limit, so that other programs
   * can use the GPU between the parts and no watchdog resets the device. The estimate assumes a
   * slow device with the same number of compute units. The limit never asks for parts below 1/1024
   * of the dispatch. 0: 500,000,000 ns; UINT64_MAX: dispatches are not cut. */
  uint64_t dispatch_limit_ns;
  /* The object with the values of the program's states; the session keeps the object alive. Other
   * sessions on the device, also of other programs, may use the same object. The object must have
   * an entry for each of the program's states, with the name, type and rank of the program's state
   * and at least its capacity. Extents that are static in both must be equal. The orders of
   * their elements in memory (stored_dims of gantry_state_info_t) must be equal, too. If an entry
   * does not fit, the call returns INVALID_ARGUMENT. NULL: the session creates an object of its
   * own. */
  gantry_state_t *state;
} gantry_session_options_t;

/* Creates a session: compiles the pipelines in parallel and uploads the constants. Allocates the
 * arena now if the artifact states its size, and otherwise when a run needs it. options may be
 * NULL. Returns UNSUPPORTED if the device lacks a requirement of the program, and DATA_LOSS if a
 * constant is damaged. */
GANTRY_API gantry_status_t gantry_session_create(gantry_program_t *program, gantry_device_t *device,
                                                 const gantry_session_options_t *options,
                                                 gantry_session_t **session);
GANTRY_API void gantry_session_release(gantry_session_t *session);
/* Returns the variant of the program that the session runs, as a program that the caller releases.
 */
GANTRY_API gantry_status_t gantry_session_program(const gantry_session_t *session,
                                                  gantry_program_t **program);

/* One input or output of a run: either host memory (data) or a range of a buffer (buffer, offset).
 * For the ports of a state, data and buffer must be NULL, and the other fields are ignored.
 * The type must equal the type of the program's port. The rank and dims of an input must match the
 * port. The rank and dims of an output are ignored on entry and set to its shape on return; its
 * size_bytes is the capacity on entry and the size on return. */
typedef struct gantry_tensor {
  gantry_type_t type;
  uint32_t rank;
  int64_t dims[GANTRY_MAX_RANK];
  void *data; /* Host memory; not written if this is an input; NULL if buffer is set. */
  gantry_buffer_t *buffer;
  uint64_t offset;     /* Start of the range in buffer, in bytes. */
  uint64_t size_bytes; /* Size of data, or of the range of buffer. */
} gantry_tensor_t;

/* Computes the output shapes for the given input shapes: fills type, rank, dims and size_bytes of
 * each output. The fields data and buffer of the tensors are ignored. */
GANTRY_API gantry_status_t gantry_session_output_shapes(gantry_session_t *session,
                                                        const gantry_tensor_t *inputs,
                                                        size_t input_count,
                                                        gantry_tensor_t *outputs,
                                                        size_t output_count);

/* Runs the program and waits for the end. If an argument does not match the program, the message of
 * INVALID_ARGUMENT names the port and the wrong shape, type, count or capacity. */
GANTRY_API gantry_status_t gantry_session_run(gantry_session_t *session,
                                              const gantry_tensor_t *inputs, size_t input_count,
                                              gantry_tensor_t *outputs, size_t output_count);

/* The max number of runs of one session that can be in flight. */
#define GANTRY_MAX_RUNS_IN_FLIGHT 8

/* Starts a run without waiting for its end.
 *
 * Inputs in host memory are copied before the function returns; inputs in buffers must stay
 * unchanged until the run ends. Outputs must stay allocated until the run ends, and are valid after
 * gantry_run_wait has reported the end with OK.
 *
 * The call blocks if GANTRY_MAX_RUNS_IN_FLIGHT runs of the session are in flight, until the oldest
 * of them has ended. A run is in flight until gantry_run_wait has reported its end; a caller that
 * must not block therefore polls its oldest run with gantry_run_wait and a timeout of 0 first. The
 * call also blocks until all earlier runs of the session have ended if the run needs a larger
 * arena, or if the host copies a donated input into the arena. */
GANTRY_API gantry_status_t gantry_session_submit(gantry_session_t *session,
                                                 const gantry_tensor_t *inputs, size_t input_count,
                                                 gantry_tensor_t *outputs, size_t output_count,
                                                 gantry_run_t **run);
/* Waits until the run has ended or timeout_ns has passed (UINT64_MAX: no timeout). *done is set to
 * 1 if the run has ended and to 0 otherwise; done may be NULL. If the run failed, the function
 * returns the run's error. */
GANTRY_API gantry_status_t gantry_run_wait(gantry_run_t *run, uint64_t timeout_ns, int32_t *done);
/* Donates the buffer of an input to the run. The call replaces gantry_buffer_release and may be
 * made before the run has ended: the memory becomes free for reuse as soon as the device has
 * finished the runs of this session that use it, even if the caller has not waited for them.
 * Afterwards every use of the handle is refused with a message that names the buffer and the run.
 * The exception is gantry_buffer_release, which does nothing and reports no error.
 * Returns INVALID_ARGUMENT, and the caller keeps the buffer, if the run does not read the buffer or
 * if the run writes to it. Returns FAILED_PRECONDITION if a run of another session, a state or an
 * arena also uses the buffer, or if this run has ended and any other run uses it. */
GANTRY_API gantry_status_t gantry_run_donate(gantry_run_t *run, gantry_buffer_t *buffer);
GANTRY_API void gantry_run_release(gantry_run_t *run); /* Waits for the run. */

/* Exact figures of a session. */
typedef struct gantry_statistics {
  uint64_t constant_bytes;    /* Constants on the device. */
  uint64_t arena_bytes;       /* Arena in the memory plan of the last submitted run. */
  uint64_t lower_bound_bytes; /* Lower bound of arena_bytes. */
  uint64_t io_bytes;          /* The session's own memory for inputs, outputs and staging. */
  uint64_t reserved_bytes;    /* All device memory of the session, without states. */
  uint64_t runs;              /* Number of runs that have ended. */
  uint64_t plans;             /* Number of memory plans made, one for each set of input
                                 shapes that is not in the cache of recent plans. */
  uint64_t recordings;        /* Number of command lists that were recorded. */
  uint64_t pipelines;         /* Number of compiled pipelines. */
  uint64_t load_ns;           /* Duration of gantry_session_create. */
  uint64_t last_run_ns;       /* Time from the submission of the last run that ended until
                                 gantry_run_wait noticed the end. */
  uint64_t last_run_gpu_ns;   /* Device time of the last run that ended, if timestamps are on. */
} gantry_statistics_t;
/* Fills *statistics; all fields are zero if the session is NULL. */
GANTRY_API void gantry_session_statistics(const gantry_session_t *session,
                                          gantry_statistics_t *statistics);

/* One command of the last run of a session with the option timestamps. */
typedef struct gantry_dispatch_info {
  const char *name; /* Operators and nodes: "Conv_0 + Relu_1". */
  uint64_t gpu_ns;
  uint64_t flops; /* Arithmetic operations of the operator for the run's shapes. */
  uint64_t bytes; /* Bytes of the operator's operands and results in the run. */
  uint32_t workgroups[3];
  uint32_t workgroup_size[3];
  uint32_t shared_bytes;
  gantry_binding_t binding;
  uint32_t parts; /* Number of dispatches that the command was cut into, because of
                     dispatch_limit_ns or because a buffer exceeds one binding; normally 1. */
  /* The kernel and its tile (the part of the result that one workgroup computes), as tables of
   * measured tiles write them (docs/tuning.md). Valid until the program is released; NULL for
   * copies and if the artifact does not contain them. */
  const char *kernel_key;
  const char *exact_tile;
} gantry_dispatch_info_t;
/* Fills *info. Returns NOT_FOUND if the index is not below the program's number of commands, and
 * FAILED_PRECONDITION if the session has no timestamps or no run has ended yet. */
GANTRY_API gantry_status_t gantry_session_dispatch(const gantry_session_t *session, size_t index,
                                                   gantry_dispatch_info_t *info);

/* ---- states ---------------------------------------------------------------------------------- */

/* A state is an input and an output of a program that share one buffer across runs: a parameter, an
 * optimizer moment, a cache. Each run reads the value that the run before it has left. The model
 * declares states when it is compiled (gantry compile --state INPUT=OUTPUT). A state may also have
 * no output; runs then only read it.
 *
 * A gantry_state_t holds the buffers of all states of a program, one entry for each, found by the
 * input's name. A session creates one, or uses the one in its options, which it may share with
 * other sessions on the same device: training and evaluation, or two programs that fill and read
 * one cache. Runs of all these sessions execute in the order in which they were submitted. A state
 * and its sessions are used by one thread at a time. The object is counted: release each reference
 * that gantry_state_create and gantry_session_state return.
 *
 * An entry has no value at first, unless the artifact contains one. A run that is refused before it
 * starts changes nothing. If a run fails later, the entries that it writes become invalid, since
 * they may have changed in part; after the loss of the device all entries are invalid. Every use of
 * such an entry returns FAILED_PRECONDITION or DEVICE_LOST with the run and the cause, until it is
 * restored, written or bound. After the loss of the device, open it again, create a session, and
 * restore the last save.
 *
 * A state with a dynamic dimension has a capacity, the size for the dimension's upper bound. Its
 * shape may change with each write and each run within the capacity, without an allocation. If
 * each run appends rows to it, it grows in place. */

#define GANTRY_NO_OUTPUT SIZE_MAX /* gantry_state_port_t: runs only read the state. */

/* A state of a program. */
typedef struct gantry_state_port {
  size_t struct_size; /* sizeof(gantry_state_port_t); set by the caller. */
  const char *name;   /* The input's name, valid until the program is released. */
  size_t input;       /* Index of the input. */
  size_t output;      /* Index of the output, or GANTRY_NO_OUTPUT. */
  uint64_t capacity_bytes;
  int32_t has_initial; /* 1 if the artifact contains the state's first value. */
} gantry_state_port_t;

/* Returns the number of states; 0 if the program is NULL. */
GANTRY_API size_t gantry_program_state_count(const gantry_program_t *program);
/* Fills *info. The index must be below the count, else INVALID_ARGUMENT. */
GANTRY_API gantry_status_t gantry_program_state(const gantry_program_t *program, size_t index,
                                                gantry_state_port_t *info);

/* Allocates the buffers of a program's states on the device. Returns FAILED_PRECONDITION if the
 * program has no states. */
GANTRY_API gantry_status_t gantry_state_create(gantry_program_t *program, gantry_device_t *device,
                                               gantry_state_t **state);
/* Returns the state of a session, which the caller releases. Returns FAILED_PRECONDITION if the
 * session's program has no states. */
GANTRY_API gantry_status_t gantry_session_state(const gantry_session_t *session,
                                                gantry_state_t **state);
GANTRY_API void gantry_state_release(gantry_state_t *state);

typedef enum gantry_state_condition {
  GANTRY_STATE_UNSET = 0,  /* No value has been written yet. */
  GANTRY_STATE_VALID = 1,  /* There is a value. */
  GANTRY_STATE_INVALID = 2 /* The value is lost; the error of gantry_state_read says why. */
} gantry_state_condition_t;

/* An entry of a state. */
typedef struct gantry_state_info {
  size_t struct_size; /* sizeof(gantry_state_info_t); set by the caller. */
  const char *name;   /* Valid until the state is released. */
  gantry_state_condition_t condition;
  gantry_type_t type;
  uint32_t rank;
  int64_t dims[GANTRY_MAX_RANK]; /* Extents of the value; GANTRY_DYNAMIC before it has one. */
  uint64_t size_bytes;           /* Size of the value. */
  uint64_t capacity_bytes;
  /* The order of the value's elements in the buffer: row-major, with dimension stored_dims[i] of
   * the value as dimension i, for i below the rank. It is 0, 1, 2, … unless the compiler has chosen
   * another order, so that the state can grow in place: for a cache of shape [batch, heads, length,
   * size] it chooses 2, 0, 1, 3. Only gantry_state_bind needs it. Not filled if struct_size
   * excludes it. */
  uint32_t stored_dims[GANTRY_MAX_RANK];
} gantry_state_info_t;

/* Returns the number of entries; 0 if the state is NULL. */
GANTRY_API size_t gantry_state_count(const gantry_state_t *state);
/* Fills *info. The index must be below the count, else INVALID_ARGUMENT. Does not wait for runs, so
 * the condition does not tell whether a run in flight will fail. */
GANTRY_API gantry_status_t gantry_state_get_info(gantry_state_t *state, size_t index,
                                                 gantry_state_info_t *info);

/* The next functions wait for all runs that use the state. A name that the state lacks gives
 * NOT_FOUND, and the message lists the names. */

/* Gives an entry the value tensor->data, which is copied. Type, rank and static dimensions must
 * equal those of the program's input, and size_bytes must be the size of the shape; otherwise
 * INVALID_ARGUMENT. */
GANTRY_API gantry_status_t gantry_state_write(gantry_state_t *state, const char *name,
                                              const gantry_tensor_t *tensor);
/* Copies the value of an entry to tensor->data, which has room for tensor->size_bytes bytes, and
 * sets type, rank, dims and size_bytes. */
GANTRY_API gantry_status_t gantry_state_read(gantry_state_t *state, const char *name,
                                             gantry_tensor_t *tensor);
/* Moves an entry to a range of tensor->buffer. The range begins at tensor->offset and has
 * tensor->size_bytes bytes, at least the entry's capacity. The bytes of the range, in the order of
 * stored_dims (gantry_state_info_t), become the value, with the tensor's shape. The state keeps the
 * buffer alive and releases the entry's former buffer.
 * The device limits the offsets; multiples of 256 are valid on every device. */
GANTRY_API gantry_status_t gantry_state_bind(gantry_state_t *state, const char *name,
                                             const gantry_tensor_t *tensor);
/* Writes all entries to a file, which appears only when it is complete. Every entry must have a
 * value. */
GANTRY_API gantry_status_t gantry_state_save(gantry_state_t *state, const char *path);
/* Gives each entry the value of the same name in a file that gantry_state_save has written, on any
 * device and for any program; other tensors of the file are ignored. Nothing changes if the file is
 * damaged (DATA_LOSS) or newer than this library (VERSION_MISMATCH), if it is no state file, or if
 * an entry's value is absent or has an unsuitable shape (INVALID_ARGUMENT). */
GANTRY_API gantry_status_t gantry_state_restore(gantry_state_t *state, const char *path);

/* ---- traces -----------------------------------------------------------------------------------
 */

/* A trace records memory events and the times of dispatches. It is written to a .gtrace file or
 * sent live to gantry-profiler. While nothing receives the trace, its cost is negligible.
 *
 * Environment variables control the traces without a change of the program:
 *   GANTRY_TRACE=FILE            Records the process from its first device on.
 *   GANTRY_ATTACH=0              Refuses viewers. By default viewers attach through a socket that
 *                                only the process's user can open ($XDG_RUNTIME_DIR/gantry, or
 *                                /tmp/gantry-UID).
 *   GANTRY_FLIGHT_RECORDER=FILE  Keeps the last seconds in memory and writes them to FILE after a
 *                                crash; "%p" in FILE becomes the process id.
 *   GANTRY_FLIGHT_SECONDS=N      Seconds that the flight recorder keeps (10).
 *   GANTRY_TRACE_TIMES=all       Times every run, even on a software device. gantry record sets it.
 *
 * On a GPU the device times of dispatches are measured in every run. On a software device
 * timestamps are expensive, so short runs in a loop are measured only a few times a second, which
 * keeps the cost below one percent.
 *
 * The functions of this section may be called from any thread. */

/* Records to a file until gantry_trace_stop_file or the end of the process. There is at most one
 * recording at a time. */
GANTRY_API gantry_status_t gantry_trace_start_file(const char *path);
/* Ends the recording. When the function returns, the file is complete with its index; the status
 * reports a failure to write. */
GANTRY_API gantry_status_t gantry_trace_stop_file(void);
/* Starts the flight recorder, which keeps the last seconds of the trace in memory: at least
 * `seconds` (1 to 86400; 0: 10) and at most twice as many, within max_bytes of memory (at least 4
 * MiB; 0: 64 MiB). If the process dies of SIGSEGV, SIGBUS, SIGFPE, SIGILL or SIGABRT, the kept
 * events are written to crash_path, in which "%p" becomes the process id; with NULL they are not
 * written. Then the program's own signal handler runs if it had set one, or the process ends. There
 * is at most one flight recorder at a time. */
GANTRY_API gantry_status_t gantry_trace_start_flight_recorder(const char *crash_path,
                                                              uint32_t seconds, uint64_t max_bytes);
/* Writes the present contents of the flight recorder to a file; the recorder continues. */
GANTRY_API gantry_status_t gantry_trace_write_flight_recorder(const char *path);
GANTRY_API void gantry_trace_stop_flight_recorder(void);
/* Lets viewers attach. If host is NULL, they attach through the user's socket, which is open by
 * default unless GANTRY_ATTACH=0. Otherwise they attach over TCP at the address host ("127.0.0.1")
 * and the port, and must send the token (1 to 64 bytes). A process may listen at the user's socket
 * and at any number of ports. */
GANTRY_API gantry_status_t gantry_trace_listen(const char *host, uint16_t port, const char *token);
/* Lets viewers attach over TCP like gantry_trace_listen. With port 0 the system chooses a free
 * port. *bound_port receives the port that viewers connect to. */
GANTRY_API gantry_status_t gantry_trace_listen_tcp(const char *host, uint16_t port,
                                                   const char *token, uint16_t *bound_port);
/* Stops listening everywhere and ends the stream of every viewer. */
GANTRY_API void gantry_trace_stop_listening(void);
/* Returns the number of attached viewers. */
GANTRY_API uint32_t gantry_trace_viewers(void);
/* Returns 1 while a viewer, a file or the flight recorder receives the trace, else 0. */
GANTRY_API int32_t gantry_trace_is_on(void);

/* Returns the id of a text; 0 for "" and NULL. The id of a text does not change during the process,
 * so a caller can look it up once and keep it. */
GANTRY_API uint32_t gantry_trace_name(const char *text);
/* Records an event without a duration: its name (gantry_trace_name) and a number. */
GANTRY_API void gantry_trace_mark(uint32_t name, int64_t value);
/* Records the new value of the counter with this name (gantry_trace_name). */
GANTRY_API void gantry_trace_counter(uint32_t name, int64_t value);
/* Begins and ends a span of the calling thread's work. Spans nest. A buffer that is created inside
 * a span carries the name of the innermost span in the trace. */
GANTRY_API void gantry_trace_begin_span(uint32_t name);
GANTRY_API void gantry_trace_end_span(void);
/* Sets the name of the calling thread in traces. */
GANTRY_API void gantry_trace_name_thread(const char *name);

#ifdef __cplusplus
}
#endif
#endif

// The functions of gantry.h for sessions and runs.
#include "engine/capi/call.h"
#include "engine/capi/donations.h"
#include "engine/capi/handles.h"
#include "engine/capi/tensors.h"

#include <cinttypes>
#include <cstddef>
#include <cstdlib>
#include <cstring>

using namespace gantry;

namespace {

static_assert(GANTRY_BINDING_AUTO == static_cast<int>(program::BindingChoice::kAuto));
static_assert(GANTRY_BINDING_STORAGE_BUFFER ==
              static_cast<int>(program::BindingChoice::kStorageBuffer));
static_assert(GANTRY_BINDING_ADDRESS == static_cast<int>(program::BindingChoice::kAddress));
static_assert(GANTRY_BINDING_TEXEL == static_cast<int>(program::BindingChoice::kTexel));

static_assert(GANTRY_MAX_RUNS_IN_FLIGHT == program::kMaxRunsInFlight);

/// Returns the binding mode of the environment variable GANTRY_BINDING; kAuto if it is not set.
Result<program::BindingChoice> bindingOfEnvironment() {
  const char *name = std::getenv("GANTRY_BINDING");
  if (!name || !*name)
    return program::BindingChoice::kAuto;
  auto choice = program::parseBinding(name);
  if (!choice.isOk())
    return Status(choice.status().code(), "GANTRY_BINDING: " + choice.status().message());
  return choice;
}

Result<program::SessionOptions> readOptions(const gantry_session_options_t *source,
                                            const gantry_device_t &device) {
  program::SessionOptions options;
  if (!source) {
    GANTRY_ASSIGN_OR_RETURN(options.binding, bindingOfEnvironment());
    return options;
  }
  // The struct of an older caller is shorter; the options that it lacks keep their defaults.
  constexpr size_t kFirst = offsetof(gantry_session_options_t, cache_path) + sizeof(void *);
  if (source->struct_size < kFirst || source->struct_size > 4096)
    return statusf(StatusCode::kInvalidArgument,
                   "session options: struct_size is %zu; set it to "
                   "sizeof(gantry_session_options_t), which is %zu",
                   source->struct_size, sizeof(*source));
  const int binding = capi::rawValue(source->binding);
  if (binding < GANTRY_BINDING_AUTO || binding > GANTRY_BINDING_TEXEL)
    return statusf(StatusCode::kInvalidArgument, "session options: binding %d does not exist",
                   binding);
  options.binding = static_cast<program::BindingChoice>(binding);
  if (options.binding == program::BindingChoice::kAuto) {
    GANTRY_ASSIGN_OR_RETURN(options.binding, bindingOfEnvironment());
  }
  options.timestamps = source->timestamps != 0;
  options.checkMemory = source->check_memory != 0;
  if (source->cache_path)
    options.cachePath = source->cache_path;
  constexpr size_t kLimit =
      offsetof(gantry_session_options_t, dispatch_limit_ns) + sizeof(uint64_t);
  if (source->struct_size >= kLimit && source->dispatch_limit_ns != 0)
    options.dispatchLimitNs = source->dispatch_limit_ns;
  constexpr size_t kArena = offsetof(gantry_session_options_t, arena) + sizeof(void *);
  if (source->struct_size >= kArena && source->arena) {
    const heap::BufferHandle arena = capi::handleOf(source->arena);
    if (heap::Heap::of(arena) != device.heap.get())
      return Status(StatusCode::kInvalidArgument,
                    "session options: the arena belongs to another device");
    options.arena = program::Storage::share(*device.heap, arena);
    if (!options.arena)
      return capi::prefixed("session options: arena", capi::staleBuffer(arena));
  }
  constexpr size_t kState = offsetof(gantry_session_options_t, state) + sizeof(void *);
  if (source->struct_size >= kState && source->state) {
    if (source->state->state->heap().get() != device.heap.get())
      return Status(StatusCode::kInvalidArgument,
                    "session options: the state belongs to another device");
    options.state = source->state->state;
  }
  return options;
}

/// Returns an error if the caller's type of an output differs from the port's type.
Status checkOutputType(const gantry_tensor_t &tensor, const program::Program &program,
                       size_t index) {
  const program::Port &port = program.outputs()[index];
  const int given = capi::rawValue(tensor.type), wanted = static_cast<int>(port.type);
  if (given == wanted)
    return {};
  const char *name = given >= GANTRY_TYPE_F32 && given <= GANTRY_TYPE_BOOL
                         ? gantry_type_name(static_cast<gantry_type_t>(given))
                         : nullptr;
  return name != nullptr
             ? statusf(StatusCode::kInvalidArgument,
                       "output '%s' has the element type %s, but the tensor's type is %s",
                       port.name.c_str(), gantry_type_name(static_cast<gantry_type_t>(wanted)),
                       name)
             : statusf(StatusCode::kInvalidArgument,
                       "output '%s' has the element type %s, but the tensor's type is %d, which "
                       "is not a gantry_type_t",
                       port.name.c_str(), gantry_type_name(static_cast<gantry_type_t>(wanted)),
                       given);
}

/// Checks the pointers and the lengths of the lists before any element is read.
Status checkLists(const gantry_session_t *session, const void *inputs, size_t inputCount,
                  const void *outputs, size_t outputCount) {
  if (!session)
    return Status(StatusCode::kInvalidArgument, "session must not be NULL");
  if (inputCount > 0 && !inputs)
    return statusf(StatusCode::kInvalidArgument, "%zu inputs, but inputs is NULL", inputCount);
  if (outputCount > 0 && !outputs)
    return statusf(StatusCode::kInvalidArgument, "%zu outputs, but outputs is NULL", outputCount);
  const program::Program &program = session->session->program();
  if (inputCount != program.inputs().size())
    return statusf(StatusCode::kInvalidArgument, "%zu inputs given; the program has %zu",
                   inputCount, program.inputs().size());
  if (outputCount != program.outputs().size())
    return statusf(StatusCode::kInvalidArgument, "%zu outputs given; the program has %zu",
                   outputCount, program.outputs().size());
  return {};
}

void fillOutputs(const std::vector<program::OutputShape> &shapes, gantry_tensor_t *outputs) {
  for (size_t i = 0; i < shapes.size(); ++i)
    capi::fillShape(shapes[i].shape, shapes[i].sizeBytes, &outputs[i]);
}

Result<std::shared_ptr<program::Run>> start(gantry_session_t *session,
                                            const gantry_tensor_t *inputs, size_t inputCount,
                                            const gantry_tensor_t *outputs, size_t outputCount,
                                            std::vector<program::OutputShape> &shapes) {
  GANTRY_RETURN_IF_ERROR(checkLists(session, inputs, inputCount, outputs, outputCount));
  std::vector<program::TensorArgument> in(inputCount), out(outputCount);
  const program::Program &program = session->session->program();
  heap::Heap &heap = *session->session->heap();
  for (size_t i = 0; i < inputCount; ++i) {
    if (!program.inputs()[i].state) { // The input of a state has the shape of the state's value.
      GANTRY_ASSIGN_OR_RETURN(in[i].shape, capi::readShape(inputs[i], "input", i));
    }
    GANTRY_RETURN_IF_ERROR(capi::readMemory(inputs[i], heap, "input", i, in[i]));
  }
  for (size_t i = 0; i < outputCount; ++i) {
    if (!program.outputs()[i].state)
      GANTRY_RETURN_IF_ERROR(checkOutputType(outputs[i], program, i));
    GANTRY_RETURN_IF_ERROR(capi::readMemory(outputs[i], heap, "output", i, out[i]));
  }
  return session->session->submit(in, out, shapes);
}

Result<std::vector<program::OutputShape>>
shapesFor(gantry_session_t *session, const gantry_tensor_t *inputs, size_t inputCount,
          const gantry_tensor_t *outputs, size_t outputCount) {
  GANTRY_RETURN_IF_ERROR(checkLists(session, inputs, inputCount, outputs, outputCount));
  std::vector<program::TensorShape> in(inputCount);
  const program::Program &program = session->session->program();
  for (size_t i = 0; i < inputCount; ++i) {
    if (!program.inputs()[i].state) {
      GANTRY_ASSIGN_OR_RETURN(in[i], capi::readShape(inputs[i], "input", i));
    }
  }
  return session->session->outputShapes(in);
}

} // namespace

extern "C" {

gantry_status_t gantry_session_create(gantry_program_t *program, gantry_device_t *device,
                                      const gantry_session_options_t *options,
                                      gantry_session_t **session) {
  if (!program || !device || !session)
    return capi::nullArgument("gantry_session_create", !program  ? "program"
                                                       : !device ? "device"
                                                                 : "session");
  const capi::Call call("gantry_session_create");
  if (!call.isAdmitted())
    return call.refused();
  auto read = readOptions(options, *device);
  if (!read.isOk())
    return capi::report(read.status());
  auto created = program::Session::create(program->program, device->heap, *read);
  if (!created.isOk())
    return capi::report(created.status());
  auto made = std::make_unique<gantry_session>();
  made->session = created.take();
  return call.publish(std::move(made), session);
}

gantry_status_t gantry_session_program(const gantry_session_t *session,
                                       gantry_program_t **program) {
  if (!session || !program)
    return capi::nullArgument("gantry_session_program", session ? "program" : "session");
  const capi::Call call("gantry_session_program");
  if (!call.isAdmitted())
    return call.refused();
  auto made = std::make_unique<gantry_program>();
  made->program = session->session->sharedProgram();
  return call.publish(std::move(made), program);
}

void gantry_session_release(gantry_session_t *session) { delete session; }

gantry_status_t gantry_session_output_shapes(gantry_session_t *session,
                                             const gantry_tensor_t *inputs, size_t input_count,
                                             gantry_tensor_t *outputs, size_t output_count) {
  const capi::Call call("gantry_session_output_shapes");
  if (!call.isAdmitted())
    return call.refused();
  auto shapes = shapesFor(session, inputs, input_count, outputs, output_count);
  if (!shapes.isOk())
    return capi::report(shapes.status());
  if (const Status memory = call.checkMemory(); !memory.isOk())
    return capi::report(memory);
  fillOutputs(*shapes, outputs);
  return GANTRY_STATUS_OK;
}

gantry_status_t gantry_session_run(gantry_session_t *session, const gantry_tensor_t *inputs,
                                   size_t input_count, gantry_tensor_t *outputs,
                                   size_t output_count) {
  const capi::Call call("gantry_session_run");
  if (!call.isAdmitted())
    return call.refused();
  std::vector<program::OutputShape> shapes;
  auto run = start(session, inputs, input_count, outputs, output_count, shapes);
  if (!run.isOk())
    return capi::report(run.status());
  auto done = (*run)->wait(UINT64_MAX);
  if (!done.isOk())
    return capi::report(done.status());
  fillOutputs(shapes, outputs);
  return GANTRY_STATUS_OK;
}

gantry_status_t gantry_session_submit(gantry_session_t *session, const gantry_tensor_t *inputs,
                                      size_t input_count, gantry_tensor_t *outputs,
                                      size_t output_count, gantry_run_t **run) {
  if (!run)
    return capi::nullArgument("gantry_session_submit", "run");
  const capi::Call call("gantry_session_submit");
  if (!call.isAdmitted())
    return call.refused();
  auto made = std::make_unique<gantry_run>();
  std::vector<program::OutputShape> shapes;
  auto started = start(session, inputs, input_count, outputs, output_count, shapes);
  if (!started.isOk())
    return capi::report(started.status());
  fillOutputs(shapes, outputs);
  made->run = started.take();
  *run = made.release(); // The run has started, so a later lack of memory must not hide it.
  return GANTRY_STATUS_OK;
}

gantry_status_t gantry_run_wait(gantry_run_t *run, uint64_t timeout_ns, int32_t *done) {
  if (!run)
    return capi::nullArgument("gantry_run_wait", "run");
  auto result = run->run->wait(timeout_ns);
  if (done && result.isOk())
    *done = *result;
  return capi::report(result.status());
}

gantry_status_t gantry_run_donate(gantry_run_t *run, gantry_buffer_t *buffer) {
  if (!run || !buffer)
    return capi::nullArgument("gantry_run_donate", run ? "buffer" : "run");
  const heap::BufferHandle handle = capi::handleOf(buffer);
  heap::Heap *heap = heap::Heap::of(handle);
  program::Storage storage =
      heap != nullptr ? program::Storage::share(*heap, handle) : program::Storage();
  const char *name = "";
  uint32_t references = 0;
  if (!storage || heap->describe(handle, &name, &references) != heap::HeapCode::kOk)
    return capi::report(capi::staleBuffer(handle));
  // This function owns two references to the buffer: the one of the handle, and `storage`.
  if (const Status donated = run->run->donate(storage, 2); !donated.isOk())
    return capi::report(donated);
  capi::noteDonation(handle, name, run->run->name());
  gantry_buffer_release(buffer);
  return GANTRY_STATUS_OK;
}

void gantry_run_release(gantry_run_t *run) {
  if (!run)
    return;
  // gantry_run_wait() reports failures; this function only waits for the end of the run.
  (void)run->run->wait(UINT64_MAX).isOk();
  delete run;
}

void gantry_session_statistics(const gantry_session_t *session, gantry_statistics_t *statistics) {
  if (!statistics) {
    capi::nullArgument("gantry_session_statistics", "statistics");
    return;
  }
  *statistics = {};
  if (!session) {
    capi::nullArgument("gantry_session_statistics", "session");
    return;
  }
  const program::Statistics source = session->session->statistics();
  statistics->constant_bytes = source.constantBytes;
  statistics->arena_bytes = source.arenaBytes;
  statistics->lower_bound_bytes = source.lowerBoundBytes;
  statistics->io_bytes = source.ioBytes;
  statistics->reserved_bytes = source.reservedBytes;
  statistics->runs = source.runs;
  statistics->plans = source.plans;
  statistics->recordings = source.recordings;
  statistics->pipelines = source.pipelines;
  statistics->load_ns = source.loadNs;
  statistics->last_run_ns = source.lastRunNs;
  statistics->last_run_gpu_ns = source.lastRunGpuNs;
}

gantry_status_t gantry_session_dispatch(const gantry_session_t *session, size_t index,
                                        gantry_dispatch_info_t *info) {
  if (!session || !info)
    return capi::nullArgument("gantry_session_dispatch", session ? "info" : "session");
  auto source = session->session->dispatch(index);
  if (!source.isOk())
    return capi::report(source.status());
  *info = {};
  info->name = source->name;
  info->gpu_ns = source->gpuNs;
  info->flops = source->flops;
  info->bytes = source->bytes;
  for (int i = 0; i < 3; ++i) {
    info->workgroups[i] = source->workgroups[i];
    info->workgroup_size[i] = source->workgroupSize[i];
  }
  info->shared_bytes = source->sharedBytes;
  info->parts = source->parts;
  info->binding = static_cast<gantry_binding_t>(source->binding);
  info->kernel_key = source->kernelKey;
  info->exact_tile = source->exactTile;
  return GANTRY_STATUS_OK;
}

} // extern "C"

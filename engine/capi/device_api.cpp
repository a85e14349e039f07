// The functions of gantry.h for devices and buffers.
#include "engine/capi/handles.h"
#include "backends/vulkan/vulkan.h"
#include "engine/capi/call.h"
#include "engine/capi/donations.h"
#include "engine/capi/trace_api.h"
#include "engine/base/device_profile.h"
#include "engine/heap/extras/report.h"

#include <algorithm>
#include <cstring>

using namespace gantry;

namespace {

template <size_t kSize> void copyText(char (&target)[kSize], const std::string &text) {
  const size_t length = std::min(text.size(), kSize - 1);
  std::memcpy(target, text.data(), length);
  target[length] = '\0';
}

void fillInfo(const device::DeviceInfo &source, gantry_device_info_t *info) {
  *info = {};
  info->index = source.index;
  copyText(info->name, source.name);
  copyText(info->driver, source.driver);
  copyText(info->backend, source.backend);
  copyText(info->api_version, source.apiVersion);
  copyText(info->profile, profileNameFor(source.profile));
  copyText(info->missing, source.missing);
  info->kind = static_cast<gantry_device_kind_t>(source.kind);
  info->memory_bytes = source.memoryBytes;
  info->max_allocation_bytes = source.profile.maxAllocationBytes;
  info->max_storage_buffer_bytes = source.profile.maxStorageBufferRange;
  info->max_shared_memory_bytes = source.profile.maxSharedMemoryBytes;
  info->max_workgroup_invocations = source.profile.maxWorkgroupInvocations;
  info->max_push_constant_bytes = source.profile.maxPushConstantBytes;
  info->subgroup_size = source.profile.subgroupSize;
  info->buffer_device_address = source.profile.features.bufferDeviceAddress;
  info->unified_memory = source.unifiedMemory;
}

static_assert(GANTRY_DEVICE_DISCRETE == static_cast<int>(device::DeviceKind::kDiscrete));
static_assert(GANTRY_DEVICE_INTEGRATED == static_cast<int>(device::DeviceKind::kIntegrated));
static_assert(GANTRY_DEVICE_VIRTUAL == static_cast<int>(device::DeviceKind::kVirtual));
static_assert(GANTRY_DEVICE_SOFTWARE == static_cast<int>(device::DeviceKind::kSoftware));

static_assert(GANTRY_MEMORY_DEVICE == static_cast<int>(device::MemoryKind::kDevice));
static_assert(GANTRY_MEMORY_UPLOAD == static_cast<int>(device::MemoryKind::kUpload));
static_assert(GANTRY_MEMORY_READBACK == static_cast<int>(device::MemoryKind::kReadback));
static_assert(GANTRY_MEMORY_UNIFIED == static_cast<int>(device::MemoryKind::kUnified));
static_assert(GANTRY_MEMORY_KIND_COUNT == device::kMemoryKindCount);
static_assert(sizeof(gantry_memory_heap_t) == sizeof(size_t) + 40, "the size of its first version");

gantry_memory_heap_t describeHeap(const device::DeviceInfo &info, uint32_t index,
                                  const device::MemoryBudget &budget) {
  gantry_memory_heap_t heap = {};
  heap.size_bytes = info.memoryHeaps[index].sizeBytes;
  heap.device_local = info.memoryHeaps[index].deviceLocal;
  heap.budget_bytes = budget.budgetBytes;
  heap.used_bytes = budget.usedBytes;
  heap.budget_known = info.memoryBudgets;
  for (uint32_t kind = 0; kind < device::kMemoryKindCount; ++kind) {
    const std::span<const uint8_t> types = info.memoryKinds.kinds[kind].span();
    for (uint8_t type : types)
      if (info.memoryTypes[type].heap == index)
        (type == types[0] ? heap.first_kinds : heap.other_kinds) |= 1u << kind;
  }
  heap.other_kinds &= ~heap.first_kinds;
  return heap;
}

Status checkKind(const gantry_memory_kind_t &kind) {
  const int raw = capi::rawValue(kind);
  return raw >= GANTRY_MEMORY_DEVICE && raw <= GANTRY_MEMORY_UNIFIED
             ? Status::ok()
             : statusf(StatusCode::kInvalidArgument, "memory kind %d does not exist", raw);
}

/// Returns why the heap refused a buffer with `code`.
Status whyNoBuffer(heap::Heap &heap, heap::HeapCode code, const gantry_memory_kind_t &kind,
                   const heap::BufferRequest &request, const char *name) {
  GANTRY_RETURN_IF_ERROR(checkKind(kind));
  if (request.sizeBytes == 0 || request.sizeBytes > UINT64_MAX - 256)
    return statusf(StatusCode::kInvalidArgument,
                   "a buffer of %llu bytes; the size must be from 1 to %llu",
                   static_cast<unsigned long long>(request.sizeBytes),
                   static_cast<unsigned long long>(UINT64_MAX - 256));
  const Status why = heap::explain(heap, code, request);
  return Status(why.code(), "no memory for '" + std::string(name) + "': " + why.message());
}

/// Stores in *place where a buffer lies, and returns true. If the handle is NULL or stale (its
/// buffer was released or donated), returns false and reports why. The message names the function.
bool placeOf(const char *function, const gantry_buffer_t *buffer, heap::Placement *place) {
  const heap::BufferHandle handle = capi::handleOf(buffer);
  const heap::Heap *heap = heap::Heap::of(handle);
  if (heap != nullptr && heap->resolve(handle, place) == heap::HeapCode::kOk)
    return true;
  if (!buffer)
    capi::nullArgument(function, "buffer");
  else if (heap != nullptr)
    capi::report(capi::staleBuffer(handle));
  return false;
}

} // namespace

extern "C" {

gantry_status_t gantry_devices(gantry_device_info_t *infos, size_t *count) {
  if (!count)
    return capi::nullArgument("gantry_devices", "count");
  const capi::Call call("gantry_devices");
  if (!call.isAdmitted())
    return call.refused();
  auto devices = vulkan::listDevices();
  if (!devices.isOk())
    return capi::report(devices.status());
  if (const Status memory = call.checkMemory(); !memory.isOk())
    return capi::report(memory);
  if (infos)
    for (size_t i = 0; i < std::min(*count, devices->size()); ++i)
      fillInfo((*devices)[i], &infos[i]);
  *count = devices->size();
  return GANTRY_STATUS_OK;
}

gantry_status_t gantry_device_create(const char *selector, gantry_device_t **device) {
  if (!device)
    return capi::nullArgument("gantry_device_create", "device");
  const capi::Call call("gantry_device_create");
  if (!call.isAdmitted())
    return call.refused();
  capi::startTracesFromEnvironment();
  auto opened = vulkan::openDevice(selector ? selector : "");
  if (!opened.isOk())
    return capi::report(opened.status());
  std::shared_ptr<device::Device> native = opened.take();
  auto heap = heap::Heap::create(native, {});
  if (!heap.isOk())
    return capi::report(heap.status());
  auto made = std::make_unique<gantry_device>();
  *made = {std::move(native), heap::shareHeap(heap.take())};
  return call.publish(std::move(made), device);
}

void gantry_device_release(gantry_device_t *device) { delete device; }

void gantry_device_get_info(const gantry_device_t *device, gantry_device_info_t *info) {
  if (!info) {
    capi::nullArgument("gantry_device_get_info", "info");
  } else if (!device) {
    *info = {};
    capi::nullArgument("gantry_device_get_info", "device");
  } else {
    fillInfo(device->device->info(), info);
  }
}

uint64_t gantry_device_validation_messages(const gantry_device_t *device) {
  return device ? device->device->validationMessages() : 0;
}

const char *gantry_memory_kind_name(gantry_memory_kind_t kind) {
  return device::memoryKindName(static_cast<device::MemoryKind>(capi::rawValue(kind)));
}

uint32_t gantry_device_memory_heap_count(const gantry_device_t *device) {
  return device ? static_cast<uint32_t>(device->device->info().memoryHeaps.size()) : 0;
}

gantry_status_t gantry_device_memory_heap(gantry_device_t *device, uint32_t index,
                                          gantry_memory_heap_t *heap) {
  if (!device || !heap)
    return capi::nullArgument("gantry_device_memory_heap", device ? "heap" : "device");
  if (heap->struct_size < sizeof(*heap) || heap->struct_size > 4096)
    return capi::report(statusf(StatusCode::kInvalidArgument,
                                "memory heap: struct_size is %zu; set it to "
                                "sizeof(gantry_memory_heap_t), which is %zu",
                                heap->struct_size, sizeof(*heap)));
  const device::DeviceInfo &info = device->device->info();
  if (index >= info.memoryHeaps.size())
    return capi::report(statusf(StatusCode::kNotFound, "there is no memory heap %u; '%s' has %zu",
                                index, info.name.c_str(), info.memoryHeaps.size()));
  device::MemoryBudget budgets[device::kMaxMemoryHeaps];
  const Status status =
      device->device->memoryBudgets(std::span(budgets).first(info.memoryHeaps.size()));
  if (!status.isOk())
    return capi::report(status);
  // The struct of a newer caller is longer; the fields that this version does not know become zero.
  const size_t size = heap->struct_size;
  std::memset(static_cast<void *>(heap), 0, size);
  *heap = describeHeap(info, index, budgets[index]);
  heap->struct_size = size;
  return GANTRY_STATUS_OK;
}

gantry_status_t gantry_device_memory_statistics(gantry_device_t *device, gantry_memory_kind_t kind,
                                                gantry_memory_statistics_t *statistics) {
  if (!device || !statistics)
    return capi::nullArgument("gantry_device_memory_statistics", device ? "statistics" : "device");
  if (statistics->struct_size < sizeof(*statistics) || statistics->struct_size > 4096)
    return capi::report(statusf(StatusCode::kInvalidArgument,
                                "memory statistics: struct_size is %zu; set it to "
                                "sizeof(gantry_memory_statistics_t), which is %zu",
                                statistics->struct_size, sizeof(*statistics)));
  if (const Status valid = checkKind(kind); !valid.isOk())
    return capi::report(valid);
  heap::HeapStatistics all;
  device->heap->statistics(&all);
  const heap::KindStatistics &source = all.kinds[capi::rawValue(kind)];
  const size_t size = statistics->struct_size;
  std::memset(static_cast<void *>(statistics), 0, size);
  statistics->struct_size = size;
  statistics->live_bytes = source.liveBytes;
  statistics->live_buffers = source.liveBuffers;
  statistics->peak_live_bytes = source.peakLiveBytes;
  statistics->reserved_bytes = source.reservedBytes;
  statistics->peak_reserved_bytes = source.peakReservedBytes;
  statistics->largest_free_bytes = source.largestFreeBytes;
  statistics->driver_allocations = all.driverAllocations;
  statistics->slabs = source.slabs;
  statistics->empty_slabs = source.emptySlabs;
  statistics->fragmentation = source.fragmentation;
  return GANTRY_STATUS_OK;
}

uint64_t gantry_device_trim(gantry_device_t *device, uint64_t keep_bytes) {
  return device ? device->heap->trim(keep_bytes) : 0;
}

gantry_status_t gantry_device_set_memory_limit(gantry_device_t *device, uint32_t heap,
                                               uint64_t bytes) {
  if (!device)
    return capi::nullArgument("gantry_device_set_memory_limit", "device");
  const size_t count = device->device->info().memoryHeaps.size();
  if (heap >= count)
    return capi::report(statusf(StatusCode::kNotFound, "there is no memory heap %u; '%s' has %zu",
                                heap, device->device->info().name.c_str(), count));
  (void)device->heap->setLimit(heap, bytes); // Fails only for an index that does not exist.
  return GANTRY_STATUS_OK;
}

size_t gantry_device_memory_report(gantry_device_t *device, char *text, size_t size) {
  if (!device) {
    if (text && size > 0)
      text[0] = '\0';
    return 0;
  }
  return heap::writeReport(*device->heap, {text, text ? size : 0});
}

gantry_status_t gantry_buffer_create_kind(gantry_device_t *device, gantry_memory_kind_t kind,
                                          uint64_t size_bytes, const char *name,
                                          gantry_buffer_t **buffer) {
  if (!device || !buffer)
    return capi::nullArgument("gantry_buffer_create_kind", device ? "buffer" : "device");
  const capi::Call call("gantry_buffer_create_kind");
  if (!call.isAdmitted())
    return call.refused();
  if (name == nullptr)
    name = "buffers";
  heap::Heap &heap = *device->heap;
  heap::BufferRequest request;
  request.sizeBytes = size_bytes;
  request.kind = static_cast<heap::MemoryKind>(capi::rawValue(kind));
  request.name = heap.intern(name);
  heap::BufferHandle handle;
  if (const heap::HeapCode code = heap.allocate(request, &handle); code != heap::HeapCode::kOk)
    return capi::report(whyNoBuffer(heap, code, kind, request, name));
  if (call.lacksMemory()) {
    (void)heap.release(handle);
    return capi::report(call.checkMemory());
  }
  *buffer = capi::bufferOf(handle);
  return GANTRY_STATUS_OK;
}

gantry_status_t gantry_buffer_create(gantry_device_t *device, uint64_t size_bytes,
                                     gantry_buffer_t **buffer) {
  if (!device || !buffer)
    return capi::nullArgument("gantry_buffer_create", device ? "buffer" : "device");
  return gantry_buffer_create_kind(device, GANTRY_MEMORY_UNIFIED, size_bytes, nullptr, buffer);
}

void gantry_buffer_release(gantry_buffer_t *buffer) {
  const heap::BufferHandle handle = capi::handleOf(buffer);
  if (heap::Heap *heap = heap::Heap::of(handle))
    (void)heap->release(handle); // Releasing a stale handle has no effect.
}

void *gantry_buffer_data(gantry_buffer_t *buffer) {
  heap::Placement place;
  return placeOf("gantry_buffer_data", buffer, &place) ? place.mapped : nullptr;
}

uint64_t gantry_buffer_size(const gantry_buffer_t *buffer) {
  heap::Placement place;
  return placeOf("gantry_buffer_size", buffer, &place) ? place.sizeBytes : 0;
}

} // extern "C"

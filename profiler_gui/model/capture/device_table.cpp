// Implements DeviceTable.
#include "profiler_gui/model/capture/device_table.h"

#include <algorithm>
#include <utility>

namespace gantry::profiler {

using trace::EventType;

void DeviceTable::ingest(const trace::Event &event, uint64_t nowNs) {
  switch (event.type()) {
  case EventType::kDevice:
    addDevice(event.device);
    break;
  case EventType::kDeviceHeap:
    addHeap(event.deviceHeap);
    break;
  case EventType::kClock:
    setClock(event.clock);
    break;
  case EventType::kBudget:
    addBudget(event.budget, nowNs);
    break;
  default:
    break;
  }
}

void DeviceTable::addDevice(const trace::DeviceEvent &event) {
  if (find(event.device) != nullptr)
    return;
  Device device;
  device.id = event.device;
  device.name = event.name;
  device.driver = event.driver;
  device.backend = event.backend;
  device.sharedBytesLimit = event.sharedBytesLimit;
  device.maxInvocations = event.maxInvocations;
  devices_.push_back(device);
}

void DeviceTable::addHeap(const trace::DeviceHeapEvent &event) {
  const bool known = std::any_of(heaps_.begin(), heaps_.end(), [&](const DeviceHeap &heap) {
    return heap.device == event.device && heap.index == event.index;
  });
  if (known)
    return;
  DeviceHeap heap;
  heap.device = event.device;
  heap.index = event.index;
  heap.sizeBytes = event.sizeBytes;
  heap.deviceLocal = event.deviceLocal != 0;
  heaps_.push_back(std::move(heap));
}

void DeviceTable::setClock(const trace::ClockEvent &event) {
  for (Device &device : devices_) {
    if (device.id != event.device)
      continue;
    device.hostMinusDeviceNs = event.hostNs - event.deviceNs;
    device.clockErrorNs = event.errorNs;
    device.hasClock = true;
  }
}

void DeviceTable::addBudget(const trace::BudgetEvent &event, uint64_t nowNs) {
  for (DeviceHeap &heap : heaps_) {
    if (heap.device != event.device || heap.index != event.deviceHeap)
      continue;
    heap.budget.append(nowNs, event.budgetBytes);
    if (event.limitBytes != UINT64_MAX)
      heap.limit.append(nowNs, event.limitBytes);
  }
}

const Device *DeviceTable::find(uint32_t id) const {
  const auto found = std::find_if(devices_.begin(), devices_.end(),
                                  [&](const Device &device) { return device.id == id; });
  return found == devices_.end() ? nullptr : &*found;
}

} // namespace gantry::profiler

// The devices of a capture, their memory heaps, budgets and clocks.
//
// Built from the trace's device, device-heap, clock and budget events. The recorded process repeats
// the events of devices and device heaps for a viewer that attaches late; repetitions are ignored.
//
// Names are ids in the capture's name table. Sizes are bytes, times nanoseconds from the capture's
// start. Threads: one writer, or several readers.
#pragma once

#include "engine/trace/events.h"
#include "profiler_gui/model/capture/step_curve.h"

#include <cstdint>
#include <vector>

namespace gantry::profiler {

struct Device {
  uint32_t id = 0;
  uint32_t name = 0;
  uint32_t driver = 0;
  uint32_t backend = 0;
  uint32_t sharedBytesLimit = 0; // Max shared memory of one workgroup.
  uint32_t maxInvocations = 0;   // Max invocations of one workgroup.
  /// Host time minus device time, modulo 2^64, at the last clock record (trace::ClockEvent, a pair
  /// of a host time and a device time). Valid if hasClock.
  uint64_t hostMinusDeviceNs = 0;
  uint64_t clockErrorNs = 0; // Max error of hostMinusDeviceNs.
  bool hasClock = false;
};

/// One memory heap of a device, as the driver reports it.
struct DeviceHeap {
  uint32_t device = 0; // The device's id.
  uint32_t index = 0;  // The heap's index on the device.
  uint64_t sizeBytes = 0;
  bool deviceLocal = false;
  StepCurve budget; // Bytes that the driver allows the process.
  StepCurve limit;  // Bytes that the application allows; empty if it sets no limit.
};

class DeviceTable {
public:
  /// Takes kDevice, kDeviceHeap, kClock and kBudget events; ignores others. nowNs is the time of
  /// the capture's latest event.
  void ingest(const trace::Event &event, uint64_t nowNs);

  const std::vector<Device> &devices() const { return devices_; }
  const std::vector<DeviceHeap> &heaps() const { return heaps_; }
  /// The device with this id, or nullptr.
  const Device *find(uint32_t id) const;

private:
  void addDevice(const trace::DeviceEvent &event);
  void addHeap(const trace::DeviceHeapEvent &event);
  void setClock(const trace::ClockEvent &event);
  void addBudget(const trace::BudgetEvent &event, uint64_t nowNs);

  std::vector<Device> devices_;
  std::vector<DeviceHeap> heaps_;
};

} // namespace gantry::profiler

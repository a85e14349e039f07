// Sources: objects that can describe what exists already: devices, heaps, sessions, and memory that
// was imported from another owner (import_trace.h). When a viewer (a program that shows the trace)
// attaches late, it first receives a description of the current state from each source, and then
// events.
//
// The collector's thread calls a source's describe() while events are already being recorded. A
// description may repeat a definition that is also in a recorded event: readers must treat
// definitions with the same id as one.
//
// Thread safety: sources may be added and removed on any thread. removeSource() waits for a running
// describe(), so its caller must not hold a lock that describe() takes.
#pragma once

#include "engine/trace/record/record.h"

namespace gantry::trace {

class Collector;

/// Receives the events of a description and passes them to the sinks (collector.h) that need the
/// description.
class Describer {
public:
  explicit Describer(Collector &collector) : collector_(collector) {}
  /// Makes all events that were recorded up to these ticks precede the events that are added next.
  void cut(uint64_t ticks);
  /// Adds an event of the description. The event's time is the time of the last cut().
  template <typename T> void add(const T &event) {
    Event copy(event);
    add(copy);
  }

private:
  void add(Event &event);
  Collector &collector_;
  uint64_t ticks_ = 0;
};

/// The callbacks of a source. Its owner keeps it at one address until removeSource() has returned.
struct Source {
  /// Sources are described in increasing order: devices 0, heaps and imports 1, sessions 2.
  uint32_t order = 0;
  void *user = nullptr;
  /// Describes the current state. Must not be null.
  void (*describe)(void *user, Describer &describer) = nullptr;
  /// Called with true when recording is switched on, before describe(), or by addSource() if
  /// recording is on already. Called with false when recording is switched off. May be null. When
  /// describe() is called, every thread finds isOn() true at its next event.
  void (*listen)(void *user, bool wanted) = nullptr;
  Source *next = nullptr; // Link of the registry's list.
};

/// Adds a source to the registry, or removes it. The source must not move in between.
void addSource(Source &source);
void removeSource(Source &source);

namespace detail {
/// Calls describe() of every source.
void describeSources(Describer &describer);
/// Switches recording on or off and calls listen() of every source.
void setOn(bool wanted);
} // namespace detail

} // namespace gantry::trace

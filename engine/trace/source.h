// Who can tell what is there already: heaps, sessions, devices. A viewer that attaches late hears
// from each of them first, and then what changes.
//
// A source's describe() is called on the collector's thread, with events flowing already. It may
// tell a thing that its own event tells too: readers take a definition that they know (same id) as
// the same one.
//
// Threads: sources come and go on any thread. removeSource() waits for a describe() that is
// running, so the source's owner must not hold a lock that its describe() takes.
#pragma once

#include "engine/trace/record.h"

namespace gantry::trace {

class Collector;

/// Takes the events of a description.
class Describer {
public:
  explicit Describer(Collector &collector) : collector_(collector) {}
  /// Everything that was recorded up to these ticks goes out before what is described from now on.
  void cut(uint64_t ticks);
  /// The time is set here: that of the last cut.
  template <typename T> void add(const T &event) {
    Event copy(event);
    add(copy);
  }

private:
  void add(Event &event);
  Collector &collector_;
  uint64_t ticks_ = 0;
};

struct Source {
  /// Order among the sources: devices (0) before heaps (1) before sessions (2).
  uint32_t order = 0;
  void *user = nullptr;
  void (*describe)(void *user, Describer &describer) = nullptr;
  /// May be null. Events are about to be wanted (true), or not any more. Called before describe(),
  /// and by addSource() where somebody listens already. After `true` every thread sees it at its
  /// next event.
  void (*listen)(void *user, bool wanted) = nullptr;
  Source *next = nullptr; // the registry's
};

/// The source stays where it is until it is removed.
void addSource(Source &source);
void removeSource(Source &source);

namespace detail {
void describeSources(Describer &describer);
/// Switches recording, and tells every source.
void setOn(bool wanted);
} // namespace detail

} // namespace gantry::trace

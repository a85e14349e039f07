// Declares readAll(), which reads the whole contents of a capture file. Tests check the recorded
// events with it.
#pragma once

#include "engine/trace/wire/capture.h"

#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <vector>

namespace gantry::test {

/// The contents of a capture.
struct Contents {
  std::vector<trace::Event> events;
  trace::NameTable names;
  trace::Tail tail = trace::Tail::kComplete;

  /// Returns the events of a type that carry this name (marks, counters, spans), in their order.
  std::vector<trace::Event> named(trace::EventType type, std::string_view name) const {
    std::vector<trace::Event> found;
    for (const trace::Event &event : events)
      if (event.type() == type && names[event.host.name] == name)
        found.push_back(event);
    return found;
  }
};

/// Reads a capture. Any error fails the test; the events read until then are returned.
inline Contents readAll(const std::string &path) {
  Contents all;
  const auto reader = trace::CaptureReader::openFile(path);
  EXPECT_TRUE(reader.isOk()) << reader.status().message();
  if (!reader.isOk())
    return all;
  for (bool end = false; !end;) {
    const auto batch = (*reader)->read();
    EXPECT_TRUE(batch.isOk()) << batch.status().message();
    if (!batch.isOk())
      return all;
    all.events.insert(all.events.end(), batch->events.begin(), batch->events.end());
    end = batch->end;
  }
  all.names = (*reader)->names();
  all.tail = (*reader)->tail();
  return all;
}

} // namespace gantry::test

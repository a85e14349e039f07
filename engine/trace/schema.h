// The fields of each event type, as data: what codec.h walks to code an event by column.
//
// A field is coded as its difference from a prediction: the same field of the last event of the
// type, unless it names another field of that event or of the one at hand. Reserved bytes are not
// coded. The fields' order is part of the format: new ones go to the end, with a new kVersion.
//
// Threads: constant data.
#pragma once

#include "engine/trace/events.h"

#include <span>

namespace gantry::trace {

struct Field {
  uint8_t offset = 0;
  uint8_t bytes = 0;           // 1, 2, 4 or 8
  uint8_t predictor = 0;       // offset of the field it is predicted from
  bool predictsOnSelf = false; // that field of the event at hand, which has been coded before
};

inline constexpr size_t kMaxFields = 16;

struct EventLayout {
  const char *name = nullptr; // nullptr: no type has this number
  uint8_t bytes = 0;
  std::span<const Field> fields;
};

/// For any number up to 255.
const EventLayout &layoutOf(EventType type);

/// Whether events of the type are BlockEvents.
inline bool isBlockEvent(EventType type) {
  return (type >= EventType::kAllocate && type <= EventType::kRestore &&
          type != EventType::kRelease) ||
         type == EventType::kLiveBlock;
}

} // namespace gantry::trace

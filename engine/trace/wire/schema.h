// Tables of the fields of each event type. The codec (codec.h) encodes and decodes events column by
// column with these tables.
//
// A field is encoded as its difference from a predictor. The predictor is usually the same field of
// the previous event of that type. The table may name another field of the previous event instead,
// or an earlier field of the same event. Reserved bytes are not encoded. The order of the fields is
// part of the file format: append new fields at the end and increase kVersion (frame.h).
//
// Thread safety: constant data.
#pragma once

#include "engine/trace/events.h"

#include <span>

namespace gantry::trace {

struct Field {
  uint8_t offset = 0;          // In the event's struct, in bytes.
  uint8_t bytes = 0;           // Size: 1, 2, 4 or 8 bytes.
  uint8_t predictor = 0;       // Offset of the predictor field, in bytes.
  bool predictsOnSelf = false; // Whether the predictor is an earlier field of the same event.
};

/// Upper limit for the number of fields of one event type.
inline constexpr size_t kMaxFields = 16;

struct EventLayout {
  const char *name = nullptr; // "allocate", for example; nullptr if no type has the number.
  uint8_t bytes = 0;          // Size of the event's struct.
  std::span<const Field> fields;
};

/// Returns the layout of a type. `type` may be any number from 0 to 255, assigned or not.
const EventLayout &layoutOf(EventType type);

/// Returns whether events of the type have the struct BlockEvent.
inline bool isBlockEvent(EventType type) {
  return (type >= EventType::kAllocate && type <= EventType::kRestore &&
          type != EventType::kRelease) ||
         type == EventType::kLiveBlock;
}

} // namespace gantry::trace

// Implements the generators of random_events.h.
#include "tests/engine/trace/random_events.h"

#include "engine/trace/wire/schema.h"

#include <cstring>

namespace gantry::test {

using namespace trace;

namespace {

uint64_t randomValue(std::mt19937_64 &random) {
  const uint64_t value = random();
  return random() % 4 == 0 ? value : value % 1000;
}

} // namespace

Event randomEvent(EventType type, std::mt19937_64 &random) {
  Event event;
  if (isBlockEvent(type)) {
    BlockEvent block = makeEvent<BlockEvent>(type);
    block.header.heap = static_cast<uint16_t>(random() % 3);
    block.sequence = randomValue(random);
    block.block = random() % 2 == 0 ? random() : random() % 64;
    block.offsetBytes = random() % 2 == 0 ? randomValue(random) : randomValue(random) << 8;
    block.sizeBytes = randomValue(random);
    block.slab = static_cast<uint32_t>(randomValue(random));
    block.name = static_cast<uint32_t>(random() % 5);
    block.span = static_cast<uint32_t>(random() % 3);
    block.kind = static_cast<uint8_t>(random() % 4);
    event = Event(block);
  } else if (type == EventType::kRelease) {
    ReleaseEvent release = makeEvent<ReleaseEvent>(type);
    release.header.heap = static_cast<uint16_t>(random() % 3);
    release.sequence = randomValue(random);
    release.block = random() % 2 == 0 ? random() : random() % 64;
    event = Event(release);
  } else {
    const EventLayout &layout = layoutOf(type);
    for (const Field &field : layout.fields) {
      const uint64_t value = randomValue(random);
      std::memcpy(reinterpret_cast<uint8_t *>(&event) + field.offset, &value, field.bytes);
    }
    event.header.type = type;
    event.header.words = static_cast<uint8_t>(layout.bytes / 8);
  }
  event.header.timeNs = randomValue(random);
  event.header.thread = static_cast<uint32_t>(random() % 3);
  return event;
}

std::vector<EventType> allEventTypes() {
  std::vector<EventType> types;
  for (uint32_t i = 0; i < kEventTypes; ++i)
    if (eventBytes(static_cast<EventType>(i)) != 0)
      types.push_back(static_cast<EventType>(i));
  return types;
}

std::vector<Event> heapLife(size_t count, std::mt19937_64 &random) {
  struct Place {
    uint32_t slot;
    uint32_t generation;
    uint64_t offset;
    uint64_t size;
  };
  std::vector<Event> events;
  std::vector<Place> live;
  std::vector<Place> free;
  uint64_t offset = 0;
  uint64_t time = 1000;
  while (events.size() < count) {
    time += 20 + random() % 200;
    if (live.empty() || (live.size() < 5000 && random() % 2 == 0)) {
      Place place{static_cast<uint32_t>(live.size() + free.size()), 0, offset, 0};
      if (!free.empty()) {
        place = free.back();
        free.pop_back();
        place.generation += 1;
      } else {
        place.size = 256 << (random() % 12);
        offset += place.size;
      }
      BlockEvent block = makeEvent<BlockEvent>(EventType::kAllocate);
      block.header.timeNs = time;
      block.header.thread = 1;
      block.header.heap = 1;
      block.sequence = events.size() + 1;
      block.block = (uint64_t{place.generation} << 32) | 0x07000000 | place.slot;
      block.offsetBytes = place.offset;
      block.sizeBytes = place.size - random() % 4 * 16;
      block.slab = 2;
      block.name = 1 + place.slot % 7;
      events.emplace_back(block);
      live.push_back(place);
    } else {
      const size_t which = live.size() - 1 - random() % std::min<size_t>(live.size(), 50);
      const Place place = live[which];
      ReleaseEvent release = makeEvent<ReleaseEvent>(EventType::kRelease);
      release.header.timeNs = time;
      release.header.thread = 1;
      release.header.heap = 1;
      release.sequence = events.size() + 1;
      release.block = (uint64_t{place.generation} << 32) | 0x07000000 | place.slot;
      events.emplace_back(release);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(which));
      free.push_back(place);
    }
  }
  return events;
}

bool sameBytes(const Event &a, const Event &b) { return std::memcmp(&a, &b, sizeof(a)) == 0; }

} // namespace gantry::test

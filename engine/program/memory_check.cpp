// Records commands that write poison and canaries, and checks the copies of guards; memory_check.h
// explains the terms.
#include "engine/program/memory_check.h"

#include <cinttypes>
#include <cstring>

namespace gantry::program {

// Fills work on words of 4 bytes. A word that holds both the last bytes of the value and the first
// bytes of the guard is filled with canaries, not with poison.

Status recordPoison(Recorder &recorder, const device::BufferRange &range) {
  const uint64_t words = range.sizeBytes / 4 * 4;
  const uint64_t guardEnd = (range.sizeBytes + 3) / 4 * 4 + kGuardBytes;
  GANTRY_RETURN_IF_ERROR(
      recorder.fill({range.memory, range.offsetBytes + words, guardEnd - words}, kCanaryWord));
  if (words > 0)
    GANTRY_RETURN_IF_ERROR(recorder.fill({range.memory, range.offsetBytes, words}, kPoisonWord));
  return {};
}

Status recordGuardCopy(Recorder &recorder, const device::BufferRange &range,
                       const device::BufferRange &guardCopy) {
  const uint64_t begin = range.sizeBytes / 4 * 4;
  const uint64_t end = (range.sizeBytes + 3) / 4 * 4 + kGuardBytes;
  return recorder.copy({range.memory, range.offsetBytes + begin, end - begin},
                       {guardCopy.memory, guardCopy.offsetBytes, end - begin});
}

Status checkGuard(const uint8_t *copy, uint64_t valueBytes, const std::string &name) {
  const uint64_t begin = valueBytes / 4 * 4;
  const uint64_t end = (valueBytes + 3) / 4 * 4 + kGuardBytes;
  for (uint64_t i = valueBytes; i < end; ++i) {
    const auto expected = static_cast<uint8_t>(kCanaryWord >> (8 * (i % 4)));
    if (copy[i - begin] != expected)
      return statusf(StatusCode::kInternal,
                     "memory check: a kernel wrote past the end of '%s' (%" PRIu64
                     " bytes), at byte %" PRIu64,
                     name.c_str(), valueBytes, i);
  }
  return {};
}

} // namespace gantry::program

// Implements donations.h with a ring of records.
#include "engine/capi/donations.h"

#include <cstdio>
#include <cstring>
#include <mutex>

namespace gantry::capi {

namespace {

constexpr size_t kRecords = 512;

struct Donation {
  uint64_t handle; // 0: unused.
  char text[248];  // "the buffer 'x' was donated to run 3 of program 'resnet'"; cut to this size.
};

std::mutex mutex;
Donation donations[kRecords];
size_t next = 0; // The record that is written next.

} // namespace

void noteDonation(heap::BufferHandle buffer, const char *name, const std::string &run) {
  const std::lock_guard<std::mutex> locked(mutex);
  Donation &donation = donations[next];
  next = (next + 1) % kRecords;
  donation.handle = buffer.bits;
  std::snprintf(donation.text, sizeof(donation.text), "the buffer '%.100s' was donated to %.100s",
                name, run.c_str());
}

Status staleBuffer(heap::BufferHandle buffer) {
  const std::lock_guard<std::mutex> locked(mutex);
  for (const Donation &donation : donations)
    if (donation.handle == buffer.bits && buffer)
      return statusf(StatusCode::kInvalidArgument,
                     "%s (gantry_run_donate) and cannot be used any more", donation.text);
  return {StatusCode::kInvalidArgument, "the buffer was already released"};
}

} // namespace gantry::capi

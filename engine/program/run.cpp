// Runs: their ends, and the donation of their inputs' buffers. session.cpp starts them.
#include "engine/program/session.h"

#include <algorithm>

namespace gantry::program {

std::string Run::name() const {
  return "run " + std::to_string(number_) + " of program '" + program_->metadata().name()->str() +
         "'";
}

Result<bool> Run::wait(uint64_t timeoutNs) {
  if (!ended_) {
    const std::shared_ptr<Session> session = session_; // Kept alive: endRun() resets session_.
    Result<bool> done = session->device_->wait(ticket_, timeoutNs);
    if (done.isOk() && !*done)
      return false;
    if (!done.isOk())
      session->trace_.endRun(traceId_, recording_->plan().get(), ticket_, done.status().code(), {});
    session->endRun(*this, done.isOk() ? session->collect(*this) : done.status());
  }
  if (!status_.isOk())
    return status_;
  return true;
}

Status Run::donate(Storage &buffer, uint32_t callersReferences) {
  const uint64_t block = buffer.block();
  const auto isIt = [&](const Held &held) { return held.block == block; };
  const auto found = std::find_if(buffers_.begin(), buffers_.end(), isIt);
  if (found == buffers_.end())
    return Status(StatusCode::kInvalidArgument, "the run has no input in this buffer");
  for (const Held &held : buffers_)
    if (isIt(held) && !held.isInput)
      return statusf(StatusCode::kInvalidArgument,
                     "the run writes its output '%s' to this buffer; only inputs can be donated",
                     program_->metadata().values()->Get(held.value)->name()->c_str());
  // Nothing else may hold a reference to the buffer. Only then does its handle become invalid when
  // this call drops the references, and every later use of the handle returns an error.
  const char *name = "";
  uint32_t references = 0;
  // This cannot fail, because `buffer` refers to the heap's buffer and keeps it alive.
  (void)buffer.heap()->describe(buffer.handle(), &name, &references);
  if (references > callersReferences + (session_ ? session_->countHolders(block) : 0))
    return statusf(StatusCode::kFailedPrecondition,
                   "the buffer '%s' cannot be donated, because another run, a state or a session's "
                   "arena uses it too; wait for the other run, or release the other object first",
                   name);
  if (!ended_) {
    session_->trace_.donate(traceId_, found->value, buffer);
    session_->releaseBuffer(block);
  }
  buffer.reset();
  return {};
}

} // namespace gantry::program

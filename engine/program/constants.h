// A session's constants on the device.
//
// The stretches of the artifact's constants section that the program uses are mirrored in as few
// buffers as the device's largest allocation allows, cut between constants; what only other
// variants use is left out. Constants that are fills follow and are never transferred. Bytes travel
// through one staging memory, chunk by chunk, each verified before it is copied.
//
// Threads: immutable after upload().
#pragma once

#include "engine/program/program.h"
#include "engine/program/storage.h"

namespace gantry::program {

/// Where the constants will lie: the decision alone, without a device.
struct ConstantLayout {
  struct Block {
    uint64_t sizeBytes = 0;
  };
  /// Bytes of the section that lie in a block.
  struct Stretch {
    uint64_t sectionBegin = 0;
    uint64_t sectionEnd = 0;
    uint32_t block = 0;
    uint64_t offset = 0; // Offset in the block, in bytes.
  };
  struct Place {
    uint32_t block = UINT32_MAX; // none for values that are no constants
    uint64_t offset = 0;
  };
  std::vector<Block> blocks;
  std::vector<Stretch> stretches;
  std::vector<Place> places; // per value
};

/// kUnsupported where one constant alone exceeds maxBytes.
Result<ConstantLayout> layoutConstants(const Program &program, uint64_t maxBytes);

class Constants {
public:
  /// Allocates, uploads and fills; returns when all of it is on the device. kDataLoss where the
  /// artifact's bytes do not have their checksum.
  static Result<Constants> upload(const Program &program, const std::shared_ptr<heap::Heap> &heap);

  /// The value must be a constant.
  device::BufferRange find(uint32_t value, uint64_t sizeBytes) const {
    const ConstantLayout::Place &place = layout_.places[value];
    return blocks_[place.block]->range(place.offset, sizeBytes);
  }
  uint64_t reservedBytes() const;
  /// The only block, where there is one.
  const Storage *block() const { return blocks_.size() == 1 ? blocks_[0].get() : nullptr; }

private:
  ConstantLayout layout_;
  std::vector<std::shared_ptr<Storage>> blocks_;
};

} // namespace gantry::program

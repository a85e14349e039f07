// A session's constants on the device: their layout and their upload.
//
// The parts of the artifact's constants section that the program uses are copied to buffers
// ("blocks"). A block takes constants until it reaches the device's max allocation size, so there
// are few blocks. No constant spans two blocks. Two kinds of parts are left out: those that only
// other variants of the artifact (program.h) use, and constants that are only the first value of a
// state (states/state.h). Fills, which are constants that repeat one 4-byte word, have blocks of
// their own and are written by the device. All other bytes go through one staging buffer. The
// artifact has a checksum for each chunk of 1 MiB, which is verified before the chunk is copied.
//
// Ownership: Constants owns its buffers. Units: bytes. Threads: immutable after upload().
#pragma once

#include "engine/program/program.h"
#include "engine/program/storage.h"

namespace gantry::program {

/// The offsets of all constants. The layout is decided from the program and a size limit alone,
/// without a device.
struct ConstantLayout {
  struct Block {
    uint64_t sizeBytes = 0;
  };
  /// A range [sectionBegin, sectionEnd) of the constants section, and its place in a block.
  struct SectionRange {
    uint64_t sectionBegin = 0;
    uint64_t sectionEnd = 0;
    uint32_t block = 0;
    uint64_t offset = 0; // Offset in the block, in bytes.
  };
  struct Place {
    uint32_t block = UINT32_MAX; // UINT32_MAX for values without a place here.
    uint64_t offset = 0;         // Offset in the block, in bytes.
  };
  std::vector<Block> blocks;
  std::vector<SectionRange> ranges;
  std::vector<Place> places; // Per value of the program.
};

/// Decides the layout for blocks of at most maxBytes bytes. Returns kUnsupported if a constant does
/// not fit into one block.
Result<ConstantLayout> layoutConstants(const Program &program, uint64_t maxBytes);

/// The constants of one session.
class Constants {
public:
  /// Allocates the blocks, writes all constants, and waits until the device has finished. Returns
  /// kDataLoss if a checksum of the artifact's constants differs.
  static Result<Constants> upload(const Program &program, const std::shared_ptr<heap::Heap> &heap);

  /// Returns the memory of a value, which must be a constant of sizeBytes bytes.
  device::BufferRange find(uint32_t value, uint64_t sizeBytes) const {
    const ConstantLayout::Place &place = layout_.places[value];
    return blocks_[place.block].range(place.offset, sizeBytes);
  }
  uint64_t reservedBytes() const;
  /// Returns the block if there is exactly one, else an empty Storage.
  Storage block() const { return blocks_.size() == 1 ? blocks_[0] : Storage(); }

private:
  ConstantLayout layout_;
  std::vector<Storage> blocks_;
};

} // namespace gantry::program

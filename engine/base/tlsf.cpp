// Implements Tlsf.
#include "engine/base/tlsf.h"

#include "engine/base/align.h"

#include <bit>
#include <cassert>

namespace gantry {
namespace {

constexpr uint32_t kMaxRegions = (1U << 24) - 1;
constexpr uint64_t kMaxGranules = (uint64_t{1} << 40) - 1;

// The distance from offset to the next multiple of alignment.
uint64_t paddingOf(uint64_t offset, uint64_t alignment) {
  return (alignment - (offset & (alignment - 1))) & (alignment - 1);
}

} // namespace

Tlsf::Tlsf(const Options &options)
    : granuleLog2_(options.granuleLog2), blocks_(options.host), regions_(options.host),
      emptyRegions_(options.host), unused_(options.host) {
  assert(options.granuleLog2 <= 20);
  for (auto &row : heads_)
    row.fill(kNone);
}

// ---- lists -------------------------------------------------------------------------------------

Tlsf::List Tlsf::listOf(uint64_t size) {
  if (size < kSecond)
    return {0, static_cast<uint32_t>(size)};
  const auto log2 = static_cast<uint32_t>(std::bit_width(size)) - 1;
  return {log2 - kSecondLog2 + 1,
          static_cast<uint32_t>(size >> (log2 - kSecondLog2)) & (kSecond - 1)};
}

void Tlsf::link(uint32_t index) {
  Block &block = blocks_[index];
  const List list = listOf(block.size);
  uint32_t &head = heads_[list.first][list.second];
  block.state = kFree;
  // The block goes to the front of the list, or to the second position if the first block has a
  // lower region number or offset. A search starts at the front, so regions with low numbers are
  // filled first, and the others tend to become empty.
  if (head != kNone && blocks_[head].place < block.place) {
    const uint32_t third = blocks_[head].nextFree;
    block.link = head;
    block.nextFree = third;
    blocks_[head].nextFree = index;
    if (third != kNone)
      blocks_[third].link = index;
  } else {
    block.link = kNone;
    block.nextFree = head;
    if (head != kNone)
      blocks_[head].link = index;
    head = index;
  }
  firstBits_ |= uint64_t{1} << list.first;
  secondBits_[list.first] |= 1U << list.second;
  ++freeBlocks_;
}

void Tlsf::unlink(uint32_t index) {
  const Block &block = blocks_[index];
  if (block.nextFree != kNone)
    blocks_[block.nextFree].link = block.link;
  if (block.link != kNone) {
    blocks_[block.link].nextFree = block.nextFree;
  } else {
    const List list = listOf(block.size);
    heads_[list.first][list.second] = block.nextFree;
    if (block.nextFree == kNone) {
      secondBits_[list.first] &= ~(1U << list.second);
      if (secondBits_[list.first] == 0)
        firstBits_ &= ~(uint64_t{1} << list.first);
    }
  }
  --freeBlocks_;
}

// Returns the first block that fits among the next `tries` blocks of a list; kNone if none does.
uint32_t Tlsf::scan(uint32_t first, uint64_t size, uint64_t alignment, uint32_t avoid,
                    uint32_t tries) const {
  for (uint32_t index = first; index != kNone && tries > 0; --tries) {
    const Block &block = blocks_[index];
    if (block.size >= size && block.size - size >= paddingOf(block.offset(), alignment) &&
        block.region() != avoid)
      return index;
    index = block.nextFree;
  }
  return kNone;
}

// Tries a few blocks in the list of the requested size, then the lists of longer blocks, shortest
// first. All blocks of the latter lists are long enough, so the first one fits if the alignment is
// one granule and no region is to be avoided. Otherwise it may not fit, so a few blocks of each
// list are tried.
uint32_t Tlsf::findFree(uint64_t size, uint64_t alignment, uint32_t avoid) const {
  const List own = listOf(size);
  const uint32_t found = scan(heads_[own.first][own.second], size, alignment, avoid, kOwnListTries);
  if (found != kNone)
    return found;
  const bool plain = alignment == 1 && avoid == kNone;
  const uint32_t perList = plain ? 1 : kOwnListTries;
  uint32_t first = own.first;
  uint32_t bits = own.second + 1 < kSecond ? secondBits_[first] & (~0U << (own.second + 1)) : 0;
  for (;;) {
    while (bits != 0) {
      const auto second = static_cast<uint32_t>(std::countr_zero(bits));
      const uint32_t block = scan(heads_[first][second], size, alignment, avoid, perList);
      if (block != kNone)
        return block;
      bits &= bits - 1;
    }
    const uint64_t above = firstBits_ & (~uint64_t{0} << first << 1);
    if (above == 0)
      return kNone;
    first = static_cast<uint32_t>(std::countr_zero(above));
    bits = secondBits_[first];
  }
}

// ---- records (elements of blocks_) -------------------------------------------------------------

// Makes room for `count` new records; false without host memory.
bool Tlsf::reserveRecords(uint32_t count) {
  if (unused_.size() >= count)
    return true;
  return reserveBlocks(blocks_.size() + count - unused_.size());
}

// Returns an unused record, if possible one after `near`, so that neighbours in a region have
// records that are close in memory. The caller has called reserveRecords().
uint32_t Tlsf::newRecord(uint32_t near) {
  const uint32_t index = unused_.take(near);
  if (index != kNone)
    return index;
  blocks_.pushBackReserved({});
  return blocks_.size() - 1;
}

void Tlsf::dropRecord(uint32_t index) {
  blocks_[index].state = kUnused;
  unused_.add(index);
}

// ---- regions -----------------------------------------------------------------------------------

bool Tlsf::addRegion(uint32_t region, uint64_t sizeBytes) {
  const uint64_t size = sizeBytes >> granuleLog2_;
  hostExhausted_ = false;
  if (size == 0 || size > kMaxGranules - total_ || region >= kMaxRegions ||
      sizeOfRegion(region) != 0)
    return false;
  if ((region >= regions_.size() && !regions_.resize(region + 1)) ||
      !emptyRegions_.resize((regions_.size() + 63) / 64) || !reserveRecords(1)) {
    hostExhausted_ = true;
    return false;
  }
  const uint32_t block = newRecord(0);
  blocks_[block].set(uint64_t{region} << kOffsetBits, size, kNone, kNone);
  link(block);
  regions_[region] = {size, 0, block};
  total_ += size;
  setEmpty(region, true);
  ++regionCount_;
  return true;
}

// Records that a region becomes empty, or stops being empty. Called only when that changes, since
// it adds to or subtracts from empty_.
void Tlsf::setEmpty(uint32_t region, bool empty) {
  const std::atomic_ref word(emptyRegions_[region / 64]);
  const uint64_t bit = uint64_t{1} << region % 64;
  const uint64_t before = word.load(std::memory_order_relaxed);
  word.store(empty ? before | bit : before & ~bit, std::memory_order_relaxed);
  empty_ = empty ? empty_ + regions_[region].size : empty_ - regions_[region].size;
}

uint32_t Tlsf::nextEmpty(uint32_t from) const {
  for (uint32_t word = from / 64; word < emptyRegions_.size(); ++word) {
    uint64_t bits = std::atomic_ref(const_cast<uint64_t &>(emptyRegions_[word]))
                        .load(std::memory_order_relaxed);
    if (word == from / 64)
      bits &= ~uint64_t{0} << from % 64;
    if (bits != 0)
      return word * 64 + static_cast<uint32_t>(std::countr_zero(bits));
  }
  return kNone;
}

bool Tlsf::removeRegion(uint32_t region) {
  if (region >= regions_.size() || regions_[region].size == 0 || regions_[region].used != 0)
    return false;
  unlink(regions_[region].first);
  dropRecord(regions_[region].first);
  total_ -= regions_[region].size;
  setEmpty(region, false);
  --regionCount_;
  regions_[region] = {0, 0, kNone};
  return true;
}

// ---- blocks ------------------------------------------------------------------------------------

uint32_t Tlsf::allocate(uint64_t sizeBytes, uint64_t alignmentBytes, uint32_t user, uint32_t avoid,
                        uint64_t maxBytes) {
  hostExhausted_ = false;
  if (sizeBytes == 0 || !isPowerOfTwo(alignmentBytes))
    return kNone;
  const uint64_t size = ((sizeBytes - 1) >> granuleLog2_) + 1;
  const uint64_t alignment = ((alignmentBytes - 1) >> granuleLog2_) + 1;
  if (size > kMaxGranules)
    return kNone;
  const uint32_t index = findFree(size, alignment, avoid);
  if (index == kNone || sizeOf(index) > maxBytes)
    return kNone;
  if (!reserveRecords(2)) {
    hostExhausted_ = true;
    return kNone;
  }
  unlink(index);
  Block *block = &blocks_[index];
  const uint64_t padding = paddingOf(block->offset(), alignment);
  if (padding != 0) { // the part before the aligned offset becomes a free block
    const uint32_t front = newRecord(index);
    block = &blocks_[index];
    const uint32_t before = block->previousPhysical;
    blocks_[front].set(block->place, padding, before, index);
    if (before != kNone)
      blocks_[before].nextPhysical = front;
    else
      regions_[block->region()].first = front;
    block->previousPhysical = front;
    block->setPlace(block->place + padding);
    block->size -= padding;
    link(front);
  }
  if (block->size != size) {
    const uint32_t rest = newRecord(index);
    block = &blocks_[index];
    const uint32_t next = block->nextPhysical;
    blocks_[rest].set(block->place + size, block->size - size, index, next);
    if (next != kNone)
      blocks_[next].previousPhysical = rest;
    block->nextPhysical = rest;
    block->size = size;
    link(rest);
  }
  block->state = kUsed;
  block->link = user;
  used_ += size;
  Region &region = regions_[block->region()];
  if (region.used == 0)
    setEmpty(block->region(), false);
  region.used += size;
  ++usedBlocks_;
  return index;
}

uint32_t Tlsf::allocateRegion(uint32_t number, uint32_t user) {
  if (sizeOfRegion(number) == 0 || regions_[number].used != 0)
    return kNone;
  Region &region = regions_[number];
  unlink(region.first);
  Block &block = blocks_[region.first];
  block.state = kUsed;
  block.link = user;
  used_ += region.size;
  setEmpty(number, false);
  region.used = region.size;
  ++usedBlocks_;
  return region.first;
}

bool Tlsf::free(uint32_t index) {
  if (index >= blocks_.size() || blocks_[index].state != kUsed)
    return false;
  Block *block = &blocks_[index];
  used_ -= block->size;
  Region &region = regions_[block->region()];
  region.used -= block->size;
  if (region.used == 0)
    setEmpty(block->region(), true);
  --usedBlocks_;
  const uint32_t next = block->nextPhysical;
  if (next != kNone && blocks_[next].state == kFree) {
    unlink(next);
    block->size += blocks_[next].size;
    block->nextPhysical = blocks_[next].nextPhysical;
    if (block->nextPhysical != kNone)
      blocks_[block->nextPhysical].previousPhysical = index;
    dropRecord(next);
  }
  const uint32_t previous = block->previousPhysical;
  if (previous != kNone && blocks_[previous].state == kFree) {
    unlink(previous);
    blocks_[previous].size += block->size;
    blocks_[previous].nextPhysical = block->nextPhysical;
    if (block->nextPhysical != kNone)
      blocks_[block->nextPhysical].previousPhysical = previous;
    dropRecord(index);
    index = previous;
  }
  link(index);
  return true;
}

uint32_t Tlsf::split(uint32_t index, uint64_t sizeBytes) {
  hostExhausted_ = false;
  if (index >= blocks_.size() || blocks_[index].state != kUsed || sizeBytes == 0)
    return kNone;
  const uint64_t size = ((sizeBytes - 1) >> granuleLog2_) + 1;
  if (size >= blocks_[index].size)
    return kNone;
  if (!reserveRecords(1)) {
    hostExhausted_ = true;
    return kNone;
  }
  const uint32_t rest = newRecord(index);
  Block &block = blocks_[index];
  const uint32_t next = block.nextPhysical;
  blocks_[rest].set(block.place + size, block.size - size, index, next);
  blocks_[rest].state = kUsed;
  blocks_[rest].link = block.link;
  if (next != kNone)
    blocks_[next].previousPhysical = rest;
  block.nextPhysical = rest;
  block.size = size;
  ++usedBlocks_;
  return rest;
}

bool Tlsf::join(uint32_t index, uint32_t following) {
  if (index >= blocks_.size() || following >= blocks_.size() || blocks_[index].state != kUsed ||
      blocks_[following].state != kUsed || blocks_[index].nextPhysical != following)
    return false;
  const uint32_t next = blocks_[following].nextPhysical;
  blocks_[index].size += blocks_[following].size;
  blocks_[index].nextPhysical = next;
  if (next != kNone)
    blocks_[next].previousPhysical = index;
  dropRecord(following);
  --usedBlocks_;
  return true;
}

Tlsf::Range Tlsf::at(uint32_t index) const {
  if (index >= blocks_.size() || blocks_[index].state == kUnused)
    return {};
  const Block &block = blocks_[index];
  const bool used = block.state == kUsed;
  return {block.region(), bytes(block.offset()), bytes(block.size), used ? block.link : 0, used};
}

// ---- statistics and validation -----------------------------------------------------------------

uint64_t Tlsf::largestFreeBytes() const {
  if (firstBits_ == 0)
    return 0;
  const auto first = static_cast<uint32_t>(std::bit_width<uint64_t>(firstBits_)) - 1;
  const auto second = static_cast<uint32_t>(std::bit_width(secondBits_[first])) - 1;
  uint64_t largest = 0;
  for (uint32_t i = heads_[first][second]; i != kNone; i = blocks_[i].nextFree)
    largest = blocks_[i].size > largest ? blocks_[i].size : largest;
  return bytes(largest);
}

Tlsf::Statistics Tlsf::statistics() const {
  return {bytes(total_), bytes(used_), bytes(total_ - used_), largestFreeBytes(), regionCount_,
          usedBlocks_,   freeBlocks_};
}

const char *Tlsf::validateRegions(uint64_t &used, uint64_t &total, uint64_t &empty,
                                  uint32_t &free) const {
  for (uint32_t r = 0; r < regions_.size(); ++r) {
    const Region &region = regions_[r];
    if ((region.size != 0 && region.used == 0) != (nextEmpty(r) == r))
      return "the set of empty regions is wrong";
    if (region.size == 0)
      continue;
    uint64_t offset = 0;
    uint64_t usedHere = 0;
    uint32_t previous = kNone;
    for (uint32_t i = region.first; i != kNone; i = blocks_[i].nextPhysical) {
      if (i >= blocks_.size())
        return "a neighbour does not exist";
      const Block &block = blocks_[i];
      if (block.state == kUnused)
        return "an unused record lies in a region";
      if (block.region() != r)
        return "a block names another region";
      if (block.offset() != offset)
        return "blocks leave a gap or overlap";
      if (block.size == 0)
        return "a block is empty";
      if (block.previousPhysical != previous)
        return "neighbours disagree";
      if (block.state == kFree && previous != kNone && blocks_[previous].state == kFree)
        return "two free neighbours are not merged";
      if (block.state == kUsed)
        usedHere += block.size;
      else
        ++free;
      if (block.size > region.size - offset)
        return "a block passes its region's end";
      offset += block.size;
      previous = i;
    }
    if (offset != region.size)
      return "blocks do not fill their region";
    if (usedHere != region.used)
      return "a region's used bytes are wrong";
    used += usedHere;
    total += region.size;
    empty += usedHere == 0 ? region.size : 0;
  }
  return nullptr;
}

const char *Tlsf::validate() const {
  uint64_t used = 0;
  uint64_t total = 0;
  uint64_t empty = 0;
  uint32_t free = 0;
  if (const char *broken = validateRegions(used, total, empty, free))
    return broken;
  if (used != used_ || total != total_ || empty != empty_)
    return "the sums of bytes are wrong";
  uint32_t linked = 0;
  for (uint32_t first = 0; first < kFirst; ++first) {
    if (((firstBits_ >> first) & 1) != (secondBits_[first] != 0 ? 1U : 0U))
      return "the first level's bitmap is wrong";
    for (uint32_t second = 0; second < kSecond; ++second) {
      const uint32_t head = heads_[first][second];
      if (((secondBits_[first] >> second) & 1) != (head != kNone ? 1U : 0U))
        return "the second level's bitmap is wrong";
      uint32_t previous = kNone;
      for (uint32_t i = head; i != kNone; i = blocks_[i].nextFree) {
        const List list = listOf(blocks_[i].size);
        if (blocks_[i].state != kFree || list.first != first || list.second != second)
          return "a block lies in the wrong list";
        if (blocks_[i].link != previous)
          return "a list's links disagree";
        previous = i;
        if (++linked > freeBlocks_)
          return "a list has a cycle";
      }
    }
  }
  if (linked != freeBlocks_ || free != freeBlocks_)
    return "free blocks and lists disagree";
  uint32_t unused = 0;
  for (uint32_t i = 0; i < blocks_.size(); ++i) {
    if (unused_.has(i) != (blocks_[i].state == kUnused))
      return "the set of unused records is wrong";
    unused += blocks_[i].state == kUnused ? 1 : 0;
  }
  if (unused != unused_.size() || unused + usedBlocks_ + freeBlocks_ != blocks_.size())
    return "records are lost";
  return nullptr;
}

} // namespace gantry

// Changes and searches the arrays of pieces and blocks of a range.
#include "engine/device/commit_map.h"

#include <algorithm>
#include <new>

namespace gantry::device {

namespace {

/// Grows the array to at least `wanted` elements. Returns false if the host has no memory.
template <typename T> bool grow(T *&array, uint32_t count, uint32_t &capacity, uint32_t wanted) {
  if (wanted <= capacity)
    return true;
  const uint32_t larger = std::max(2 * capacity, std::max(wanted, 8u));
  T *fresh = new (std::nothrow) T[larger];
  if (!fresh)
    return false;
  std::copy_n(array, count, fresh);
  delete[] array;
  array = fresh;
  capacity = larger;
  return true;
}

} // namespace

CommitMap::~CommitMap() {
  delete[] pieces_;
  delete[] blocks_;
}

bool CommitMap::prepare() {
  return grow(pieces_, pieceCount_, pieceCapacity_, pieceCount_ + 2) &&
         grow(blocks_, blockCount_, blockCapacity_, blockCount_ + 1);
}

uint32_t CommitMap::firstEndingAfter(uint64_t offset) const {
  return static_cast<uint32_t>(std::partition_point(pieces_, pieces_ + pieceCount_,
                                                    [&](const Piece &piece) {
                                                      return piece.offset + piece.size <= offset;
                                                    }) -
                               pieces_);
}

bool CommitMap::overlaps(uint64_t offset, uint64_t size) const {
  const uint32_t i = firstEndingAfter(offset);
  return i < pieceCount_ && pieces_[i].offset < offset + size;
}

bool CommitMap::covers(uint64_t offset, uint64_t size) const {
  const uint64_t end = offset + size;
  for (uint32_t i = firstEndingAfter(offset); i < pieceCount_; ++i) {
    if (pieces_[i].offset > offset)
      return false;
    offset = pieces_[i].offset + pieces_[i].size;
    if (offset >= end)
      return true;
  }
  return false;
}

void CommitMap::insertPiece(uint32_t at, const Piece &piece) {
  std::copy_backward(pieces_ + at, pieces_ + pieceCount_, pieces_ + pieceCount_ + 1);
  pieces_[at] = piece;
  ++pieceCount_;
}

void CommitMap::erasePiece(uint32_t at) {
  std::copy(pieces_ + at + 1, pieces_ + pieceCount_, pieces_ + at);
  --pieceCount_;
}

void CommitMap::add(uint64_t offset, uint64_t size, uint64_t token) {
  blocks_[blockCount_] = {token, size};
  insertPiece(firstEndingAfter(offset), {offset, size, blockCount_});
  ++blockCount_;
  committedBytes_ += size;
}

void CommitMap::detach(uint64_t offset, uint64_t size) {
  const uint64_t end = offset + size;
  uint32_t i = firstEndingAfter(offset);
  while (i < pieceCount_ && pieces_[i].offset < end) {
    const Piece piece = pieces_[i];
    const uint64_t pieceEnd = piece.offset + piece.size;
    const uint64_t low = std::max(piece.offset, offset), high = std::min(pieceEnd, end);
    blocks_[piece.block].boundBytes -= high - low;
    committedBytes_ -= high - low;
    if (piece.offset < low) { // The part before the removed range stays.
      pieces_[i].size = low - piece.offset;
      if (high < pieceEnd)
        insertPiece(i + 1, {high, pieceEnd - high, piece.block});
      ++i;
    } else if (high < pieceEnd) { // The part after the removed range stays.
      pieces_[i] = {high, pieceEnd - high, piece.block};
      ++i;
    } else {
      erasePiece(i);
    }
  }
}

void CommitMap::dropBlock(uint32_t index) {
  const uint32_t last = --blockCount_;
  blocks_[index] = blocks_[last];
  for (uint32_t i = 0; i < pieceCount_; ++i)
    if (pieces_[i].block == last)
      pieces_[i].block = index;
}

} // namespace gantry::device

// Bookkeeping of a reserved address range (virtual memory): which parts have storage, and which
// driver allocation backs each part. It calls no driver.
//
// Algorithm: a flat array of pieces, sorted by offset and searched by bisection. Each piece belongs
// to a block, which is one driver allocation made by one commit. A block is released when its last
// piece is removed. Finding a piece is O(log pieces), insertion is O(pieces), and removal is
// O(pieces) for each piece and block that it removes; a range has few pieces.
//
// Errors: prepare() allocates all host memory without exceptions, so the other functions cannot
// fail. Units: bytes. Threads: a CommitMap is used by one thread at a time.
#pragma once

#include <cstdint>

namespace gantry::device {

/// The committed parts of one range.
class CommitMap {
public:
  CommitMap() = default;
  ~CommitMap();
  CommitMap(const CommitMap &) = delete;
  CommitMap &operator=(const CommitMap &) = delete;

  /// Allocates room for one more block and two more pieces: the new block's piece, and the piece
  /// that remove() adds if it splits a piece. Returns false, with nothing changed, if the host has
  /// no memory. It must be called before each add() and remove().
  bool prepare();

  /// Returns whether any byte of [offset, offset + size) has storage.
  bool overlaps(uint64_t offset, uint64_t size) const;
  /// Returns whether every byte of [offset, offset + size) has storage.
  bool covers(uint64_t offset, uint64_t size) const;
  uint64_t committedBytes() const { return committedBytes_; }

  /// Records that [offset, offset + size), which must have had no storage, is backed by a driver
  /// allocation. The backend identifies the allocation by `token`.
  void add(uint64_t offset, uint64_t size, uint64_t token);

  /// Records that [offset, offset + size), which must have had storage, no longer has any. Calls
  /// release(token) for each block whose last piece was removed.
  template <typename Release> void remove(uint64_t offset, uint64_t size, Release release) {
    detach(offset, size);
    reap(release);
  }

  /// Removes all pieces and calls release(token) for each block. A backend calls it when it
  /// destroys the range.
  template <typename Release> void clear(Release release) {
    for (uint32_t i = 0; i < blockCount_; ++i)
      blocks_[i].boundBytes = 0;
    pieceCount_ = 0;
    committedBytes_ = 0;
    reap(release);
  }

private:
  struct Piece {
    uint64_t offset, size;
    uint32_t block; // Index in blocks_.
  };
  struct Block {
    uint64_t token, boundBytes; // token: see add(); boundBytes: sum of the sizes of its pieces.
  };
  uint32_t firstEndingAfter(uint64_t offset) const;
  void detach(uint64_t offset, uint64_t size);
  void insertPiece(uint32_t at, const Piece &piece);
  void erasePiece(uint32_t at);
  void dropBlock(uint32_t index); // Moves the last block to `index`.

  /// Drops the blocks without pieces and releases them.
  template <typename Release> void reap(Release release) {
    for (uint32_t i = blockCount_; i-- > 0;)
      if (blocks_[i].boundBytes == 0) {
        const uint64_t token = blocks_[i].token;
        dropBlock(i);
        release(token);
      }
  }

  Piece *pieces_ = nullptr;
  Block *blocks_ = nullptr;
  uint32_t pieceCount_ = 0, pieceCapacity_ = 0;
  uint32_t blockCount_ = 0, blockCapacity_ = 0;
  uint64_t committedBytes_ = 0;
};

} // namespace gantry::device

// Which parts of a growing range (virtual memory) have storage, and which driver allocation stands
// behind each: host arithmetic, without a driver.
//
// Algorithm: pieces sorted by offset in one flat array, found by binary search. A piece belongs to
// a block (one driver allocation, one commit); a block whose last piece is gone is given back.
// Costs O(log pieces) to find and O(pieces) to insert or remove; a range has few.
//
// Host memory comes from nothrow allocation, all of it in prepare(): the rest cannot fail. Threads:
// one at a time.
#pragma once

#include <cstdint>

namespace gantry::device {

class CommitMap {
public:
  CommitMap() = default;
  ~CommitMap();
  CommitMap(const CommitMap &) = delete;
  CommitMap &operator=(const CommitMap &) = delete;

  /// Makes room for one more block and for two more pieces (a block's own, and the one that a split
  /// makes). False without host memory; nothing has changed then.
  bool prepare();

  bool overlaps(uint64_t offset, uint64_t size) const; // any byte has storage
  bool covers(uint64_t offset, uint64_t size) const;   // every byte has storage
  uint64_t committedBytes() const { return committedBytes_; }

  /// [offset, +size), which overlaps nothing, is backed by token. After prepare().
  void add(uint64_t offset, uint64_t size, uint64_t token);

  /// [offset, +size), which is covered, has no storage any more. After prepare(). release(token) is
  /// called for each block of which no piece is left.
  template <typename Release> void remove(uint64_t offset, uint64_t size, Release release) {
    detach(offset, size);
    reap(release);
  }

  /// All of it, as when the range is destroyed.
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
    uint32_t block;
  };
  struct Block {
    uint64_t token, boundBytes;
  };
  uint32_t firstEndingAfter(uint64_t offset) const;
  void detach(uint64_t offset, uint64_t size);
  void insertPiece(uint32_t at, const Piece &piece);
  void erasePiece(uint32_t at);
  void dropBlock(uint32_t index); // the last one takes its place

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

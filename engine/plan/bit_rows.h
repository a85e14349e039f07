// Operations on rows of bits, `words` 64-bit words each: sets of offsets. Header only; pure.
//
// Bits that a shift moves out of a row are lost.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace gantry::plan {

inline bool testBit(const uint64_t *row, size_t bit) {
  return (row[bit / 64] >> (bit % 64) & 1) != 0;
}
inline void clearBit(uint64_t *row, size_t bit) { row[bit / 64] &= ~(uint64_t{1} << (bit % 64)); }

/// The bits of word `word` that lie in [begin, end).
inline uint64_t maskOf(size_t word, size_t begin, size_t end) {
  const size_t first = std::max(begin, word * 64);
  const size_t last = std::min(end, word * 64 + 64);
  if (first >= last)
    return 0;
  const uint64_t upTo = last == word * 64 + 64 ? ~uint64_t{0} : (uint64_t{1} << (last % 64)) - 1;
  return upTo & (~uint64_t{0} << (first % 64));
}

inline void setRange(uint64_t *row, size_t begin, size_t end) {
  for (size_t w = begin / 64; begin < end && w <= (end - 1) / 64; ++w)
    row[w] |= maskOf(w, begin, end);
}

inline void clearRange(uint64_t *row, size_t begin, size_t end) {
  for (size_t w = begin / 64; begin < end && w <= (end - 1) / 64; ++w)
    row[w] &= ~maskOf(w, begin, end);
}

/// Word `word` of the row moved up by `by`.
inline uint64_t wordMovedUp(const uint64_t *row, size_t word, size_t by) {
  const size_t skip = by / 64;
  const size_t bits = by % 64;
  if (word < skip)
    return 0;
  uint64_t moved = row[word - skip] << bits;
  if (bits != 0 && word > skip)
    moved |= row[word - skip - 1] >> (64 - bits);
  return moved;
}

/// Word `word` of the row moved down by `by`.
inline uint64_t wordMovedDown(const uint64_t *row, size_t words, size_t word, size_t by) {
  const size_t at = word + by / 64;
  const size_t bits = by % 64;
  if (at >= words)
    return 0;
  uint64_t moved = row[at] >> bits;
  if (bits != 0 && at + 1 < words)
    moved |= row[at + 1] << (64 - bits);
  return moved;
}

/// Each bit becomes a run of `length` bits upwards.
inline void stretch(uint64_t *row, size_t words, size_t length) {
  for (size_t reached = 1; reached < length;) {
    const size_t by = std::min(reached, length - reached);
    for (size_t w = words; w-- > by / 64;) // from above: what is read is not yet changed
      row[w] |= wordMovedUp(row, w, by);
    reached += by;
  }
}

/// The first bit from `from` on that is set, or words × 64.
inline size_t nextBit(const uint64_t *row, size_t words, size_t from) {
  for (size_t w = from / 64; w < words; ++w)
    if (const uint64_t bits = row[w] & maskOf(w, from, words * 64); bits != 0)
      return w * 64 + static_cast<size_t>(std::countr_zero(bits));
  return words * 64;
}

/// The first bit from `from` on that is not set, or words × 64.
inline size_t nextGap(const uint64_t *row, size_t words, size_t from) {
  for (size_t w = from / 64; w < words; ++w)
    if (const uint64_t bits = ~row[w] & maskOf(w, from, words * 64); bits != 0)
      return w * 64 + static_cast<size_t>(std::countr_zero(bits));
  return words * 64;
}

/// `none` where no bit is set.
inline size_t lowestBit(const uint64_t *row, size_t words, size_t none) {
  for (size_t w = 0; w < words; ++w)
    if (row[w] != 0)
      return w * 64 + static_cast<size_t>(std::countr_zero(row[w]));
  return none;
}

inline size_t highestBit(const uint64_t *row, size_t words, size_t none) {
  for (size_t w = words; w-- > 0;)
    if (row[w] != 0)
      return w * 64 + 63 - static_cast<size_t>(std::countl_zero(row[w]));
  return none;
}

} // namespace gantry::plan

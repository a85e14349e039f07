// Searches a capture by words, addresses and sizes.
//
//   conv relu         names of blocks, operators and kernels that contain both words, ignoring case
//   0x1000-0x2000     blocks that overlap this range of addresses; 0x1000 alone means one byte
//   >4MiB             blocks of at least this size
//   <1KiB             blocks of at most this size
//
// Terms are separated by spaces, and all of them must match. The search is linear in the number of
// blocks and names. Threads: pure functions.
#pragma once

#include "engine/base/status.h"
#include "profiler_gui/model/capture/capture_model.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gantry::profiler {

struct Query {
  std::vector<std::string> words;                    // In lower case.
  uint64_t lowAddress = 0, highAddress = UINT64_MAX; // Half-open.
  uint64_t minBytes = 0, maxBytes = UINT64_MAX;      // Inclusive.
  bool empty() const {
    return words.empty() && lowAddress == 0 && highAddress == UINT64_MAX && minBytes == 0 &&
           maxBytes == UINT64_MAX;
  }
};

/// Parses a size such as "4096", "64KiB" or "1.5MiB". Returns false if the text is not a size.
bool parseSize(const std::string &text, uint64_t *bytes);

/// Parses a query. A malformed address or size fails with kInvalidArgument and a message that shows
/// the expected form.
Result<Query> parseQuery(const std::string &text);

/// A matching block.
struct SearchHit {
  uint32_t space = 0; // Index in CaptureModel::spaces().
  uint32_t row = 0;   // Row in the space's table.
};

struct SearchResult {
  Query query;
  uint64_t count = 0;          // Number of matching blocks.
  uint64_t dispatches = 0;     // Number of matching dispatches; 0 for a query without words.
  std::vector<SearchHit> hits; // At most kMaxHits matching blocks, in order of begin time.
  std::vector<bool> names;     // Whether a name contains all words; the index is the name id.
  static constexpr size_t kMaxHits = 10000;

  /// Whether the query has any term.
  bool active() const { return !query.empty(); }
  /// Whether a block matches.
  bool has(const Block &block) const {
    const bool named = query.words.empty() || (block.name < names.size() && names[block.name]) ||
                       (block.op < names.size() && names[block.op]);
    return named && block.offset < query.highAddress && block.endOffset() > query.lowAddress &&
           block.sizeBytes >= query.minBytes && block.sizeBytes <= query.maxBytes;
  }
  /// Whether a text contains all words, ignoring case.
  bool hasName(const std::string &text) const;
  /// Whether the name of a command's operator or kernel contains all words. A query without words
  /// concerns blocks only and matches every command.
  bool has(const PlanCommand &command) const {
    return query.words.empty() || (command.name < names.size() && names[command.name]) ||
           (command.kernel < names.size() && names[command.kernel]);
  }
};

/// Finds the blocks and dispatches that match. An empty query finds nothing.
SearchResult search(const CaptureModel &model, const Query &query);

} // namespace gantry::profiler

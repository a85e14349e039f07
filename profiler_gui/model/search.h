// Searching a capture: by words, by address, by size.
//
//   conv relu         names of blocks, operators and kernels that contain both words, in any case
//   0x1000-0x2000     blocks that touch these addresses of their space (0x1000: that byte)
//   >4MiB  <1KiB      blocks larger, smaller than that; may be mixed with words
//
// Threads: pure functions.
#pragma once

#include "engine/base/status.h"
#include "profiler_gui/model/capture_model.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gantry::profiler {

struct Query {
  std::vector<std::string> words; // in lower case
  uint64_t lowAddress = 0, highAddress = UINT64_MAX;
  uint64_t leastBytes = 0, mostBytes = UINT64_MAX;
  bool empty() const {
    return words.empty() && lowAddress == 0 && highAddress == UINT64_MAX && leastBytes == 0 &&
           mostBytes == UINT64_MAX;
  }
};

/// "4096", "64KiB", "1.5MiB"; false for what is no size.
bool parseSize(const std::string &text, uint64_t *bytes);

/// kInvalidArgument, with what was expected, for a number that is none.
Result<Query> parseQuery(const std::string &text);

struct SearchHit {
  uint32_t space = 0;
  uint32_t row = 0;
};

struct SearchResult {
  Query query;
  uint64_t count = 0; // Number of matching blocks.
  uint64_t dispatches = 0;
  std::vector<SearchHit> hits; // the first kMostHits, in the order of time
  std::vector<bool> names;     // by name id: whether it has all words
  static constexpr size_t kMostHits = 10000;

  bool active() const { return !query.empty(); }
  bool has(const Block &block) const {
    const bool named = query.words.empty() || (block.name < names.size() && names[block.name]) ||
                       (block.op < names.size() && names[block.op]);
    return named && block.offset < query.highAddress && block.endOffset() > query.lowAddress &&
           block.sizeBytes >= query.leastBytes && block.sizeBytes <= query.mostBytes;
  }
  /// Whether a text has all words.
  bool hasName(const std::string &text) const;
  /// Whether a command's operator or kernel has all words. A query without words is about blocks
  /// alone and leaves out no command.
  bool has(const PlanCommand &command) const {
    return query.words.empty() || (command.name < names.size() && names[command.name]) ||
           (command.kernel < names.size() && names[command.kernel]);
  }
};

SearchResult search(const CaptureModel &model, const Query &query);

} // namespace gantry::profiler

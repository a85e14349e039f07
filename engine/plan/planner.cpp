#include "engine/base/align.h"
#include "engine/plan/plan.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace gantry::plan {

namespace {

/// A value with its place.
struct Placed {
  uint64_t offset;
  uint64_t end;
  uint32_t firstUse;
  uint32_t lastUse;
};

/// The placed values by ascending offset, in chunks, so that walking them is sequential and
/// inserting moves little. Chunks that are full are split in halves.
class PlacedValues {
public:
  void insert(const Placed &placed) {
    const auto byOffset = [](uint64_t offset, const Placed &other) {
      return offset < other.offset;
    };
    auto chunk = std::upper_bound(chunks_.begin(), chunks_.end(), placed.offset,
                                  [](uint64_t offset, const std::vector<Placed> &other) {
                                    return offset < other.front().offset;
                                  });
    if (chunk != chunks_.begin())
      --chunk;
    else if (chunks_.empty())
      chunk = chunks_.emplace(chunks_.begin());
    chunk->insert(std::upper_bound(chunk->begin(), chunk->end(), placed.offset, byOffset), placed);
    if (chunk->size() < kChunkValues)
      return;
    std::vector<Placed> upperHalf(chunk->begin() + kChunkValues / 2, chunk->end());
    chunk->resize(kChunkValues / 2);
    chunks_.insert(chunk + 1, std::move(upperHalf));
  }

  /// Visits by ascending offset until visit returns false.
  template <typename Visit> void forEach(Visit visit) const {
    for (const std::vector<Placed> &chunk : chunks_)
      for (const Placed &placed : chunk)
        if (!visit(placed))
          return;
  }

private:
  static constexpr size_t kChunkValues = 256;
  std::vector<std::vector<Placed>> chunks_; // none is empty
};

enum class Fit { kFirst, kBest };

struct Layout {
  std::vector<uint64_t> offsets;
  uint64_t heightBytes = 0;
  uint64_t visits = 0; // the work it took
};

/// Where a value goes among those that are alive with it: the lowest gap that holds it, or the
/// tightest. Above all of them where no gap does.
uint64_t findOffset(const Value &value, uint64_t occupied, Fit fit, const PlacedValues &placed,
                    uint64_t &visits) {
  uint64_t cursor = 0; // everything below is taken, or was refused
  uint64_t best = 0;
  uint64_t bestSlack = UINT64_MAX;
  bool found = false;
  placed.forEach([&](const Placed &other) {
    ++visits;
    if (other.lastUse < value.firstUse || other.firstUse > value.lastUse)
      return true;
    const uint64_t offset = roundUp(cursor, value.alignment);
    if (other.offset >= offset && other.offset - offset >= occupied) {
      const uint64_t slack = other.offset - offset - occupied;
      if (slack < bestSlack) {
        best = offset;
        bestSlack = slack;
        found = true;
      }
      if (fit == Fit::kFirst || slack == 0)
        return false;
    }
    cursor = std::max(cursor, other.end);
    return true;
  });
  return found ? best : roundUp(cursor, value.alignment);
}

Layout placeInOrder(const std::vector<Value> &values, const std::vector<uint64_t> &occupied,
                    const std::vector<uint32_t> &order, Fit fit) {
  Layout layout;
  layout.offsets.assign(values.size(), 0);
  PlacedValues placed;
  for (const uint32_t index : order) {
    if (occupied[index] == 0)
      continue;
    const Value &value = values[index];
    const uint64_t offset = findOffset(value, occupied[index], fit, placed, layout.visits);
    const uint64_t end = offset + occupied[index];
    placed.insert({offset, end, value.firstUse, value.lastUse});
    layout.offsets[index] = offset;
    layout.heightBytes = std::max(layout.heightBytes, end);
  }
  return layout;
}

double duration(const Value &value) {
  return static_cast<double>(value.lastUse) - static_cast<double>(value.firstUse) + 1;
}

/// What an order sorts by, the largest first.
using Weight = double (*)(const Value &value, uint32_t peakCommand);

constexpr Weight kWeights[] = {
    // Size: Pisarchyk & Lee's greedy by size.
    [](const Value &value, uint32_t) { return static_cast<double>(value.sizeBytes); },
    // Area: what is large and long is hard to place late.
    [](const Value &value, uint32_t) {
      return static_cast<double>(value.sizeBytes) * duration(value);
    },
    // Duration: the long-lived form the floor.
    [](const Value &value, uint32_t) { return duration(value); },
    // The peak first, by size: what decides the lower bound is packed without gaps.
    [](const Value &value, uint32_t peak) {
      const bool atPeak = value.firstUse <= peak && peak <= value.lastUse;
      return static_cast<double>(value.sizeBytes) + (atPeak ? 0x1p80 : 0.0);
    },
    // The peak first, by duration.
    [](const Value &value, uint32_t peak) {
      const bool atPeak = value.firstUse <= peak && peak <= value.lastUse;
      return duration(value) + (atPeak ? 0x1p80 : 0.0);
    },
    // Time: as an allocator would see them.
    [](const Value &value, uint32_t) { return -static_cast<double>(value.firstUse); },
};

std::vector<uint32_t> orderBy(const std::vector<Value> &values, Weight weight,
                              uint32_t peakCommand) {
  std::vector<double> weights(values.size());
  for (size_t i = 0; i < values.size(); ++i)
    weights[i] = weight(values[i], peakCommand);
  std::vector<uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    if (weights[a] != weights[b])
      return weights[a] > weights[b];
    if (values[a].sizeBytes != values[b].sizeBytes)
      return values[a].sizeBytes > values[b].sizeBytes;
    return a < b;
  });
  return order;
}

/// Once this many values have been looked at, no further order is tried: about a third of a second,
/// and the same on every machine.
constexpr uint64_t kVisitBudget = 150'000'000;

/// Fills the bytes that each value occupies.
Status checkValues(const std::vector<Value> &values, std::vector<uint64_t> &occupied) {
  uint64_t total = 0; // of all values above each other, with what alignment may cost
  for (size_t i = 0; i < values.size(); ++i) {
    const Value &value = values[i];
    if (!isPowerOfTwo(value.alignment))
      return statusf(StatusCode::kInvalidArgument,
                     "value %zu has alignment %llu; a power of two is needed", i,
                     static_cast<unsigned long long>(value.alignment));
    if (value.firstUse > value.lastUse)
      return statusf(StatusCode::kInvalidArgument,
                     "value %zu is used first by command %u and last by command %u", i,
                     value.firstUse, value.lastUse);
    const std::optional<uint64_t> rounded = checkedRoundUp(value.sizeBytes, value.alignment);
    const std::optional<uint64_t> padded =
        rounded ? checkedAdd(*rounded, value.alignment - 1) : std::nullopt;
    const std::optional<uint64_t> sum = padded ? checkedAdd(total, *padded) : std::nullopt;
    if (!sum)
      return statusf(StatusCode::kInvalidArgument,
                     "the sizes up to value %zu (%llu bytes, alignment %llu) exceed 64 bits", i,
                     static_cast<unsigned long long>(value.sizeBytes),
                     static_cast<unsigned long long>(value.alignment));
    total = *sum;
    occupied.push_back(*rounded);
  }
  return Status::ok();
}

} // namespace

Result<Plan> planArena(const std::vector<Value> &values) {
  std::vector<uint64_t> occupied;
  GANTRY_RETURN_IF_ERROR(checkValues(values, occupied));
  Plan plan;
  plan.lowerBoundBytes = lowerBound(values, &plan.peakCommand);
  uint64_t visits = 0;
  bool any = false;
  for (const Weight weight : kWeights) {
    const std::vector<uint32_t> order = orderBy(values, weight, plan.peakCommand);
    for (const Fit fit : {Fit::kFirst, Fit::kBest}) {
      if (any && (plan.heightBytes == plan.lowerBoundBytes || visits > kVisitBudget))
        return plan;
      Layout layout = placeInOrder(values, occupied, order, fit);
      visits += layout.visits;
      if (!any || layout.heightBytes < plan.heightBytes) {
        plan.offsets = std::move(layout.offsets);
        plan.heightBytes = layout.heightBytes;
      }
      any = true;
    }
  }
  return plan;
}

} // namespace gantry::plan

#include "tests/support/plan_instances.h"

#include "engine/plan/random.h"

#include <numeric>
#include <fstream>
#include <filesystem>
#include <cstdio>
#include <algorithm>
#include <array>
#include <map>
#include <queue>

namespace gantry::test {

namespace {

using plan::Random;

void shuffle(std::vector<Interval> &intervals, Random &random) {
  for (size_t i = intervals.size(); i > 1; --i)
    std::swap(intervals[i - 1], intervals[random.below(i)]);
}

// ---- packings with a known optimum -------------------------------------------------------------

constexpr uint64_t kHeightBytes = uint64_t{1} << 30;
constexpr uint64_t kGrainBytes = 256;

struct Piece {
  uint64_t begin, end;  // Points in time.
  uint64_t bottom, top; // Addresses in units of kGrainBytes.

  uint64_t area() const { return (end - begin) * (top - bottom); }
  bool operator<(const Piece &other) const {
    return area() != other.area() ? area() < other.area() : begin > other.begin;
  }
};

/// Returns a random cut strictly between low and high, at 20 to 80 % of the length.
uint64_t cutBetween(uint64_t low, uint64_t high, Random &random) {
  const uint64_t length = high - low;
  const double share = 0.2 + 0.6 * random.unit();
  return low + std::clamp<uint64_t>(static_cast<uint64_t>(static_cast<double>(length) * share), 1,
                                    length - 1);
}

/// Cuts a piece from edge to edge, in time or in addresses. Returns nothing if it is too small.
std::vector<Piece> cutInTwo(const Piece &piece, uint64_t moments, Random &random) {
  const double width = static_cast<double>(piece.end - piece.begin) / static_cast<double>(moments);
  const double height = static_cast<double>(piece.top - piece.bottom) /
                        static_cast<double>(kHeightBytes / kGrainBytes);
  // The relatively longer side is cut more often, so that the pieces keep the aspect ratio of the
  // whole rectangle.
  const bool inTime = random.unit() < width / (width + height);
  std::vector<Piece> parts(2, piece);
  if ((inTime && piece.end - piece.begin > 1) || piece.top - piece.bottom < 2) {
    if (piece.end - piece.begin < 2)
      return {};
    parts[0].end = parts[1].begin = cutBetween(piece.begin, piece.end, random);
  } else {
    parts[0].top = parts[1].bottom = cutBetween(piece.bottom, piece.top, random);
  }
  return parts;
}

/// Divides a piece into four pieces around one in the middle. Returns nothing if it is too small.
std::vector<Piece> cutToSpiral(const Piece &piece, Random &random) {
  if (piece.end - piece.begin < 9 || piece.top - piece.bottom < 9)
    return {};
  const uint64_t t1 = cutBetween(piece.begin, piece.begin + (piece.end - piece.begin) / 2, random);
  const uint64_t t2 = cutBetween(t1 + 1, piece.end, random);
  const uint64_t y1 =
      cutBetween(piece.bottom, piece.bottom + (piece.top - piece.bottom) / 2, random);
  const uint64_t y2 = cutBetween(y1 + 1, piece.top, random);
  return {{piece.begin, t2, piece.bottom, y1},
          {t2, piece.end, piece.bottom, y2},
          {t1, piece.end, y2, piece.top},
          {piece.begin, t1, y1, piece.top},
          {t1, t2, y1, y2}};
}

std::vector<Interval> plantedPacking(uint32_t count, uint64_t seed, uint32_t moments,
                                     uint32_t spiralsOutOfSix) {
  Random random(seed);
  const uint64_t width =
      moments != 0 ? moments : std::max<uint64_t>(uint64_t{1} << 20, uint64_t{count} * 64);
  std::priority_queue<Piece> pieces;
  pieces.push({0, width, 0, kHeightBytes / kGrainBytes});
  std::vector<Piece> whole; // Pieces that are too small to cut.
  while (!pieces.empty() && pieces.size() + whole.size() < count) {
    const Piece piece = pieces.top();
    pieces.pop();
    const bool spiral = random.below(6) < spiralsOutOfSix;
    std::vector<Piece> parts = spiral ? cutToSpiral(piece, random) : std::vector<Piece>{};
    if (parts.empty())
      parts = cutInTwo(piece, width, random);
    if (parts.empty())
      whole.push_back(piece);
    for (const Piece &part : parts)
      pieces.push(part);
  }
  for (; !pieces.empty(); pieces.pop())
    whole.push_back(pieces.top());
  std::vector<Interval> intervals;
  intervals.reserve(whole.size());
  for (const Piece &piece : whole)
    intervals.push_back({static_cast<uint32_t>(piece.begin), static_cast<uint32_t>(piece.end),
                         (piece.top - piece.bottom) * kGrainBytes});
  shuffle(intervals, random);
  return intervals;
}

// ---- models' graphs ----------------------------------------------------------------------------

constexpr uint32_t kForEver = UINT32_MAX;
constexpr uint64_t kPadBytes = 512;

/// Simulates a model whose operators run one at a time. A buffer lives from the operator that
/// writes it to the last operator that reads it.
class Graph {
public:
  Graph(GraphKind kind, uint64_t seed) : kind_(kind), random_(seed) {
    base_ = static_cast<double>((1 + random_.below(8)) * (uint64_t{1} << 18));
    patterns_.resize(1 + random_.below(4));
    for (std::vector<double> &pattern : patterns_)
      for (uint32_t i = 0, length = 4 + random_.below(6); i < length; ++i)
        pattern.push_back(relativeSize());
  }

  std::vector<Interval> run(uint32_t count) {
    const uint32_t perLayer = kind_ == GraphKind::kInference ? 12 : 30;
    const uint32_t layers = std::max(2u, count / perLayer);
    uint32_t current = make(base_);
    ++step_;
    for (uint32_t layer = 0; layer < layers; ++layer)
      current = forward(layer, layers, current);
    if (kind_ != GraphKind::kInference) {
      uint32_t gradient = make(base_);
      use(current);
      ++step_;
      while (!layers_.empty()) {
        gradient = backward(layers_.back(), gradient);
        layers_.pop_back();
      }
      for (const uint32_t kept : gradients_) { // The optimizer's step.
        use(kept);
        make(static_cast<double>(buffers_[kept].sizeBytes));
        ++step_;
      }
    }
    for (Interval &buffer : buffers_)
      buffer.end = std::min(buffer.end, step_ + 1);
    shuffle(buffers_, random_);
    return std::move(buffers_);
  }

private:
  struct Layer {
    std::vector<uint32_t> saved;
    std::vector<uint32_t> weights;
  };

  double relativeSize() {
    const double kind = random_.unit();
    if (kind < 0.2)
      return 0.0002; // The size of statistics and scalars.
    if (kind < 0.5)
      return 1;
    if (kind < 0.7)
      return 0.5;
    return kind < 0.85 ? 4 : random_.unit() * 3;
  }

  uint32_t make(double size) {
    const uint64_t bytes = static_cast<uint64_t>(size) / kPadBytes * kPadBytes + kPadBytes;
    buffers_.push_back({step_, step_ + 1, bytes});
    return static_cast<uint32_t>(buffers_.size() - 1);
  }
  void use(uint32_t buffer) { buffers_[buffer].end = std::max(buffers_[buffer].end, step_ + 1); }
  double sizeOf(uint32_t buffer) const { return static_cast<double>(buffers_[buffer].sizeBytes); }
  bool chance(double share) { return random_.unit() < share; }

  uint32_t makeWeight(double size) {
    const uint32_t weight = make(size);
    buffers_[weight].begin = 0;
    buffers_[weight].end = kForEver;
    return weight;
  }

  uint32_t forward(uint32_t number, uint32_t layers, uint32_t input) {
    Layer layer;
    double scale = 1;
    if (kind_ == GraphKind::kConvolution)
      scale = (1 + 0.3 * random_.unit()) / static_cast<double>(1u << (number * 5 / layers));
    const double activation = base_ * scale;
    for (uint32_t i = 0, weights = 1 + random_.below(3); i < weights; ++i)
      layer.weights.push_back(
          makeWeight(base_ * (kind_ == GraphKind::kConvolution ? 0.1 / scale : 1) * 0.25 *
                     (1 + random_.below(8))));
    layer.saved.push_back(input);
    uint32_t current = input;
    for (const double size :
         patterns_[random_.below(8) < 7 ? 0 : random_.below(patterns_.size())]) {
      const uint32_t output = make(size * activation);
      use(current);
      if (chance(0.3))
        make(activation * (0.25 + 0.5 * random_.unit())); // A scratch buffer.
      if (chance(0.2))
        use(input);
      ++step_;
      if (chance(0.55))
        layer.saved.push_back(output);
      current = output;
    }
    const uint32_t output = make(activation);
    use(current);
    use(input); // The residual connection.
    ++step_;
    if (chance(0.05))
      skips_.push_back(output);
    if (!skips_.empty() && chance(0.05))
      use(skips_[random_.below(skips_.size())]);
    if (kind_ != GraphKind::kInference)
      layers_.push_back(std::move(layer));
    return output;
  }

  uint32_t backward(const Layer &layer, uint32_t gradient) {
    std::vector<uint32_t> saved = layer.saved;
    if (kind_ == GraphKind::kRecompute)
      for (size_t i = 1; i < saved.size(); ++i) {
        saved[i] = make(sizeOf(saved[i]));
        use(saved[i - 1]);
        ++step_;
      }
    for (size_t i = saved.size(); i-- > 0;) {
      const uint32_t next = make(sizeOf(saved[i]));
      use(saved[i]);
      use(gradient);
      if (chance(0.3))
        make(sizeOf(saved[0]) * (0.5 + random_.unit()));
      ++step_;
      gradient = next;
    }
    for (const uint32_t weight : layer.weights) {
      const uint32_t weightGradient = make(sizeOf(weight));
      use(gradient);
      ++step_;
      if (kind_ == GraphKind::kRecompute || chance(0.1)) {
        gradients_.push_back(weightGradient);
        continue;
      }
      use(weightGradient); // The weight is updated immediately.
      ++step_;
    }
    return gradient;
  }

  GraphKind kind_;
  Random random_;
  double base_ = 0;
  std::vector<std::vector<double>> patterns_;
  std::vector<Interval> buffers_;
  std::vector<Layer> layers_;
  std::vector<uint32_t> skips_;
  std::vector<uint32_t> gradients_;
  uint32_t step_ = 0;
};

} // namespace

plan::Problem problemOf(const std::vector<Interval> &intervals) {
  std::vector<uint32_t> moments;
  moments.reserve(intervals.size() * 2);
  for (const Interval &interval : intervals) {
    moments.push_back(interval.begin);
    moments.push_back(interval.end);
  }
  std::sort(moments.begin(), moments.end());
  moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
  const auto stepOf = [&](uint32_t moment) {
    return static_cast<uint32_t>(std::lower_bound(moments.begin(), moments.end(), moment) -
                                 moments.begin());
  };
  plan::Problem problem;
  // The change of the live bytes at each step. Negative changes wrap around, but their sums do not.
  std::vector<uint64_t> change(moments.size(), 0);
  for (const Interval &interval : intervals) {
    problem.begin.push_back(stepOf(interval.begin));
    problem.end.push_back(stepOf(interval.end));
    problem.size.push_back(interval.sizeBytes);
    change[problem.begin.back()] += interval.sizeBytes;
    change[problem.end.back()] -= interval.sizeBytes;
  }
  problem.stepCount = moments.empty() ? 0 : static_cast<uint32_t>(moments.size() - 1);
  uint64_t load = 0;
  for (uint32_t step = 0; step < problem.stepCount; ++step) {
    load += change[step];
    if (load > problem.lowerBound) {
      problem.lowerBound = load;
      problem.peakStep = step;
    }
  }
  return problem;
}

std::vector<Interval> guillotinePacking(uint32_t count, uint64_t seed, uint32_t moments) {
  return plantedPacking(count, seed, moments, 0);
}

std::vector<Interval> spiralPacking(uint32_t count, uint64_t seed) {
  return plantedPacking(count, seed, 0, 2);
}

const char *graphKindName(GraphKind kind) {
  constexpr std::array<const char *, 4> kNames = {"inference", "transformer", "convolution",
                                                  "recompute"};
  return kNames[static_cast<size_t>(kind)];
}

std::vector<Interval> modelGraph(GraphKind kind, uint32_t count, uint64_t seed) {
  return Graph(kind, seed).run(count);
}

std::vector<Interval> randomIntervals(uint32_t count, uint32_t steps, uint64_t maxSize,
                                      uint64_t seed) {
  Random random(seed);
  std::vector<Interval> intervals;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t begin = random.below(steps);
    intervals.push_back(
        {begin, begin + 1 + random.below(steps - begin), 1 + random.below(maxSize)});
  }
  return intervals;
}

std::string faultOf(const plan::Problem &problem, const plan::Placement &placement) {
  const uint32_t count = problem.count();
  if (placement.offset.size() != count)
    return std::to_string(placement.offset.size()) + " offsets for " + std::to_string(count) +
           " items";
  std::vector<std::vector<uint32_t>> beginning(problem.stepCount + 1);
  std::vector<std::vector<uint32_t>> ending(problem.stepCount + 1);
  uint64_t height = 0;
  for (uint32_t item = 0; item < count; ++item) {
    beginning[problem.begin[item]].push_back(item);
    ending[problem.end[item]].push_back(item);
    if (placement.offset[item] % problem.alignmentOf(item) != 0)
      return "item " + std::to_string(item) + " is not aligned";
    height = std::max(height, placement.offset[item] + problem.size[item]);
  }
  if (height != placement.height)
    return "the placement's height is " + std::to_string(placement.height) +
           ", but its items reach up to " + std::to_string(height);
  std::map<uint64_t, uint32_t> live; // Items by offset.
  for (uint32_t step = 0; step <= problem.stepCount; ++step) {
    for (const uint32_t item : ending[step])
      live.erase(placement.offset[item]);
    for (const uint32_t item : beginning[step]) {
      const auto [entry, isNew] = live.emplace(placement.offset[item], item);
      const auto above = std::next(entry);
      const bool hitsAbove =
          above != live.end() && placement.offset[item] + problem.size[item] > above->first;
      const bool hitsBelow =
          entry != live.begin() &&
          std::prev(entry)->first + problem.size[std::prev(entry)->second] > entry->first;
      if (!isNew || hitsAbove || hitsBelow)
        return "item " + std::to_string(item) + " overlaps another at step " + std::to_string(step);
    }
  }
  return {};
}

std::vector<Interval> readIntervals(const std::filesystem::path &path) {
  std::vector<Interval> intervals;
  std::ifstream file(path);
  std::string line;
  std::getline(file, line); // The header: id,lower,upper,size.
  while (std::getline(file, line)) {
    unsigned begin = 0;
    unsigned end = 0;
    unsigned long long size = 0;
    if (std::sscanf(line.c_str(), "%*[^,],%u,%u,%llu", &begin, &end, &size) == 3)
      intervals.push_back({begin, end, size});
  }
  return intervals;
}

std::vector<uint32_t> randomRanks(uint32_t count, uint64_t seed) {
  plan::Random random(seed);
  std::vector<uint32_t> ranks(count);
  std::iota(ranks.begin(), ranks.end(), 1u);
  for (uint32_t i = count; i > 1; --i)
    std::swap(ranks[i - 1], ranks[random.below(i)]);
  return ranks;
}

} // namespace gantry::test

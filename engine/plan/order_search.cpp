#include "engine/plan/order_search.h"

#include <algorithm>
#include <bit>
#include <queue>
#include <tuple>
#include <unordered_map>

namespace gantry::plan {

namespace {

constexpr uint32_t kNone = ~0u;

void sortUnique(std::vector<uint32_t> &list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

/// A part in numbers of its own.
struct Local {
  struct Value {
    uint64_t sizeBytes = 0;
    std::vector<uint32_t> readers;
    bool survives = false; // the part's end
  };
  std::vector<Value> values;
  std::vector<OrderGraph::Operator> operators;

  Local(const OrderGraph &graph, const OrderPart &part) {
    std::unordered_map<uint32_t, uint32_t> numbers; // of values
    auto numberOf = [&](uint32_t value) {
      auto [at, added] = numbers.try_emplace(value, values.size());
      if (added)
        values.push_back(localValue(graph.values()[value], part));
      return at->second;
    };
    auto inside = [&](const std::vector<uint32_t> &others, std::vector<uint32_t> &out) {
      for (uint32_t other : others)
        if (uint32_t at = (*part.positions)[other] - part.first; at < part.count)
          out.push_back(at);
    };
    for (uint32_t i = 0; i < part.count; ++i) {
      const OrderGraph::Operator &from = graph.operators()[(*part.order)[part.first + i]];
      OrderGraph::Operator op;
      for (uint32_t value : from.reads)
        op.reads.push_back(numberOf(value));
      for (uint32_t value : from.writes)
        op.writes.push_back(numberOf(value));
      for (uint32_t value : from.mayTake)
        op.mayTake.push_back(numberOf(value));
      inside(from.before, op.before);
      inside(from.after, op.after);
      operators.push_back(std::move(op));
    }
  }

  static Value localValue(const OrderGraph::Value &from, const OrderPart &part) {
    Value value{from.sizeBytes, {}, from.kept};
    for (uint32_t reader : from.readers) {
      const uint32_t position = (*part.positions)[reader];
      if (position >= part.first + part.count)
        value.survives = true;
      else if (position >= part.first)
        value.readers.push_back(position - part.first);
    }
    return value;
  }

  struct Step {
    uint64_t during, after; // bytes alive
  };
  /// Runs an operator where `alive` bytes are alive and done(i) tells which have run.
  template <typename Done> Step run(uint32_t at, uint64_t alive, Done done) const {
    const OrderGraph::Operator &op = operators[at];
    auto diesHere = [&](const Value &value) {
      return !value.survives && std::all_of(value.readers.begin(), value.readers.end(),
                                            [&](uint32_t r) { return r == at || done(r); });
    };
    Step step{alive, alive};
    for (uint32_t value : op.writes)
      step.during += values[value].sizeBytes;
    step.after = step.during;
    for (uint32_t value : op.mayTake)
      if (values[value].sizeBytes == values[op.writes[0]].sizeBytes && diesHere(values[value])) {
        step.during -= values[value].sizeBytes;
        break;
      }
    for (uint32_t value : op.reads)
      if (diesHere(values[value]))
        step.after -= values[value].sizeBytes;
    for (uint32_t value : op.writes)
      if (values[value].readers.empty() && !values[value].survives)
        step.after -= values[value].sizeBytes;
    return step;
  }
};

std::vector<uint32_t> globalOrder(const OrderPart &part, const std::vector<uint32_t> &local) {
  std::vector<uint32_t> order;
  for (uint32_t at : local)
    order.push_back((*part.order)[part.first + at]);
  return order;
}

} // namespace

OrderGraph::OrderGraph(const OrderProblem &problem) {
  std::vector<uint32_t> writer(problem.values.size(), kNone), number(problem.values.size(), kNone);
  for (uint32_t i = 0; i < problem.operators.size(); ++i)
    for (uint32_t value : problem.operators[i].writes)
      writer[value] = i;
  for (uint32_t v = 0; v < problem.values.size(); ++v) {
    if (writer[v] == kNone)
      continue;
    number[v] = values_.size();
    values_.push_back({problem.values[v].sizeBytes, writer[v], {}, problem.values[v].kept});
  }
  auto written = [&](const std::vector<uint32_t> &from, bool sorted) {
    std::vector<uint32_t> out;
    for (uint32_t value : from)
      if (number[value] != kNone)
        out.push_back(number[value]);
    if (sorted)
      sortUnique(out);
    return out;
  };
  operators_.resize(problem.operators.size());
  for (uint32_t i = 0; i < operators_.size(); ++i) {
    Operator &op = operators_[i];
    op.reads = written(problem.operators[i].reads, true);
    op.writes = written(problem.operators[i].writes, false);
    op.mayTake = written(problem.operators[i].mayTake, false);
    for (uint32_t value : op.reads) {
      values_[value].readers.push_back(i);
      op.before.push_back(values_[value].writer);
    }
    sortUnique(op.before);
    for (uint32_t other : op.before)
      operators_[other].after.push_back(i);
  }
}

uint64_t OrderGraph::workingSet(uint32_t at) const {
  const Operator &op = operators_[at];
  uint64_t bytes = 0, credit = 0;
  for (uint32_t value : op.reads)
    bytes += values_[value].sizeBytes;
  for (uint32_t value : op.writes)
    bytes += values_[value].sizeBytes;
  for (uint32_t value : op.mayTake)
    if (!values_[value].kept && values_[value].sizeBytes == values_[op.writes[0]].sizeBytes)
      credit = values_[value].sizeBytes;
  return bytes - credit;
}

OrderGraph::Walk OrderGraph::walk(const std::vector<uint32_t> &order) const {
  std::vector<uint32_t> positions(order.size());
  for (uint32_t p = 0; p < order.size(); ++p)
    positions[order[p]] = p;
  const auto count = static_cast<uint32_t>(order.size());
  Local local(*this, {&order, &positions, 0, count, 0});
  Walk walk;
  uint64_t alive = 0;
  for (uint32_t p = 0; p < count; ++p) {
    Local::Step step = local.run(p, alive, [&](uint32_t other) { return other < p; });
    walk.beforeBytes.push_back(alive);
    walk.atBytes.push_back(step.during);
    if (step.during > walk.peakBytes) {
      walk.peakBytes = step.during;
      walk.peakAt = p;
    }
    alive = step.after;
  }
  return walk;
}

PartResult searchPartExactly(const OrderGraph &graph, const OrderPart &part, uint64_t belowBytes,
                             uint64_t enoughBytes, uint64_t maxStates, uint64_t &work) {
  const Local local(graph, part);
  const uint64_t all = part.count == 64 ? ~uint64_t{0} : (uint64_t{1} << part.count) - 1;
  std::vector<uint64_t> before(part.count, 0);
  for (uint32_t i = 0; i < part.count; ++i)
    for (uint32_t other : local.operators[i].before)
      before[i] |= uint64_t{1} << other;

  // A state is a set of operators that have run. Its bytes alive follow from the set; its peak is
  // the least over the ways that lead there. Peaks up to enoughBytes are all the same.
  struct State {
    uint64_t peak, alive;
    uint8_t last;
    bool closed;
  };
  struct Entry {
    uint64_t peak, set;
    bool operator<(const Entry &other) const { // the queue's top is the largest
      if (peak != other.peak)
        return peak > other.peak;
      const int mine = std::popcount(set), theirs = std::popcount(other.set);
      return mine != theirs ? mine < theirs : set > other.set;
    }
  };
  std::unordered_map<uint64_t, State> states;
  std::priority_queue<Entry> queue;
  states[0] = {enoughBytes, part.aliveBefore, 0, false};
  queue.push({enoughBytes, 0});
  PartResult result;
  uint64_t looked = 0;
  while (!queue.empty()) {
    const Entry top = queue.top();
    queue.pop();
    State &known = states[top.set];
    if (known.closed || top.peak != known.peak)
      continue;
    known.closed = true;
    const State state = known;
    if (top.set == all) {
      std::vector<uint32_t> order;
      for (uint64_t set = all; set != 0; set &= ~(uint64_t{1} << states[set].last))
        order.push_back(states[set].last);
      std::reverse(order.begin(), order.end());
      result.operators = globalOrder(part, order);
      result.peakBytes = state.peak;
      result.found = result.exhausted = true;
      return result;
    }
    if (++looked > maxStates || work == 0)
      return result;
    --work;
    auto done = [&](uint32_t i) { return (top.set >> i & 1) != 0; };
    auto reach = [&](uint32_t i, const Local::Step &step) {
      const uint64_t peak = std::max(state.peak, step.during), set = top.set | uint64_t{1} << i;
      if (peak >= belowBytes)
        return;
      auto [at, added] =
          states.try_emplace(set, State{peak, step.after, static_cast<uint8_t>(i), false});
      if (!added) {
        if (peak >= at->second.peak)
          return;
        at->second.peak = peak;
        at->second.last = static_cast<uint8_t>(i);
      }
      queue.push({peak, set});
    };
    // What costs nothing now can be run now: all that comes later has no more alive than it would.
    std::vector<std::pair<uint32_t, Local::Step>> steps;
    for (uint32_t i = 0; i < part.count; ++i) {
      if (done(i) || (before[i] & ~top.set) != 0)
        continue;
      const Local::Step step = local.run(i, state.alive, done);
      if (step.during <= state.peak && step.after <= state.alive) {
        steps = {{i, step}};
        break;
      }
      steps.emplace_back(i, step);
    }
    for (auto &[i, step] : steps)
      reach(i, step);
  }
  result.exhausted = true;
  return result;
}

PartResult searchPartByBeam(const OrderGraph &graph, const OrderPart &part, uint64_t enoughBytes,
                            unsigned width, uint64_t &work) {
  const Local local(graph, part);
  const uint32_t words = (part.count + 63) / 64;
  struct State {
    std::vector<uint64_t> set;
    std::vector<uint32_t> ready;
    uint64_t peak, alive, hash;
    uint32_t trail; // position in `trails`
  };
  struct Trail {
    uint32_t previous, op;
  };
  struct Candidate {
    uint64_t peak, alive, hash;
    uint32_t from, op;
  };
  auto mix = [](uint64_t x) { // splitmix64
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  };
  std::vector<Trail> trails;
  std::vector<State> beam(1);
  beam[0] = {std::vector<uint64_t>(words, 0), {}, enoughBytes, part.aliveBefore, 0, kNone};
  for (uint32_t i = 0; i < part.count; ++i)
    if (local.operators[i].before.empty())
      beam[0].ready.push_back(i);
  auto isDone = [](const State &state) {
    return [&state](uint32_t i) { return (state.set[i / 64] >> (i % 64) & 1) != 0; };
  };
  for (uint32_t step = 0; step < part.count; ++step) {
    std::vector<Candidate> candidates;
    for (uint32_t s = 0; s < beam.size(); ++s) {
      const size_t first = candidates.size();
      for (uint32_t op : beam[s].ready) {
        const Local::Step next = local.run(op, beam[s].alive, isDone(beam[s]));
        const Candidate candidate{std::max(beam[s].peak, next.during), next.after,
                                  beam[s].hash ^ mix(op), s, op};
        work -= std::min<uint64_t>(work, 1);
        if (next.during <= beam[s].peak && next.after <= beam[s].alive) {
          candidates.resize(first);
          candidates.push_back(candidate);
          break;
        }
        candidates.push_back(candidate);
      }
    }
    std::sort(candidates.begin(), candidates.end(), [](const Candidate &a, const Candidate &b) {
      return std::tie(a.peak, a.alive, a.hash, a.from) < std::tie(b.peak, b.alive, b.hash, b.from);
    });
    std::vector<State> next;
    std::unordered_map<uint64_t, bool> seen; // equal sets: the first has the least peak
    const unsigned most = work == 0 ? 1 : width;
    for (const Candidate &candidate : candidates) {
      if (next.size() == most)
        break;
      if (!seen.try_emplace(candidate.hash, true).second)
        continue;
      const State &from = beam[candidate.from];
      State state = {from.set,        from.ready,     candidate.peak,
                     candidate.alive, candidate.hash, static_cast<uint32_t>(trails.size())};
      trails.push_back({from.trail, candidate.op});
      state.set[candidate.op / 64] |= uint64_t{1} << (candidate.op % 64);
      std::erase(state.ready, candidate.op);
      for (uint32_t after : local.operators[candidate.op].after) {
        const auto &needs = local.operators[after].before;
        if (std::all_of(needs.begin(), needs.end(), isDone(state)))
          state.ready.push_back(after);
      }
      next.push_back(std::move(state));
    }
    beam = std::move(next);
  }
  PartResult result;
  std::vector<uint32_t> order;
  for (uint32_t at = beam[0].trail; at != kNone; at = trails[at].previous)
    order.push_back(trails[at].op);
  std::reverse(order.begin(), order.end());
  result.operators = globalOrder(part, order);
  result.peakBytes = beam[0].peak;
  result.found = true;
  return result;
}

} // namespace gantry::plan

// Implements OrderGraph and PartGraph.
#include "engine/plan/order/order_graph.h"

#include <unordered_map>

namespace gantry::plan {

namespace {

constexpr uint32_t kNoNumber = UINT32_MAX;

/// Sorts the elements from `first` on, and removes the repeated ones among them.
void sortUnique(std::vector<uint32_t> &list, size_t first = 0) {
  const auto begin = list.begin() + static_cast<std::ptrdiff_t>(first);
  std::sort(begin, list.end());
  list.erase(std::unique(begin, list.end()), list.end());
}

PartGraph::Value partValue(const OrderGraph::Value &from, const OrderPart &part) {
  PartGraph::Value value{from.sizeBytes, {}, {}, false, from.kept};
  const uint32_t end = part.first + part.count;
  for (const uint32_t writer : from.writers) {
    const uint32_t position = (*part.positions)[writer];
    value.begun = value.begun || position < part.first;
    value.survives = value.survives || position >= end;
    if (position >= part.first && position < end)
      value.writers.push_back(position - part.first);
  }
  for (const uint32_t reader : from.readers) {
    const uint32_t position = (*part.positions)[reader];
    value.survives = value.survives || position >= end;
    if (position >= part.first && position < end)
      value.readers.push_back(position - part.first);
  }
  return value;
}

} // namespace

// Adds the values and storages that operators write. Returns, for each value of the problem, its
// number in the graph, or kNoNumber if no operator writes it.
std::vector<uint32_t> OrderGraph::addValues(const OrderProblem &problem) {
  std::vector<uint32_t> storageOf(problem.values.size(), kNoNumber);
  for (uint32_t s = 0; s < problem.storages.size(); ++s)
    for (const uint32_t value : problem.storages[s].values)
      storageOf[value] = s;
  std::vector<uint32_t> writer(problem.values.size(), kNoNumber);
  for (uint32_t i = 0; i < problem.operators.size(); ++i)
    for (const uint32_t value : problem.operators[i].writes)
      writer[value] = i;
  std::vector<uint32_t> numbers(problem.values.size(), kNoNumber);
  std::vector<uint32_t> numberOfStorage(problem.storages.size(), kNoNumber);
  for (uint32_t v = 0; v < problem.values.size(); ++v) {
    if (writer[v] == kNoNumber)
      continue;
    uint32_t unshared = kNoNumber;
    const uint32_t storage = storageOf[v];
    uint32_t &number = storage == kNoNumber ? unshared : numberOfStorage[storage];
    if (number == kNoNumber) {
      number = static_cast<uint32_t>(values_.size());
      values_.push_back(
          {storage == kNoNumber ? problem.values[v].sizeBytes : problem.storages[storage].sizeBytes,
           v,
           {},
           {},
           false,
           storage == kNoNumber && problem.values[v].mayLeave});
    }
    numbers[v] = number;
    values_[number].writers.push_back(writer[v]);
    values_[number].kept = values_[number].kept || problem.values[v].kept;
  }
  for (Value &value : values_)
    sortUnique(value.writers);
  return numbers;
}

OrderGraph::OrderGraph(const OrderProblem &problem) {
  const std::vector<uint32_t> numbers = addValues(problem);
  const auto renumbered = [&](const std::vector<uint32_t> &from) {
    std::vector<uint32_t> list;
    for (const uint32_t value : from)
      if (numbers[value] != kNoNumber)
        list.push_back(numbers[value]);
    return list;
  };
  std::vector<uint32_t> writer(problem.values.size(), kNoNumber);
  operators_.resize(problem.operators.size());
  for (uint32_t i = 0; i < operators_.size(); ++i) {
    Operator &op = operators_[i];
    op.reads = renumbered(problem.operators[i].reads);
    sortUnique(op.reads);
    op.writes = renumbered(problem.operators[i].writes);
    // Two results may lie in one storage, which is then listed once. The first result stays the
    // first if it may take an operand's bytes; it is then in no storage.
    if (!problem.storages.empty() && op.writes.size() > 1)
      sortUnique(op.writes, /*first=*/problem.operators[i].mayTake.empty() ? 0 : 1);
    op.mayTake = renumbered(problem.operators[i].mayTake);
    for (const uint32_t value : op.reads)
      values_[value].readers.push_back(i);
    for (const uint32_t value : problem.operators[i].reads)
      if (writer[value] != kNoNumber)
        op.before.push_back(writer[value]);
    sortUnique(op.before);
    for (const uint32_t other : op.before)
      operators_[other].after.push_back(i);
    for (const uint32_t value : problem.operators[i].writes)
      writer[value] = i;
  }
}

uint64_t OrderGraph::workingSet(uint32_t at) const {
  const Operator &op = operators_[at];
  uint64_t bytes = 0;
  uint64_t takenBytes = 0;
  for (const uint32_t value : op.reads)
    bytes += values_[value].sizeBytes;
  for (const uint32_t value : op.writes)
    if (!std::binary_search(op.reads.begin(), op.reads.end(), value))
      bytes += values_[value].sizeBytes;
  for (const uint32_t value : op.mayTake)
    if (!values_[value].kept && values_[value].sizeBytes == values_[op.writes[0]].sizeBytes)
      takenBytes = values_[value].sizeBytes;
  return bytes - takenBytes;
}

OrderGraph::Walk OrderGraph::walk(const std::vector<uint32_t> &order) const {
  const auto count = static_cast<uint32_t>(order.size());
  std::vector<uint32_t> positions(count);
  for (uint32_t p = 0; p < count; ++p)
    positions[order[p]] = p;
  const PartGraph whole(*this, {&order, &positions, 0, count, 0});
  Walk walk;
  uint64_t aliveBytes = 0;
  for (uint32_t p = 0; p < count; ++p) {
    const PartGraph::Step step =
        whole.run(p, aliveBytes, [&](uint32_t other) { return other < p; });
    walk.beforeBytes.push_back(aliveBytes);
    walk.atBytes.push_back(step.during);
    walk.peakBytes = std::max(walk.peakBytes, step.during);
    aliveBytes = step.after;
  }
  return walk;
}

PartGraph::PartGraph(const OrderGraph &graph, const OrderPart &part) {
  std::unordered_map<uint32_t, uint32_t> numbers; // From a value of the graph to its number here.
  const auto numberOf = [&](uint32_t value) {
    const auto [at, added] = numbers.try_emplace(value, static_cast<uint32_t>(values.size()));
    if (added)
      values.push_back(partValue(graph.values()[value], part));
    return at->second;
  };
  const auto inside = [&](const std::vector<uint32_t> &operators) {
    std::vector<uint32_t> list;
    for (const uint32_t op : operators)
      if (const uint32_t at = (*part.positions)[op] - part.first; at < part.count)
        list.push_back(at);
    return list;
  };
  for (uint32_t i = 0; i < part.count; ++i) {
    const OrderGraph::Operator &from = graph.operators()[(*part.order)[part.first + i]];
    OrderGraph::Operator op;
    for (const uint32_t value : from.reads)
      op.reads.push_back(numberOf(value));
    for (const uint32_t value : from.writes)
      op.writes.push_back(numberOf(value));
    for (const uint32_t value : from.mayTake)
      op.mayTake.push_back(numberOf(value));
    op.before = inside(from.before);
    op.after = inside(from.after);
    operators.push_back(std::move(op));
  }
}

} // namespace gantry::plan

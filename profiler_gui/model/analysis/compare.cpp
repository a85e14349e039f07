// Implements compareCaptures().
#include "profiler_gui/model/analysis/compare.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <utility>

namespace gantry::profiler {
namespace {

/// A list of rows with an index by name.
class Rows {
public:
  /// Returns the row with this name, and adds it if there is none. An empty name becomes "unnamed".
  ComparedRow &row(std::string_view name) {
    const std::string key = name.empty() ? "unnamed" : std::string(name);
    const auto [found, isNew] = indexOf_.emplace(key, rows_.size());
    if (isNew) {
      rows_.emplace_back();
      rows_.back().name = key;
    }
    return rows_[found->second];
  }
  std::vector<ComparedRow> &all() { return rows_; }

private:
  std::vector<ComparedRow> rows_;
  std::unordered_map<std::string, size_t> indexOf_;
};

/// Sums over the blocks or dispatches of one name id in one capture. addRows() matches the names of
/// the two captures by their text.
struct Sums {
  uint64_t bytes = 0;
  double timeNs = 0;
  double count = 0;
};
using SumsOfName = std::unordered_map<uint32_t, Sums>;

/// Adds the sums of capture `side` to the rows. If `meanTime` is true, a row's time is its total
/// time divided by its count; otherwise it is the total time.
void addRows(const CaptureModel &model, const SumsOfName &sums, size_t side, bool meanTime,
             Rows *rows) {
  for (const auto &[name, sum] : sums) {
    ComparedRow &row = rows->row(model.text(name));
    // Several ids may have the same text and so the same row; the mean covers all of them.
    const double before = row.timeNs[side] * (meanTime ? row.count[side] : 1);
    row.bytes[side] += sum.bytes;
    row.count[side] += sum.count;
    row.timeNs[side] = before + sum.timeNs;
    if (meanTime && row.count[side] > 0)
      row.timeNs[side] /= row.count[side];
  }
}

/// Returns the first time, in ns, at which the sum of the live blocks' sizes reaches its max, and
/// this max in bytes. Merges the sorted begin times and end times.
std::pair<uint64_t, uint64_t> peakOf(const BlockTable &table) {
  std::vector<std::pair<uint64_t, uint64_t>> begins; // Time and bytes.
  std::vector<std::pair<uint64_t, uint64_t>> ends;
  begins.reserve(table.size());
  ends.reserve(table.size());
  for (uint32_t row = 0; row < table.size(); ++row) {
    begins.emplace_back(table.beginNs(row), table.sizeBytes(row));
    ends.emplace_back(table.endNs(row), table.sizeBytes(row));
  }
  std::sort(begins.begin(), begins.end());
  std::sort(ends.begin(), ends.end());
  uint64_t held = 0;
  uint64_t peakBytes = 0;
  uint64_t peakNs = 0;
  size_t ended = 0;
  for (const auto &[time, bytes] : begins) {
    for (; ended < ends.size() && ends[ended].first <= time; ++ended)
      held -= std::min(held, ends[ended].second);
    held += bytes;
    if (held > peakBytes) {
      peakBytes = held;
      peakNs = time;
    }
  }
  return {peakNs, peakBytes};
}

/// Adds a block to a sum: its bytes if it is live at atNs, the length of its lifetime up to nowNs,
/// and 1 to the count.
void addBlock(const BlockTable &table, uint32_t row, uint64_t atNs, uint64_t nowNs, Sums *sum) {
  const uint64_t begin = table.beginNs(row);
  const uint64_t end = table.endNs(row);
  sum->bytes += begin <= atNs && atNs < end ? table.sizeBytes(row) : 0;
  sum->timeNs += static_cast<double>(std::min(end, nowNs) - std::min(begin, nowNs));
  sum->count += 1;
}

/// Returns the entry with index `number`, from 0, among the entries with this name. Appends an
/// entry with this name if there is no such index.
ComparedMemory &nth(std::vector<ComparedMemory> &list, const std::string &name, size_t number) {
  for (ComparedMemory &each : list) {
    if (each.name == name && number-- == 0)
      return each;
  }
  list.emplace_back();
  list.back().name = name;
  return list.back();
}

/// Adds one capture to a comparison; `side` is 0 or 1.
class Side {
public:
  Side(const CaptureModel &model, size_t side, Comparison *out)
      : model_(model), side_(side), out_(out) {}

  void addHeaps(Rows *rows) {
    std::map<std::string, size_t> seen;
    std::unordered_map<uint16_t, uint64_t> peakNs;
    for (const Heap &heap : model_.heaps()) {
      const std::string_view text = model_.text(heap.name);
      const std::string name = text.empty() ? "heap" : std::string(text);
      ComparedMemory &memory = nth(out_->heaps, name, seen[name]++);
      memory.peakBytes[side_] = heap.live.peak();
      memory.peakNs[side_] = heap.live.peakNs();
      memory.reservedBytes[side_] = heap.reserved.peak();
      peakNs[heap.id] = heap.live.peakNs();
    }
    SumsOfName sums;
    for (const AddressSpace &space : model_.spaces()) {
      if (space.kind != SpaceKind::kSlab)
        continue;
      for (uint32_t row = 0; row < space.table.size(); ++row)
        addBlock(space.table, row, peakNs[space.heap], model_.nowNs(),
                 &sums[space.table.name(row)]);
    }
    addRows(model_, sums, side_, true, rows);
  }

  void addArenas(Rows *values, Rows *operators) {
    std::map<std::string, size_t> seen;
    SumsOfName byName;
    SumsOfName byOperator;
    for (const Session &session : model_.sessions()) {
      if (session.arenaSpace >= model_.spaces().size())
        continue;
      const AddressSpace &space = model_.spaces()[session.arenaSpace];
      const std::string_view text = model_.text(session.program);
      const std::string name = text.empty() ? "program" : std::string(text);
      ComparedMemory &memory = nth(out_->arenas, name, seen[name]++);
      const auto [atNs, peakBytes] = peakOf(space.table);
      memory.peakBytes[side_] = peakBytes;
      memory.peakNs[side_] = atNs;
      memory.reservedBytes[side_] = space.sizeBytes;
      for (uint32_t row = 0; row < space.table.size(); ++row) {
        addBlock(space.table, row, atNs, model_.nowNs(), &byName[space.table.name(row)]);
        if (space.table.beginNs(row) <= atNs && atNs < space.table.endNs(row))
          byOperator[space.table.op(row)].bytes += space.table.sizeBytes(row);
      }
    }
    addRows(model_, byName, side_, true, values);
    addRows(model_, byOperator, side_, false, operators);
  }

  void addDispatches(Rows *operators) {
    double ended = 0;
    double timed = 0; // Not every run has device times.
    for (const Run &run : model_.runs()) {
      if (run.endNs == kStillHeld)
        continue;
      ended += 1;
      timed += run.dispatchCount > 0 ? 1 : 0;
      out_->runNs[side_] += static_cast<double>(run.endNs - std::min(run.beginNs, run.endNs));
    }
    out_->runNs[side_] /= std::max(1.0, ended);
    const double runs = std::max(1.0, timed);
    SumsOfName sums;
    for (uint32_t i = 0; i < model_.dispatches().size(); ++i) {
      const Dispatch &dispatch = model_.dispatches()[i];
      const Run &run = model_.runs()[dispatch.run];
      if (run.endNs == kStillHeld || run.plan >= model_.plans().size() ||
          dispatch.command >= model_.plans()[run.plan].commands.size())
        continue;
      Sums &sum = sums[model_.plans()[run.plan].commands[dispatch.command].name];
      sum.timeNs += static_cast<double>(dispatch.endNs - dispatch.beginNs) / runs;
      sum.count += 1 / runs;
    }
    addRows(model_, sums, side_, false, operators);
  }

private:
  const CaptureModel &model_;
  size_t side_;
  Comparison *out_;
};

template <typename Key> void sortBy(std::vector<ComparedRow> &rows, Key key) {
  std::sort(rows.begin(), rows.end(), [&](const ComparedRow &a, const ComparedRow &b) {
    const double first = key(a);
    const double second = key(b);
    return first != second ? first > second : a.name < b.name;
  });
}

} // namespace

Comparison compareCaptures(const CaptureModel &first, const CaptureModel &second) {
  Comparison comparison;
  Rows blocks;
  Rows values;
  Rows operators;
  for (const size_t number : {size_t{0}, size_t{1}}) {
    Side side(number == 0 ? first : second, number, &comparison);
    side.addHeaps(&blocks);
    side.addArenas(&values, &operators);
    side.addDispatches(&operators);
  }
  const auto byBytes = [](const ComparedRow &row) {
    return std::abs(static_cast<double>(row.bytesMore()));
  };
  sortBy(blocks.all(), byBytes);
  sortBy(values.all(), byBytes);
  sortBy(operators.all(), [](const ComparedRow &row) { return std::abs(row.timeMore()); });
  comparison.blocks = std::move(blocks.all());
  comparison.values = std::move(values.all());
  comparison.operators = std::move(operators.all());
  return comparison;
}

} // namespace gantry::profiler

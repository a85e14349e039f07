// Implements OperatorTable and operatorLines().
#include "profiler_gui/model/analysis/operator_table.h"

#include <algorithm>

namespace gantry::profiler {
namespace {

uint64_t commandKey(uint32_t plan, uint32_t command) {
  return (static_cast<uint64_t>(plan) << 32) | command;
}

/// Returns the number by which `column` sorts the line; -1 if the line has no value there, 0 for
/// the column of names.
double valueOf(const OperatorLine &line, OperatorColumn column) {
  const OperatorRow &row = line.any();
  const auto orNone = [](double value) { return value > 0 ? value : -1; };
  switch (column) {
  case OperatorColumn::kTime:
  case OperatorColumn::kShare:
    return orNone(line.timeNs);
  case OperatorColumn::kSecondTime:
    return orNone(line.secondTimeNs);
  case OperatorColumn::kRatio:
    return orNone(line.ratio());
  case OperatorColumn::kCalls:
    return static_cast<double>(row.calls);
  case OperatorColumn::kBytes:
    return orNone(row.bytes);
  case OperatorColumn::kFlops:
    return orNone(row.gflops());
  case OperatorColumn::kTraffic:
    return orNone(row.gigabytes());
  case OperatorColumn::kShared:
    return row.sharedBytes;
  case OperatorColumn::kName:
    break;
  }
  return 0;
}

} // namespace

void OperatorTable::update(const CaptureModel &model) {
  for (; seen_ < model.dispatches().size(); ++seen_) {
    const Dispatch &dispatch = model.dispatches()[seen_];
    const PlanCommand *command = model.commandOf(dispatch);
    if (command == nullptr)
      continue;
    const uint64_t key = commandKey(model.runs()[dispatch.run].plan, dispatch.command);
    auto known = rowOfCommand_.find(key);
    if (known == rowOfCommand_.end()) {
      const std::string_view text = model.text(command->name);
      const std::string name = text.empty() ? "unnamed" : std::string(text);
      const auto [found, isNew] = rowOfName_.emplace(name, static_cast<uint32_t>(rows_.size()));
      if (isNew) {
        rows_.emplace_back();
        rows_.back().name = name;
        rows_.back().kind = command->kind;
        rows_.back().longest = seen_;
      }
      known = rowOfCommand_.emplace(key, found->second).first;
    }
    OperatorRow &row = rows_[known->second];
    ++row.calls;
    row.bytes += static_cast<double>(command->bytesMoved);
    row.sharedBytes = std::max(row.sharedBytes, dispatch.sharedBytes);
    if (dispatch.estimated)
      continue;
    const auto length = static_cast<double>(dispatch.endNs - dispatch.beginNs);
    ++row.timedCalls;
    row.timeNs += length;
    timeNs_ += length;
    row.timedFlops += static_cast<double>(command->flops);
    row.timedBytes += static_cast<double>(command->bytesMoved);
    if (length > row.longestNs) {
      row.longestNs = length;
      row.longest = seen_;
    }
  }
}

const OperatorRow *OperatorTable::find(const std::string &name) const {
  const auto at = rowOfName_.find(name);
  return at == rowOfName_.end() ? nullptr : &rows_[at->second];
}

std::vector<OperatorLine> operatorLines(const OperatorTables &tables, OperatorColumn column,
                                        bool descending) {
  std::vector<OperatorLine> lines;
  const bool comparing = tables.second != nullptr;
  const double firstRuns =
      comparing ? std::max<double>(1, static_cast<double>(tables.firstRuns)) : 1;
  const double secondRuns = std::max<double>(1, static_cast<double>(tables.secondRuns));
  for (const OperatorRow &row : tables.first->rows()) {
    OperatorLine line;
    line.first = &row;
    line.second = comparing ? tables.second->find(row.name) : nullptr;
    line.timeNs = row.timeNs / firstRuns;
    line.secondTimeNs = line.second != nullptr ? line.second->timeNs / secondRuns : 0;
    lines.push_back(line);
  }
  for (size_t i = 0; comparing && i < tables.second->rows().size(); ++i) {
    const OperatorRow &row = tables.second->rows()[i];
    if (tables.first->find(row.name) == nullptr)
      lines.push_back({nullptr, &row, 0, row.timeNs / secondRuns});
  }
  std::sort(lines.begin(), lines.end(), [&](const OperatorLine &a, const OperatorLine &b) {
    const double first = valueOf(a, column);
    const double second = valueOf(b, column);
    if ((first < 0) != (second < 0))
      return second < 0;
    if (first != second)
      return descending ? first > second : first < second;
    const bool byName = column == OperatorColumn::kName && descending;
    return byName ? a.any().name > b.any().name : a.any().name < b.any().name;
  });
  return lines;
}

} // namespace gantry::profiler

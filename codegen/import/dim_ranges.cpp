// Implements DimRanges: checks the ranges of sizes and finds them by the names of dimensions.
#include "codegen/import/dim_ranges.h"

#include "codegen/import/onnx/import_error.h"

#include <algorithm>

namespace gantry::importer {

DimRanges::DimRanges(const std::vector<DimRange> &ranges) : ranges_(ranges) {
  for (const DimRange &range : ranges)
    if (range.minSize < 1 || range.minSize > range.maxSize)
      failBadInput("sizes " + llvm::Twine(range.minSize) + " to " + llvm::Twine(range.maxSize) +
                   " for the dimension '" + range.name +
                   "' are impossible; they start at 1, and the maximum is not below the minimum");
}

const DimRange *DimRanges::find(llvm::StringRef name) {
  seen_.insert(name);
  auto at = llvm::find_if(ranges_, [&](const DimRange &range) { return range.name == name; });
  return at == ranges_.end() ? nullptr : &*at;
}

void DimRanges::checkUsed() const {
  for (const DimRange &range : ranges_) {
    if (seen_.contains(range.name))
      continue;
    std::vector<std::string> names;
    for (const auto &entry : seen_)
      names.push_back("'" + entry.getKey().str() + "'");
    std::sort(names.begin(), names.end());
    std::string list;
    for (const std::string &name : names)
      list += (list.empty() ? "" : ", ") + name;
    failBadInput("no dynamic dimension is called '" + range.name + "'; " +
                 (list.empty() ? "the model has none" : "the model has " + list));
  }
}

} // namespace gantry::importer

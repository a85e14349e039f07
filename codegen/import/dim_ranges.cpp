#include "codegen/import/dim_ranges.h"

#include "codegen/import/onnx/import_error.h"

#include <algorithm>

namespace gantry::importer {

DimRanges::DimRanges(const std::vector<DimRange> &ranges) : ranges_(ranges) {
  for (const DimRange &range : ranges)
    if (range.least < 1 || range.least > range.most)
      failBadInput("sizes " + llvm::Twine(range.least) + " to " + llvm::Twine(range.most) +
                   " for the dimension '" + range.name + "'; they begin at 1 and do not fall");
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

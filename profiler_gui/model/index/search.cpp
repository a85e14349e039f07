// Implements the parsing of queries and the search.
#include "profiler_gui/model/index/search.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>

namespace gantry::profiler {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

bool parseAddress(const std::string &text, uint64_t *address) {
  char *end = nullptr;
  *address = std::strtoull(text.c_str(), &end, 16);
  return end != text.c_str() && *end == '\0';
}

Status parseWord(const std::string &word, Query *query) {
  if (word[0] == '>' || word[0] == '<') {
    uint64_t bytes = 0;
    if (!parseSize(word.substr(1), &bytes))
      return statusf(StatusCode::kInvalidArgument,
                     "'%s': a size is a number with B, KiB, MiB or GiB, as in >4MiB", word.c_str());
    (word[0] == '>' ? query->minBytes : query->maxBytes) = bytes;
    return Status::ok();
  }
  if (word.starts_with("0x")) {
    const size_t dash = word.find('-');
    uint64_t low = 0;
    bool good = parseAddress(word.substr(0, dash), &low);
    uint64_t high = low + 1;
    if (dash != std::string::npos)
      good = good && parseAddress(word.substr(dash + 1), &high);
    if (!good || high <= low)
      return statusf(StatusCode::kInvalidArgument,
                     "'%s': an address is written 0x1000, and a range of addresses "
                     "0x1000-0x2000, with the lower one first",
                     word.c_str());
    query->lowAddress = low;
    query->highAddress = high;
    return Status::ok();
  }
  query->words.push_back(lower(word));
  return Status::ok();
}

} // namespace

bool parseSize(const std::string &text, uint64_t *bytes) {
  char *end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || !(number >= 0))
    return false;
  const std::string unit = lower(end);
  double factor = 0;
  if (unit.empty() || unit == "b")
    factor = 1;
  else if (unit == "k" || unit == "kb" || unit == "kib")
    factor = 1024.0;
  else if (unit == "m" || unit == "mb" || unit == "mib")
    factor = 1024.0 * 1024;
  else if (unit == "g" || unit == "gb" || unit == "gib")
    factor = 1024.0 * 1024 * 1024;
  if (factor == 0 || number * factor > 9e18)
    return false;
  *bytes = static_cast<uint64_t>(number * factor);
  return true;
}

Result<Query> parseQuery(const std::string &text) {
  Query query;
  std::istringstream words(text);
  for (std::string word; words >> word;)
    GANTRY_RETURN_IF_ERROR(parseWord(word, &query));
  return query;
}

bool SearchResult::hasName(const std::string &text) const {
  const std::string name = lower(text);
  return std::all_of(query.words.begin(), query.words.end(),
                     [&](const std::string &word) { return name.find(word) != std::string::npos; });
}

SearchResult search(const CaptureModel &model, const Query &query) {
  SearchResult result;
  result.query = query;
  if (query.empty())
    return result;
  result.names.resize(model.nameCount());
  for (uint32_t id = 1; id < model.nameCount(); ++id) {
    result.names[id] = result.hasName(std::string(model.text(id)));
  }
  for (uint32_t space = 0; space < model.spaces().size(); ++space) {
    const BlockTable &table = model.spaces()[space].table;
    for (uint32_t row = 0; row < table.size(); ++row) {
      if (!result.has(table.at(row)))
        continue;
      ++result.count;
      if (result.hits.size() < SearchResult::kMaxHits)
        result.hits.push_back({space, row});
    }
  }
  for (uint32_t i = 0; !query.words.empty() && i < model.dispatches().size(); ++i) {
    const PlanCommand *command = model.commandOf(model.dispatches()[i]);
    result.dispatches += command != nullptr && result.has(*command) ? 1 : 0;
  }
  std::stable_sort(result.hits.begin(), result.hits.end(),
                   [&](const SearchHit &a, const SearchHit &b) {
                     return model.spaces()[a.space].table.beginNs(a.row) <
                            model.spaces()[b.space].table.beginNs(b.row);
                   });
  return result;
}

} // namespace gantry::profiler

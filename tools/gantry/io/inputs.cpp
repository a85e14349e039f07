// Implements inputs.h.
#include "tools/gantry/io/inputs.h"

#include "tools/gantry/error.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <limits>

namespace gantry::tool {
namespace {

[[noreturn]] void bad(const std::string &message) { throw ToolError(ExitCode::kBadInput, message); }

/// SplitMix64 (Steele, Lea, Flood 2014): the state may have any value, also 0.
uint64_t nextRandom(uint64_t &state) {
  uint64_t z = (state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

Tensor emptyTensor(gantry_type_t type, const std::vector<int64_t> &dims) {
  uint64_t size = traitsOf(type).sizeBytes;
  std::optional<uint64_t> count = elementCount(dims, size);
  // Sizes above 2^40 bytes are refused here, because the allocator would fail without a message.
  if (!count || *count > (uint64_t{1} << 40) / size)
    bad(fmt::format("a tensor with the shape {} and elements of {} does not fit into memory; the "
                    "limit is 1 TiB",
                    shapeText(dims), traitsOf(type).name));
  Tensor tensor{type, dims, {}};
  tensor.bytes.resize(*count * size);
  return tensor;
}

std::vector<std::string> namesOf(const std::vector<Port> &ports) {
  std::vector<std::string> names;
  for (const Port &port : ports)
    names.push_back(port.name);
  return names;
}

std::string listOf(const std::vector<std::string> &names) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < 8; ++i)
    text += fmt::format("{}'{}'", i ? ", " : "", names[i]);
  return text + (names.size() > 8 ? fmt::format(" and {} more", names.size() - 8) : "");
}

/// Throws ToolError if a shape does not fit the port. Dynamic dimensions of the port accept any
/// size. `source` names the origin of the shape in the message.
void checkShape(const Port &port, const std::vector<int64_t> &dims, const std::string &source) {
  bool fits = dims.size() == port.dims.size();
  for (size_t d = 0; fits && d < dims.size(); ++d)
    fits = port.dims[d] == GANTRY_DYNAMIC || port.dims[d] == dims[d];
  if (!fits)
    bad(fmt::format("{} has the shape {}, but {} is expected", source, shapeText(dims),
                    portText(port)));
}

/// Records the sizes of a port's named dynamic dimensions. Throws ToolError if one name has two
/// sizes.
void bindDims(const Port &port, const std::vector<int64_t> &dims,
              std::map<std::string, int64_t> &bound, const std::string &source) {
  for (size_t d = 0; d < dims.size(); ++d) {
    if (port.dims[d] != GANTRY_DYNAMIC || port.dimNames[d].empty())
      continue;
    auto [at, isNew] = bound.emplace(port.dimNames[d], dims[d]);
    if (!isNew && at->second != dims[d])
      bad(fmt::format("the dimension '{}' is {} in {}, but {} elsewhere", port.dimNames[d], dims[d],
                      source, at->second));
  }
}

} // namespace

std::string portText(const Port &port) {
  std::vector<const char *> names;
  for (const std::string &name : port.dimNames)
    names.push_back(name.c_str());
  return fmt::format("'{}' ({} {})", port.name, traitsOf(port.type).name,
                     shapeText(port.dims, names.empty() ? nullptr : names.data()));
}

std::optional<std::pair<std::string, std::string>>
splitAssignment(const std::string &text, const std::vector<std::string> &names) {
  size_t best = 0; // Length of the longest matching name; one name may be the start of another.
  const std::string *found = nullptr;
  for (const std::string &name : names)
    if (text.size() > name.size() && text[name.size()] == '=' && text.starts_with(name) &&
        (!found || name.size() > best)) {
      best = name.size();
      found = &name;
    }
  size_t at = found ? best : text.find('=');
  if (at == std::string::npos)
    return std::nullopt;
  return std::pair(text.substr(0, at), text.substr(at + 1));
}

std::vector<std::string> assignFiles(const std::vector<Port> &ports,
                                     const std::vector<std::string> &files, const char *what) {
  std::vector<std::string> result(ports.size()), names = namesOf(ports);
  std::vector<std::string> inOrder;
  for (const std::string &file : files) {
    auto split = splitAssignment(file, names);
    auto at = split ? std::find(names.begin(), names.end(), split->first) : names.end();
    if (at == names.end()) {
      bool pathLike = !split || split->first.find('/') != std::string::npos;
      if (!pathLike)
        bad(fmt::format("there is no {} '{}'; the model has {}", what, split->first,
                        listOf(names)));
      inOrder.push_back(file);
      continue;
    }
    std::string &slot = result[static_cast<size_t>(at - names.begin())];
    if (!slot.empty())
      bad(fmt::format("{} '{}' was given twice", what, *at));
    if (split->second.empty())
      bad(fmt::format("{} '{}' was given without a file; write {}=FILE", what, *at, *at));
    slot = split->second;
  }
  size_t next = 0;
  for (const std::string &file : inOrder) {
    while (next < result.size() && !result[next].empty())
      ++next;
    if (next == result.size())
      bad(fmt::format("{} files were given as {}s, but the model has {}: {}", files.size(), what,
                      ports.size(), listOf(names)));
    result[next++] = file;
  }
  return result;
}

std::map<std::string, int64_t> parseDims(const std::vector<std::string> &dims) {
  std::map<std::string, int64_t> result;
  for (const std::string &text : dims) {
    size_t at = text.rfind('=');
    int64_t size = -1;
    const char *end = text.data() + text.size();
    if (at != std::string::npos && at > 0) {
      auto [next, error] = std::from_chars(text.data() + at + 1, end, size);
      if (error != std::errc() || next != end)
        size = -1;
    }
    if (size < 0)
      bad(fmt::format("--dim {} is not NAME=SIZE, such as batch=3", text));
    if (!result.emplace(text.substr(0, at), size).second)
      bad(fmt::format("--dim {} was given twice", text.substr(0, at)));
  }
  return result;
}

std::vector<DimRange> parseDimRanges(const std::vector<std::string> &texts) {
  std::vector<DimRange> result;
  for (const std::string &text : texts) {
    const size_t at = text.rfind('=');
    const size_t dots = text.find("..", at == std::string::npos ? 0 : at);
    const bool isRange = dots != std::string::npos;
    auto number = [](std::string_view digits) -> int64_t {
      int64_t value = 0;
      auto [next, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
      return error == std::errc() && next == digits.data() + digits.size() ? value : 0;
    };
    DimRange range;
    if (at != std::string::npos && at > 0) {
      const std::string_view sizes = std::string_view(text).substr(at + 1);
      range.name = text.substr(0, at);
      range.max = number(isRange ? sizes.substr(dots + 2 - (at + 1)) : sizes);
      range.min = !isRange         ? range.max
                  : dots == at + 1 ? 1
                                   : number(sizes.substr(0, dots - (at + 1)));
    }
    if (range.name.empty() || range.min < 1 || range.max < range.min)
      bad(fmt::format("--dim {} is not NAME=SIZE, NAME=..MAX or NAME=MIN..MAX, such as batch=3 or "
                      "time=..64; the min size is 1",
                      text));
    for (const DimRange &other : result)
      if (other.name == range.name)
        bad(fmt::format("--dim {} was given twice", range.name));
    result.push_back(std::move(range));
  }
  return result;
}

std::vector<Tensor> makeInputs(const std::vector<Port> &ports, const InputRequest &request,
                               TensorReader read) {
  std::vector<std::string> files = assignFiles(ports, request.files, "input");
  std::vector<std::string> names = namesOf(ports);
  std::map<std::string, int64_t> bound = parseDims(request.dims);
  std::map<std::string, int64_t> asked = bound;
  std::vector<std::optional<std::vector<int64_t>>> shapes(ports.size());
  std::vector<Tensor> tensors(ports.size());

  for (size_t i = 0; i < ports.size(); ++i) {
    if (files[i].empty())
      continue;
    tensors[i] = read(files[i]);
    std::string source = "'" + files[i] + "'";
    if (tensors[i].type != ports[i].type)
      bad(fmt::format("{} has elements of {}, but {} is expected", source,
                      traitsOf(tensors[i].type).name, portText(ports[i])));
    checkShape(ports[i], tensors[i].dims, source);
    bindDims(ports[i], tensors[i].dims, bound, source);
    shapes[i] = tensors[i].dims;
  }
  for (const std::string &text : request.shapes) {
    auto split = splitAssignment(text, names);
    auto dims = split ? parseShape(split->second) : std::nullopt;
    if (!dims)
      bad(fmt::format("--shape {} is not NAME=SHAPE, such as {}=1x3x224x224", text,
                      names.empty() ? "x" : names[0]));
    auto at = std::find(names.begin(), names.end(), split->first);
    if (at == names.end())
      bad(fmt::format("--shape {}: the model has no input '{}'; it has {}", text, split->first,
                      listOf(names)));
    auto i = static_cast<size_t>(at - names.begin());
    checkShape(ports[i], *dims, "--shape " + text);
    if (shapes[i] && *shapes[i] != *dims)
      bad(fmt::format("--shape {} contradicts the shape {} given before", text,
                      shapeText(*shapes[i])));
    bindDims(ports[i], *dims, bound, "--shape " + text);
    shapes[i] = *dims;
  }
  for (const auto &[name, size] : asked) {
    bool known = std::any_of(ports.begin(), ports.end(), [&, &key = name](const Port &port) {
      return std::find(port.dimNames.begin(), port.dimNames.end(), key) != port.dimNames.end();
    });
    if (!known)
      bad(fmt::format("--dim {}={}: no input has a dimension of this name", name, size));
  }

  for (size_t i = 0; i < ports.size(); ++i) {
    const Port &port = ports[i];
    if (!files[i].empty())
      continue;
    if (request.filling == Filling::kNone)
      bad(fmt::format("input {} has no value; give --input {}=FILE, --random SEED or --arange",
                      portText(port), port.name));
    std::vector<int64_t> dims = shapes[i].value_or(port.dims);
    for (size_t d = 0; d < dims.size(); ++d) {
      if (dims[d] != GANTRY_DYNAMIC)
        continue;
      auto at = bound.find(port.dimNames[d]);
      if (port.dimNames[d].empty() || at == bound.end())
        bad(fmt::format(
            "input {} has a dimension without a size; give {}--shape {}=...", portText(port),
            port.dimNames[d].empty() ? "" : fmt::format("--dim {}=N or ", port.dimNames[d]),
            port.name));
      dims[d] = at->second;
    }
    tensors[i] = request.filling == Filling::kRandom
                     ? randomTensor(port.type, dims, request.seed + i, request.intRange)
                     : arangeTensor(port.type, dims, request.intRange);
  }
  return tensors;
}

Tensor randomTensor(gantry_type_t type, const std::vector<int64_t> &dims, uint64_t seed,
                    uint64_t intRange) {
  Tensor tensor = emptyTensor(type, dims);
  uint64_t state = seed;
  for (uint64_t i = 0, count = elementCount(tensor); i < count; ++i) {
    uint64_t bits = nextRandom(state);
    if (traitsOf(type).isFloat) // 24 bits are exact in f32, so all machines make equal values.
      setElement(tensor, i, static_cast<double>(bits >> 40) / (1 << 23) - 1);
    else
      setElement(tensor, i,
                 static_cast<double>(type == GANTRY_TYPE_BOOL
                                         ? bits >> 63
                                         : bits % std::max<uint64_t>(intRange, 1)));
  }
  return tensor;
}

Tensor arangeTensor(gantry_type_t type, const std::vector<int64_t> &dims, uint64_t intRange) {
  Tensor tensor = emptyTensor(type, dims);
  uint64_t count = elementCount(tensor);
  for (uint64_t i = 0; i < count; ++i) {
    if (traitsOf(type).isFloat)
      setElement(tensor, i, static_cast<double>(i) / static_cast<double>(count));
    else
      setElement(tensor, i,
                 static_cast<double>(
                     type == GANTRY_TYPE_BOOL ? i & 1 : i % std::max<uint64_t>(intRange, 1)));
  }
  return tensor;
}

} // namespace gantry::tool

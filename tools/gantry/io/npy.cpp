// Implements npy.h.
#include "tools/gantry/io/npy.h"

#include "tools/gantry/error.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fmt/format.h>

namespace gantry::tool {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);

struct Header {
  std::string descr;
  bool fortranOrder = false;
  std::vector<int64_t> dims;
  bool hasDescr = false, hasOrder = false, hasShape = false;
};

/// Parses the Python dictionary literal of the header. Accepts only what numpy.save writes.
class HeaderParser {
public:
  HeaderParser(std::string_view text, const std::string &source) : text_(text), source_(source) {}

  Header parse() {
    Header header;
    expect('{');
    while (!accept('}')) {
      std::string key = parseString();
      expect(':');
      if (key == "descr" && !header.hasDescr) {
        if (peek() == '[')
          fail("has a structured element type; save one array of numbers");
        header.descr = parseString();
        header.hasDescr = true;
      } else if (key == "fortran_order" && !header.hasOrder) {
        header.fortranOrder = parseBool();
        header.hasOrder = true;
      } else if (key == "shape" && !header.hasShape) {
        header.dims = parseShapeTuple();
        header.hasShape = true;
      } else {
        fail(fmt::format("has the unexpected key '{}' in its header", key.substr(0, 32)));
      }
      if (!accept(',') && peek() != '}')
        fail("has a damaged header");
    }
    if (!header.hasDescr || !header.hasOrder || !header.hasShape)
      fail("lacks 'descr', 'fortran_order' or 'shape' in its header");
    return header;
  }

private:
  [[noreturn]] void fail(const std::string &what) {
    throw ToolError(ExitCode::kBadInput, fmt::format("'{}' {}", source_, what));
  }
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t'))
      ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c)
      return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c))
      fail(fmt::format("has a damaged .npy header: '{}' expected at byte {} of it", c, at_));
  }
  std::string parseString() {
    char quote = peek();
    if (quote != '\'' && quote != '"')
      fail(fmt::format("has a damaged .npy header: a string expected at byte {} of it", at_));
    size_t end = text_.find(quote, ++at_);
    if (end == std::string_view::npos)
      fail("has a damaged .npy header: a string in it has no end");
    std::string result(text_.substr(at_, end - at_));
    at_ = end + 1;
    return result;
  }
  bool parseBool() {
    peek();
    for (bool value : {false, true}) {
      std::string_view word = value ? "True" : "False";
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return value;
      }
    }
    fail("has a damaged .npy header: fortran_order is neither True nor False");
  }
  std::vector<int64_t> parseShapeTuple() {
    std::vector<int64_t> dims;
    expect('(');
    while (!accept(')')) {
      peek();
      int64_t dim = 0;
      auto [next, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), dim);
      if (error != std::errc() || dim < 0)
        fail("has a damaged .npy header: the shape holds something that is not a size");
      at_ = static_cast<size_t>(next - text_.data());
      if (dims.size() == GANTRY_MAX_RANK)
        fail(fmt::format("has more than {} dimensions", GANTRY_MAX_RANK));
      dims.push_back(dim);
      accept('L'); // Suffix of long integers in Python 2.
      if (!accept(',') && peek() != ')')
        fail("has a damaged .npy header: the shape has no end");
    }
    return dims;
  }

  std::string_view text_;
  const std::string &source_;
  size_t at_ = 0;
};

struct ElementFormat {
  gantry_type_t type;
  bool swapped;
};

ElementFormat elementFormat(const std::string &descr, const std::string &source) {
  if (descr == "bfloat16" || descr == "|V2" || descr == "<V2")
    return {GANTRY_TYPE_BF16, false};
  if (descr.size() >= 3)
    for (const TypeTraits &traits : allTypes())
      if (descr.substr(1) == traits.npy + 1 && traits.npy[1] != 'V' &&
          std::strchr("<>|=", descr[0]))
        return {traits.type, descr[0] == '>' && traits.sizeBytes > 1};
  throw ToolError(ExitCode::kBadInput,
                  fmt::format("'{}' has elements of NumPy type '{}'; supported are f2, f4, f8, "
                              "i1 to i8, u1 to u8, b1",
                              source, descr.substr(0, 32)));
}

/// Reorders the elements from column-major to row-major.
std::vector<uint8_t> transposed(const std::vector<uint8_t> &data, std::span<const int64_t> dims,
                                uint64_t elementSize) {
  std::vector<uint8_t> result(data.size());
  uint64_t count = data.size() / elementSize;
  std::vector<int64_t> index(dims.size(), 0);
  for (uint64_t from = 0; from < count; ++from) {
    uint64_t to = 0;
    for (size_t d = 0; d < dims.size(); ++d)
      to = to * static_cast<uint64_t>(dims[d]) + static_cast<uint64_t>(index[d]);
    std::memcpy(&result[to * elementSize], &data[from * elementSize], elementSize);
    for (size_t d = 0; d < dims.size() && ++index[d] == dims[d]; ++d)
      index[d] = 0; // In column-major order the first dimension varies fastest.
  }
  return result;
}

} // namespace

Tensor parseNpy(std::span<const uint8_t> bytes, const std::string &source) {
  auto fail = [&](const std::string &what) {
    throw ToolError(ExitCode::kBadInput, fmt::format("'{}' {}", source, what));
  };
  if (bytes.size() < 10 || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0)
    fail("is not a .npy file (it lacks NumPy's magic bytes)");
  uint8_t major = bytes[6];
  if (major < 1 || major > 3)
    fail(fmt::format("is of .npy version {}; versions 1 to 3 are supported", major));
  size_t lengthBytes = major == 1 ? 2 : 4;
  if (bytes.size() < 8 + lengthBytes)
    fail("ends inside its .npy header");
  uint64_t headerLength = 0;
  for (size_t i = 0; i < lengthBytes; ++i)
    headerLength |= static_cast<uint64_t>(bytes[8 + i]) << (8 * i);
  uint64_t dataStart = 8 + lengthBytes + headerLength;
  if (dataStart > bytes.size())
    fail(fmt::format("ends inside its .npy header ({} of {} bytes)", bytes.size(), dataStart));
  Header header =
      HeaderParser({reinterpret_cast<const char *>(bytes.data()) + 8 + lengthBytes, headerLength},
                   source)
          .parse();

  ElementFormat format = elementFormat(header.descr, source);
  uint64_t elementSize = traitsOf(format.type).sizeBytes;
  std::optional<uint64_t> count = elementCount(header.dims, elementSize);
  if (!count)
    fail(fmt::format("has the impossible shape {}", shapeText(header.dims)));
  uint64_t dataBytes = bytes.size() - dataStart;
  if (dataBytes != *count * elementSize)
    fail(fmt::format("holds {} bytes of data, but its shape {} of {} needs {}", dataBytes,
                     shapeText(header.dims), traitsOf(format.type).name, *count * elementSize));

  Tensor tensor{
      format.type, header.dims, {bytes.begin() + static_cast<ptrdiff_t>(dataStart), bytes.end()}};
  if (format.swapped)
    for (uint64_t i = 0; i < *count; ++i)
      std::reverse(tensor.bytes.begin() + static_cast<ptrdiff_t>(i * elementSize),
                   tensor.bytes.begin() + static_cast<ptrdiff_t>((i + 1) * elementSize));
  if (header.fortranOrder && header.dims.size() > 1)
    tensor.bytes = transposed(tensor.bytes, header.dims, elementSize);
  if (tensor.type == GANTRY_TYPE_BOOL)
    for (uint8_t &value : tensor.bytes)
      value = value != 0;
  return tensor;
}

std::vector<uint8_t> formatNpy(const Tensor &tensor) {
  std::string shape;
  for (int64_t dim : tensor.dims)
    shape += fmt::format("{}, ", dim);
  if (tensor.dims.size() > 1)
    shape.resize(shape.size() - 2); // "(2, 3)"; only a single dimension keeps its comma, "(2,)".
  else if (tensor.dims.size() == 1)
    shape.pop_back();
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                   traitsOf(tensor.type).npy, shape);
  size_t unpadded = kMagic.size() + 4 + header.size() + 1;
  header.append((64 - unpadded % 64) % 64, ' ');
  header += '\n';
  std::vector<uint8_t> bytes(kMagic.begin(), kMagic.end());
  for (size_t value : {size_t{1}, size_t{0}, header.size() & 255, header.size() >> 8})
    bytes.push_back(static_cast<uint8_t>(value));
  bytes.insert(bytes.end(), header.begin(), header.end());
  bytes.insert(bytes.end(), tensor.bytes.begin(), tensor.bytes.end());
  return bytes;
}

} // namespace gantry::tool

// Checks the rules of README.md. Each function of class Verifier checks one kind of element.
#include "engine/artifact/verify.h"

#include "engine/artifact/exprs.h"
#include "engine/base/align.h"

#include <cstdarg>
#include <cstdio>

namespace gantry::artifact {

namespace {

constexpr uint32_t kMaxRank = 8;
// Upper limit of a kernel's number of buffers, and of its number of dims.
constexpr uint32_t kMaxKernelArguments = 4096;
constexpr uint32_t kSpirvMagic = 0x07230203;
constexpr uint32_t kSpirvHeaderWords = 5;
constexpr uint64_t kSpirvAlignment = 16;   // Bytes; force_align in the schema.
constexpr uint64_t kUnplaced = UINT64_MAX; // Value.byte_offset: the session plans the offset.
constexpr uint32_t kNoExpr = UINT32_MAX;   // Value.slot_offset: 0 bytes from the slot's start.
constexpr uint32_t kNoBase = UINT32_MAX;   // Value.base: the value is no part of another one.
constexpr uint32_t kNoPlace = UINT32_MAX;  // Command.in_place: the result takes no operand's place.
// A dispatch whose buffers are too large to bind at once is executed in slices. slice_bytes is the
// distance between the parts of a buffer that consecutive slices access. The limit keeps
// slice_bytes * m within 64 bits for every slice number m below 2^24.
constexpr uint64_t kMaxSliceBytes = uint64_t{1} << 40;

/// Returns the name of a list's element for messages: "values[12] \"Conv_3\"".
std::string label(const char *list, uint32_t index, const flatbuffers::String *name) {
  return std::string(list) + "[" + std::to_string(index) + "] \"" + name->str() + "\"";
}

Status damaged(const std::string &owner, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
Status damaged(const std::string &owner, const char *format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  return {StatusCode::kDataLoss, owner + ": " + text};
}

Status missing(const std::string &owner, const char *field) {
  return damaged(owner, "its %s is missing", field);
}

/// Returns whether the elements are aligned. Builders do not align empty vectors, so an empty
/// vector counts as aligned.
template <typename T> bool isAligned(const flatbuffers::Vector<T> &elements, uint64_t alignment) {
  return elements.size() == 0 || reinterpret_cast<uintptr_t>(elements.Data()) % alignment == 0;
}

/// Checks one program: the root of a file or one of its variants.
class Verifier {
public:
  Verifier(const Program &program, uint64_t constantsBytes)
      : program_(program), constantsBytes_(constantsBytes) {}

  /// isRoot is false for a program in the root's list of variants.
  Status run(bool isRoot) {
    GANTRY_RETURN_IF_ERROR(checkPresence());
    GANTRY_RETURN_IF_ERROR(checkExprs());
    GANTRY_RETURN_IF_ERROR(checkPorts("inputs", *program_.inputs(), Storage::input));
    GANTRY_RETURN_IF_ERROR(checkPorts("outputs", *program_.outputs(), Storage::output));
    GANTRY_RETURN_IF_ERROR(checkSymbols()); // After checkPorts(): it reads the inputs' dims.
    GANTRY_RETURN_IF_ERROR(checkValues());
    GANTRY_RETURN_IF_ERROR(checkKernels());
    GANTRY_RETURN_IF_ERROR(checkCommands());
    GANTRY_RETURN_IF_ERROR(checkPlan());
    GANTRY_RETURN_IF_ERROR(checkStates(program_, folded_));
    return isRoot ? checkChunks() : checkNotNested();
  }

private:
  /// Checks that no string or list is null, except those that older files lack (README.md). Also
  /// checks the alignment of vectors whose elements need more than the four bytes that the
  /// FlatBuffers verifier guarantees.
  Status checkPresence() const;
  Status checkExprs();
  Status checkSymbols() const;
  Status checkPorts(const char *list, const flatbuffers::Vector<flatbuffers::Offset<Port>> &ports,
                    Storage storage) const;
  Status checkValues() const;
  Status checkConstant(const std::string &owner, const Value &value) const;
  Status checkSlotOffset(const std::string &owner, const Value &value) const;
  Status checkBox(const std::string &owner, const Value &value) const;
  Status checkTransient(const std::string &owner, const Value &value,
                        std::vector<const Value *> &slots) const;
  Status checkWorkgroupSize(const std::string &owner,
                            const flatbuffers::Vector<uint32_t> &sizes) const;
  Status checkWorkgroups(const std::string &owner,
                         const flatbuffers::Vector<uint32_t> &counts) const;
  Status checkKernels() const;
  Status checkVariant(const std::string &owner, const Kernel &kernel,
                      const KernelVariant &variant) const;
  Status checkSlices(const std::string &owner, const Kernel &kernel,
                     const KernelVariant &variant) const;
  Status checkTexels(const std::string &owner, const Kernel &kernel,
                     const KernelVariant &variant) const;
  Status checkCommands() const;
  Status checkDispatch(const std::string &owner, const Command &command) const;
  Status checkCopy(const std::string &owner, const Command &command) const;
  Status checkPlan() const;
  Status checkChunks() const;
  Status checkNotNested() const;
  Status checkExprIndices(const std::string &owner, const char *field,
                          const flatbuffers::Vector<uint32_t> &indices) const;
  Status checkExprIndex(const std::string &owner, const char *field, uint32_t index) const;
  /// Stores the value's size in `bytes`. Returns an error if the size depends on a symbol or is
  /// negative.
  Status checkKnownSize(const std::string &owner, const Value &value, uint64_t &bytes) const;

  const Program &program_;
  const uint64_t constantsBytes_;
  std::vector<std::optional<int64_t>> folded_; // Per expression; nullopt if it depends on a symbol.
};

Status Verifier::checkPresence() const {
  const Program &p = program_;
  const std::string root = "program";
  if (!p.name() || !p.producer() || !p.source() || !p.profile())
    return missing(root, "name, producer, source or profile");
  if (!p.symbols() || !p.exprs() || !p.inputs() || !p.outputs() || !p.values() || !p.kernels() ||
      !p.commands() || !p.chunks() || !p.requirements())
    return missing(root, "list of symbols, exprs, inputs, outputs, values, kernels, commands, "
                         "chunks or requirements");
  if (!isAligned(*p.exprs(), alignof(Expr)) || !isAligned(*p.chunks(), alignof(Chunk)))
    return damaged(root, "its exprs or chunks are misaligned");
  for (uint32_t i = 0; i < p.symbols()->size(); ++i)
    if (!p.symbols()->Get(i)->name())
      return missing("symbols[" + std::to_string(i) + "]", "name");
  for (const auto *ports : {p.inputs(), p.outputs()})
    for (uint32_t i = 0; i < ports->size(); ++i)
      if (!ports->Get(i)->name() || !ports->Get(i)->dims())
        return missing("ports[" + std::to_string(i) + "]", "name or dims");
  for (uint32_t i = 0; i < p.values()->size(); ++i) {
    const Value &value = *p.values()->Get(i);
    if (!value.name() || !value.dims() || !value.op())
      return missing("values[" + std::to_string(i) + "]", "name, dims or op");
  }
  for (uint32_t i = 0; i < p.kernels()->size(); ++i) {
    const Kernel &kernel = *p.kernels()->Get(i);
    const std::string owner = "kernels[" + std::to_string(i) + "]";
    if (!kernel.name() || !kernel.entry_point() || !kernel.workgroup_size() || !kernel.variants() ||
        !kernel.tile())
      return missing(owner, "name, entry_point, workgroup_size, variants or tile");
    for (const KernelVariant *variant : *kernel.variants())
      if (!variant->spirv() || !variant->capabilities())
        return missing(owner, "variant's spirv or capabilities");
  }
  for (uint32_t i = 0; i < p.commands()->size(); ++i) {
    const Command &command = *p.commands()->Get(i);
    if (!command.name() || !command.location() || !command.bindings() || !command.writes() ||
        !command.dims() || !command.workgroups())
      return missing("commands[" + std::to_string(i) + "]",
                     "name, location, bindings, writes, dims or workgroups");
  }
  return Status::ok();
}

Status Verifier::checkExprs() {
  const auto &exprs = *program_.exprs();
  for (uint32_t i = 0; i < exprs.size(); ++i) {
    const Expr &expr = *exprs.Get(i);
    const std::string owner = "exprs[" + std::to_string(i) + "]";
    if (expr.op() > ExprOp::MAX)
      return damaged(owner, "operation %u does not exist", static_cast<unsigned>(expr.op()));
    if (expr.op() == ExprOp::constant)
      continue;
    if (expr.op() == ExprOp::symbol) {
      if (expr.value() < 0 || expr.value() >= static_cast<int64_t>(program_.symbols()->size()))
        return damaged(owner, "refers to symbol %lld, but the number of symbols is %u",
                       static_cast<long long>(expr.value()), program_.symbols()->size());
      if (!program_.dynamic())
        return damaged(owner, "a symbol in a program that is not dynamic");
      continue;
    }
    if (expr.lhs() >= i || expr.rhs() >= i)
      return damaged(owner, "its operands, expressions %u and %u, do not come before it",
                     expr.lhs(), expr.rhs());
  }
  auto folded = foldConstantExprs(program_);
  if (!folded.isOk())
    return {StatusCode::kDataLoss, folded.status().message()};
  folded_ = folded.take();
  return Status::ok();
}

Status Verifier::checkExprIndex(const std::string &owner, const char *field, uint32_t index) const {
  if (index >= program_.exprs()->size())
    return damaged(owner, "%s refers to expression %u, but the number of expressions is %u", field,
                   index, program_.exprs()->size());
  return Status::ok();
}

Status Verifier::checkExprIndices(const std::string &owner, const char *field,
                                  const flatbuffers::Vector<uint32_t> &indices) const {
  for (const uint32_t index : indices)
    GANTRY_RETURN_IF_ERROR(checkExprIndex(owner, field, index));
  return Status::ok();
}

Status Verifier::checkPorts(const char *list,
                            const flatbuffers::Vector<flatbuffers::Offset<Port>> &ports,
                            Storage storage) const {
  for (uint32_t i = 0; i < ports.size(); ++i) {
    const Port &port = *ports.Get(i);
    const std::string owner = label(list, i, port.name());
    if (port.type() > ElementType::MAX)
      return damaged(owner, "element type %u does not exist", static_cast<unsigned>(port.type()));
    if (port.dims()->size() > kMaxRank)
      return damaged(owner, "rank %u; the rank is at most %u", port.dims()->size(), kMaxRank);
    GANTRY_RETURN_IF_ERROR(checkExprIndices(owner, "dims", *port.dims()));
    if (port.value() >= program_.values()->size())
      return damaged(owner, "refers to value %u, but the number of values is %u", port.value(),
                     program_.values()->size());
    const Value &value = *program_.values()->Get(port.value());
    const bool donated = storage == Storage::input && value.storage() == Storage::transient;
    if (value.storage() != storage && !donated)
      return damaged(owner, "its value %u does not have the kind of storage that such a port needs",
                     port.value());
    if (donated && value.first_use() != 0)
      return damaged(owner, "its value %u is donated, but is not alive from the start",
                     port.value());
    if (value.type() != port.type())
      return damaged(owner, "its value %u has another element type", port.value());
  }
  return Status::ok();
}

Status Verifier::checkSymbols() const {
  if (!program_.dynamic() && program_.symbols()->size() != 0)
    return damaged("program", "symbols in a program that is not dynamic");
  for (uint32_t i = 0; i < program_.symbols()->size(); ++i) {
    const Symbol &symbol = *program_.symbols()->Get(i);
    const std::string owner = label("symbols", i, symbol.name());
    if (symbol.input() >= program_.inputs()->size())
      return damaged(owner, "refers to input %u, but the number of inputs is %u", symbol.input(),
                     program_.inputs()->size());
    const uint32_t rank = program_.inputs()->Get(symbol.input())->dims()->size();
    if (symbol.dim() >= rank)
      return damaged(owner, "refers to dimension %u of an input of rank %u", symbol.dim(), rank);
    if (symbol.min() < 0 || symbol.max() < 0 || (symbol.max() != 0 && symbol.max() < symbol.min()))
      return damaged(owner, "bounds %lld to %lld are negative or not in order",
                     static_cast<long long>(symbol.min()), static_cast<long long>(symbol.max()));
  }
  return Status::ok();
}

Status Verifier::checkKnownSize(const std::string &owner, const Value &value,
                                uint64_t &bytes) const {
  const std::optional<int64_t> size = folded_[value.size()];
  if (!size)
    return damaged(owner, "its size depends on a dynamic dimension, but must be fixed");
  if (*size < 0)
    return damaged(owner, "its size is %lld; it must not be negative",
                   static_cast<long long>(*size));
  bytes = static_cast<uint64_t>(*size);
  return Status::ok();
}

Status Verifier::checkConstant(const std::string &owner, const Value &value) const {
  uint64_t size = 0;
  GANTRY_RETURN_IF_ERROR(checkKnownSize(owner, value, size));
  if (value.fill()) {
    if (size % 4 != 0)
      return damaged(
          owner,
          "is a constant of one repeated word, but has %llu bytes, which is not a multiple of 4",
          static_cast<unsigned long long>(size));
    return Status::ok();
  }
  const std::optional<uint64_t> end = checkedAdd(value.byte_offset(), size);
  if (!end || *end > constantsBytes_)
    return damaged(owner, "%llu bytes at %llu lie outside of the %llu bytes of constants",
                   static_cast<unsigned long long>(size),
                   static_cast<unsigned long long>(value.byte_offset()),
                   static_cast<unsigned long long>(constantsBytes_));
  if (value.byte_offset() % value.alignment() != 0)
    return damaged(owner, "offset %llu is no multiple of its alignment %u",
                   static_cast<unsigned long long>(value.byte_offset()), value.alignment());
  return Status::ok();
}

Status Verifier::checkTransient(const std::string &owner, const Value &value,
                                std::vector<const Value *> &slots) const {
  if (value.slot() >= program_.values()->size())
    return damaged(owner, "it lies in slot %u; slot numbers must be below %u, the number of values",
                   value.slot(), program_.values()->size());
  const Value *&first = slots[value.slot()];
  if (first == nullptr)
    first = &value;
  else if (first->byte_offset() != value.byte_offset())
    return damaged(owner, "has another offset than \"%.100s\", which shares its slot %u",
                   first->name()->c_str(), value.slot());
  if (program_.dynamic() && !program_.bounded()) {
    if (value.byte_offset() != kUnplaced)
      return damaged(owner, "has an offset although the program is dynamic and not bounded");
    return Status::ok();
  }
  // Sizes of a bounded program are dynamic, so size and start stay 0 and the checks below look at
  // the slot's offset only. The session checks the whole plan for the sizes of each run.
  uint64_t size = 0, start = 0;
  if (!program_.dynamic()) {
    GANTRY_RETURN_IF_ERROR(checkKnownSize(owner, value, size));
    if (value.slot_offset() != kNoExpr)
      start = static_cast<uint64_t>(*folded_[value.slot_offset()]);
  }
  const std::optional<uint64_t> begin = checkedAdd(value.byte_offset(), start);
  const std::optional<uint64_t> end = begin ? checkedAdd(*begin, size) : std::nullopt;
  if (!end || *end > program_.arena_bytes())
    return damaged(owner, "%llu bytes at %llu lie outside of the arena of %llu bytes",
                   static_cast<unsigned long long>(size),
                   static_cast<unsigned long long>(begin.value_or(value.byte_offset())),
                   static_cast<unsigned long long>(program_.arena_bytes()));
  if (*begin % value.alignment() != 0)
    return damaged(owner, "offset %llu is no multiple of its alignment %u",
                   static_cast<unsigned long long>(*begin), value.alignment());
  return Status::ok();
}

Status Verifier::checkSlotOffset(const std::string &owner, const Value &value) const {
  if (value.slot_offset() == kNoExpr)
    return Status::ok();
  const bool isPart = value.storage() == Storage::output && value.base() != kNoBase;
  if (value.storage() != Storage::transient && !isPart)
    return damaged(owner, "has a slot offset, but is neither a transient nor a part of an output");
  GANTRY_RETURN_IF_ERROR(checkExprIndex(owner, "slot offset", value.slot_offset()));
  const std::optional<int64_t> start = folded_[value.slot_offset()];
  if (start ? *start < 0 : !program_.dynamic())
    return damaged(owner, "its slot offset is %lld bytes; it must not be negative",
                   static_cast<long long>(start.value_or(-1)));
  return Status::ok();
}

Status Verifier::checkBox(const std::string &owner, const Value &value) const {
  const auto &values = *program_.values();
  if (value.base() != kNoBase) {
    if (value.base() >= values.size())
      return damaged(owner, "is a part of value %u, but the number of values is %u", value.base(),
                     values.size());
    const Value &base = *values.Get(value.base());
    if ((value.storage() != Storage::transient && value.storage() != Storage::output) ||
        base.storage() != value.storage() || base.slot() != value.slot() || base.base() != kNoBase)
      return damaged(owner,
                     "is a part of value %u, which is not the whole of its slot %u; both must be "
                     "transients or both outputs, with the same slot",
                     value.base(), value.slot());
  }
  if (!value.box() || value.box()->size() == 0)
    return Status::ok();
  if (value.base() == kNoBase || value.box()->size() % 3 != 0)
    return damaged(owner,
                   "has %u numbers for its box; a part of another value has three for each "
                   "dimension",
                   value.box()->size());
  return checkExprIndices(owner, "box", *value.box());
}

Status Verifier::checkValues() const {
  const auto &values = *program_.values();
  const uint32_t commandCount = program_.commands()->size();
  std::vector<const Value *> slots(values.size(), nullptr);
  for (uint32_t i = 0; i < values.size(); ++i) {
    const Value &value = *values.Get(i);
    const std::string owner = label("values", i, value.name());
    if (value.storage() > Storage::MAX)
      return damaged(owner, "storage %u does not exist", static_cast<unsigned>(value.storage()));
    if (value.type() > ElementType::MAX)
      return damaged(owner, "element type %u does not exist", static_cast<unsigned>(value.type()));
    if (value.dims()->size() > kMaxRank)
      return damaged(owner, "rank %u; the rank is at most %u", value.dims()->size(), kMaxRank);
    GANTRY_RETURN_IF_ERROR(checkExprIndices(owner, "dims", *value.dims()));
    GANTRY_RETURN_IF_ERROR(checkExprIndex(owner, "size", value.size()));
    GANTRY_RETURN_IF_ERROR(checkSlotOffset(owner, value));
    GANTRY_RETURN_IF_ERROR(checkBox(owner, value));
    if (!isPowerOfTwo(value.alignment()))
      return damaged(owner, "alignment %u is no power of two", value.alignment());
    if (value.first_use() > value.last_use())
      return damaged(
          owner, "first used by command %u, last by %u; the first use must not come after the last",
          value.first_use(), value.last_use());
    if (value.last_use() >= std::max(commandCount, 1u))
      return damaged(owner, "is last used by command %u, but the number of commands is %u",
                     value.last_use(), commandCount);
    if (value.fill() && value.storage() != Storage::constant)
      return damaged(owner, "is marked as one repeated word, but is not a constant");
    if (value.storage() == Storage::constant)
      GANTRY_RETURN_IF_ERROR(checkConstant(owner, value));
    if (value.storage() == Storage::transient)
      GANTRY_RETURN_IF_ERROR(checkTransient(owner, value, slots));
    uint64_t size = 0;
    if (value.storage() == Storage::host && !folded_[value.size()])
      return damaged(owner, "lies on the host, but its size is not known");
    if (folded_[value.size()])
      GANTRY_RETURN_IF_ERROR(checkKnownSize(owner, value, size));
  }
  return Status::ok();
}

Status Verifier::checkVariant(const std::string &owner, const Kernel &kernel,
                              const KernelVariant &variant) const {
  if (variant.binding() > Binding::MAX)
    return damaged(owner, "binding %u does not exist", static_cast<unsigned>(variant.binding()));
  const auto &spirv = *variant.spirv();
  if (!isAligned(spirv, kSpirvAlignment))
    return damaged(owner, "its SPIR-V is misaligned");
  if (spirv.size() < kSpirvHeaderWords || spirv.Get(0) != kSpirvMagic)
    return damaged(owner, "its SPIR-V (%u words) does not begin with a SPIR-V header",
                   spirv.size());
  const uint32_t addresses = variant.binding() == Binding::address ? kernel.buffer_count() : 0;
  const uint32_t blockBytes = 8 * (addresses + kernel.dim_count());
  if (variant.push_constant_bytes() != blockBytes)
    return damaged(owner,
                   "has %u bytes of push constants; its block needs %u, 8 for each address and dim",
                   variant.push_constant_bytes(), blockBytes);
  for (const flatbuffers::String *capability : *variant.capabilities())
    if (capability->size() == 0)
      return damaged(owner, "has an empty capability; each must name a feature");
  GANTRY_RETURN_IF_ERROR(checkSlices(owner, kernel, variant));
  return checkTexels(owner, kernel, variant);
}

Status Verifier::checkSlices(const std::string &owner, const Kernel &kernel,
                             const KernelVariant &variant) const {
  for (uint32_t i = 0; variant.loop_dims() && i < variant.loop_dims()->size(); ++i)
    if (variant.loop_dims()->Get(i) >= kernel.dim_count())
      return damaged(owner,
                     "the number of its loop iterations refers to dimension %u, but the number of "
                     "dimensions is %u",
                     variant.loop_dims()->Get(i), kernel.dim_count());
  const uint32_t multiples = variant.dim_multiples() ? variant.dim_multiples()->size() : 0;
  if (multiples > kernel.dim_count() || (multiples > 0 && variant.alternatives() == 0))
    return damaged(
        owner,
        "it needs multiples for %u dimensions of %u, and its group of alternatives is %u; "
        "only alternatives may need multiples",
        multiples, kernel.dim_count(), variant.alternatives());
  for (uint32_t i = 0; i < multiples; ++i)
    if (variant.dim_multiples()->Get(i) == 0)
      return damaged(owner, "dimension %u must be a multiple of 0", i);
  if (variant.slice_workgroups() == 0)
    return Status::ok();
  const uint32_t count = variant.slice_bytes() ? variant.slice_bytes()->size() : 0;
  if (variant.slice_workgroups() > kWorkgroupsAlongX || count != kernel.buffer_count())
    return damaged(owner,
                   "each slice has %u workgroups (at most %u are allowed), and slice_bytes has %u "
                   "entries for %u buffers (each buffer needs one)",
                   variant.slice_workgroups(), kWorkgroupsAlongX, count, kernel.buffer_count());
  for (const uint64_t bytes : *variant.slice_bytes())
    if (bytes > kMaxSliceBytes)
      return damaged(owner, "slices of a buffer are %llu bytes apart; at most %llu are allowed",
                     static_cast<unsigned long long>(bytes),
                     static_cast<unsigned long long>(kMaxSliceBytes));
  return Status::ok();
}

Status Verifier::checkTexels(const std::string &owner, const Kernel &kernel,
                             const KernelVariant &variant) const {
  const uint32_t count = variant.texels() ? variant.texels()->size() : 0; // Absent in version 1.
  if ((variant.binding() == Binding::texel) != (count > 0))
    return damaged(
        owner,
        "binding %s with %u buffers read as texels; the binding texel needs some, others none",
        EnumNameBinding(variant.binding()), count);
  for (uint32_t i = 0; i < count; ++i) {
    const TexelRead &read = *variant.texels()->Get(i);
    if (read.buffer() >= kernel.buffer_count())
      return damaged(owner, "reads buffer %u as texels, but the number of its buffers is %u",
                     read.buffer(), kernel.buffer_count());
    if (i > 0 && read.buffer() <= variant.texels()->Get(i - 1)->buffer())
      return damaged(owner, "its texel buffer %u does not come after %u; the list must ascend",
                     read.buffer(), variant.texels()->Get(i - 1)->buffer());
    if (read.format() > TexelFormat::MAX)
      return damaged(owner, "texel format %u does not exist", static_cast<unsigned>(read.format()));
  }
  return Status::ok();
}

Status Verifier::checkWorkgroupSize(const std::string &owner,
                                    const flatbuffers::Vector<uint32_t> &sizes) const {
  if (sizes.size() != 3)
    return damaged(owner, "%u workgroup sizes instead of 3", sizes.size());
  uint64_t invocations = 1;
  for (const uint32_t size : sizes) {
    if (size == 0 || size > UINT16_MAX)
      return damaged(owner, "a workgroup size of %u; it must be from 1 to 65535", size);
    invocations *= size;
  }
  if (invocations > UINT16_MAX)
    return damaged(owner, "%llu invocations per workgroup; at most 65535 are allowed",
                   static_cast<unsigned long long>(invocations));
  return Status::ok();
}

Status Verifier::checkKernels() const {
  for (uint32_t i = 0; i < program_.kernels()->size(); ++i) {
    const Kernel &kernel = *program_.kernels()->Get(i);
    const std::string owner = label("kernels", i, kernel.name());
    if (kernel.entry_point()->size() == 0)
      return damaged(owner, "its entry point has no name");
    GANTRY_RETURN_IF_ERROR(checkWorkgroupSize(owner, *kernel.workgroup_size()));
    if (kernel.buffer_count() > kMaxKernelArguments || kernel.dim_count() > kMaxKernelArguments)
      return damaged(owner, "%u buffers and %u dims; at most %u of each are allowed",
                     kernel.buffer_count(), kernel.dim_count(), kMaxKernelArguments);
    if (kernel.variants()->size() == 0)
      return damaged(owner, "no variant");
    for (const KernelVariant *variant : *kernel.variants()) {
      if (variant->workgroup_size() && variant->workgroup_size()->size() != 0)
        GANTRY_RETURN_IF_ERROR(checkWorkgroupSize(owner, *variant->workgroup_size()));
      GANTRY_RETURN_IF_ERROR(checkVariant(owner, kernel, *variant));
    }
  }
  return Status::ok();
}

Status Verifier::checkWorkgroups(const std::string &owner,
                                 const flatbuffers::Vector<uint32_t> &counts) const {
  if (counts.size() == 0 || counts.size() % 3 != 0)
    return damaged(owner, "%u workgroup counts; their number must be a multiple of 3 and not 0",
                   counts.size());
  for (const uint32_t count : counts)
    if (folded_[count] && (*folded_[count] < 0 || *folded_[count] > UINT32_MAX))
      return damaged(owner, "a workgroup count of %lld; it must be from 0 to 4294967295",
                     static_cast<long long>(*folded_[count]));
  return Status::ok();
}

Status Verifier::checkDispatch(const std::string &owner, const Command &command) const {
  if (command.kernel() >= program_.kernels()->size())
    return damaged(owner, "refers to kernel %u, but the number of kernels is %u", command.kernel(),
                   program_.kernels()->size());
  const Kernel &kernel = *program_.kernels()->Get(command.kernel());
  if (command.bindings()->size() != kernel.buffer_count())
    return damaged(owner, "%u bindings; its kernel has %u buffers", command.bindings()->size(),
                   kernel.buffer_count());
  if (command.dims()->size() != kernel.dim_count())
    return damaged(owner, "%u dims; its kernel has %u", command.dims()->size(), kernel.dim_count());
  GANTRY_RETURN_IF_ERROR(checkWorkgroups(owner, *command.workgroups()));
  const uint32_t others = command.other_workgroups() ? command.other_workgroups()->size() / 3 : 0;
  if (command.workgroups()->size() != 3)
    return damaged(owner, "%u workgroup counts instead of 3", command.workgroups()->size());
  if (command.other_workgroups() && command.other_workgroups()->size() != 0)
    GANTRY_RETURN_IF_ERROR(checkWorkgroups(owner, *command.other_workgroups()));
  for (const KernelVariant *variant : *kernel.variants())
    if (variant->grid() > others)
      return damaged(owner,
                     "no workgroup counts for its kernel's variant of grid %u in other_workgroups",
                     variant->grid());
  for (const KernelVariant *variant : *kernel.variants())
    for (uint32_t i = 0; variant->texels() && i < variant->texels()->size(); ++i)
      if (const uint32_t buffer = variant->texels()->Get(i)->buffer();
          command.writes()->Get(buffer) != 0)
        return damaged(owner, "writes buffer %u, which its kernel reads as texels", buffer);
  return Status::ok();
}

Status Verifier::checkCopy(const std::string &owner, const Command &command) const {
  const auto &bindings = *command.bindings();
  if (bindings.size() != 2 || command.writes()->Get(0) != 0 || command.writes()->Get(1) != 1)
    return damaged(
        owner,
        "a copy reads its first binding and writes its second; this copy has %u bindings, or "
        "its write flags differ",
        bindings.size());
  const std::optional<int64_t> from = folded_[program_.values()->Get(bindings.Get(0))->size()];
  const std::optional<int64_t> to = folded_[program_.values()->Get(bindings.Get(1))->size()];
  if (from && to && *from != *to)
    return damaged(owner, "copies a value of %lld bytes to one of %lld",
                   static_cast<long long>(*from), static_cast<long long>(*to));
  return Status::ok();
}

Status Verifier::checkCommands() const {
  for (uint32_t i = 0; i < program_.commands()->size(); ++i) {
    const Command &command = *program_.commands()->Get(i);
    const std::string owner = label("commands", i, command.name());
    if (command.kind() > CommandKind::MAX)
      return damaged(owner, "kind %u does not exist", static_cast<unsigned>(command.kind()));
    if (command.writes()->size() != command.bindings()->size())
      return damaged(owner, "%u bindings but %u write flags", command.bindings()->size(),
                     command.writes()->size());
    if (command.partial() &&
        (command.in_place() == kNoPlace || command.kind() != artifact::CommandKind::dispatch))
      return damaged(owner,
                     "it writes only some elements, but it is a copy, or its result takes no "
                     "operand's place");
    if (command.in_place() != kNoPlace && command.in_place() >= command.bindings()->size())
      return damaged(owner,
                     "its result takes the place of binding %u, but the number of bindings is %u",
                     command.in_place(), command.bindings()->size());
    for (uint32_t b = 0; b < command.bindings()->size(); ++b) {
      const uint32_t index = command.bindings()->Get(b);
      if (index >= program_.values()->size())
        return damaged(owner, "refers to value %u, but the number of values is %u", index,
                       program_.values()->size());
      const Value &value = *program_.values()->Get(index);
      if (command.writes()->Get(b) != 0 &&
          (value.storage() == Storage::constant || value.storage() == Storage::input))
        return damaged(owner, "writes \"%.100s\", which is %s", value.name()->c_str(),
                       value.storage() == Storage::constant ? "a constant" : "an input");
    }
    GANTRY_RETURN_IF_ERROR(checkExprIndices(owner, "dims", *command.dims()));
    GANTRY_RETURN_IF_ERROR(checkExprIndices(owner, "workgroups", *command.workgroups()));
    if (command.other_workgroups())
      GANTRY_RETURN_IF_ERROR(
          checkExprIndices(owner, "other_workgroups", *command.other_workgroups()));
    GANTRY_RETURN_IF_ERROR(checkExprIndex(owner, "flops", command.flops()));
    GANTRY_RETURN_IF_ERROR(checkExprIndex(owner, "bytes_moved", command.bytes_moved()));
    GANTRY_RETURN_IF_ERROR(command.kind() == CommandKind::dispatch ? checkDispatch(owner, command)
                                                                   : checkCopy(owner, command));
  }
  return Status::ok();
}

Status Verifier::checkPlan() const {
  const uint32_t commandCount = program_.commands()->size();
  if (program_.peak_command() >= std::max(commandCount, 1u))
    return damaged("program", "its peak is at command %u, but the number of commands is %u",
                   program_.peak_command(), commandCount);
  GANTRY_RETURN_IF_ERROR(checkExprIndices("program", "requirements", *program_.requirements()));
  if (program_.bounded() && !program_.dynamic())
    return damaged("program", "has bounds for symbols, but is not dynamic");
  for (uint32_t i = 0; program_.bounded() && i < program_.symbols()->size(); ++i)
    if (program_.symbols()->Get(i)->max() == 0)
      return damaged(label("symbols", i, program_.symbols()->Get(i)->name()),
                     "has no bound in a program that is planned for bounds");
  if ((!program_.dynamic() || program_.bounded()) &&
      program_.lower_bound_bytes() > program_.arena_bytes())
    return damaged("program", "an arena of %llu bytes is below its lower bound of %llu",
                   static_cast<unsigned long long>(program_.arena_bytes()),
                   static_cast<unsigned long long>(program_.lower_bound_bytes()));
  return checkStrips(program_);
}

Status Verifier::checkChunks() const {
  uint64_t end = 0;
  for (uint32_t i = 0; i < program_.chunks()->size(); ++i) {
    const Chunk &chunk = *program_.chunks()->Get(i);
    if (chunk.offset() != end || chunk.size() == 0 || chunk.size() > constantsBytes_ - end)
      return damaged(
          "chunks[" + std::to_string(i) + "]",
          "%llu bytes at offset %llu; a chunk must begin where the one before it ends (%llu) "
          "and lie within the %llu bytes of constants",
          static_cast<unsigned long long>(chunk.size()),
          static_cast<unsigned long long>(chunk.offset()), static_cast<unsigned long long>(end),
          static_cast<unsigned long long>(constantsBytes_));
    end += chunk.size();
  }
  if (end != constantsBytes_)
    return damaged("chunks", "they cover %llu of %llu bytes of constants",
                   static_cast<unsigned long long>(end),
                   static_cast<unsigned long long>(constantsBytes_));
  return Status::ok();
}

Status Verifier::checkNotNested() const {
  if (program_.chunks()->size() != 0)
    return damaged("program", "a variant with chunks of its own");
  if (program_.variants() && program_.variants()->size() != 0)
    return damaged("program", "a variant with variants of its own");
  return Status::ok();
}

} // namespace

Status verifyMetadata(std::span<const uint8_t> metadata, uint64_t constantsBytes) {
  // FlatBuffers' default limit of a million tables is too low: a large model has more values and
  // commands.
  constexpr flatbuffers::uoffset_t kMaxDepth = 64;
  constexpr flatbuffers::uoffset_t kMaxTables = 50'000'000;
  flatbuffers::Verifier verifier(metadata.data(), metadata.size(), kMaxDepth, kMaxTables);
  if (!VerifyProgramBuffer(verifier))
    return {StatusCode::kDataLoss, "the metadata is not a valid FlatBuffer of a program"};
  const Program &root = *GetProgram(metadata.data());
  GANTRY_RETURN_IF_ERROR(Verifier(root, constantsBytes).run(true));
  for (uint32_t i = 0; root.variants() && i < root.variants()->size(); ++i) {
    const Program &variant = *root.variants()->Get(i);
    Status status = Verifier(variant, constantsBytes).run(false);
    if (status.isOk())
      status = checkSameInterface(root, variant);
    if (!status.isOk())
      return {status.code(), "variants[" + std::to_string(i) + "]: " + status.message()};
  }
  return Status::ok();
}

} // namespace gantry::artifact

// Breaks one rule of a valid program at a time. The writer, which runs the reader's checks, must
// refuse the program with a message that names the rule.
#include "engine/artifact/verify.h"
#include "tests/engine/artifact/sample_program.h"

#include <gtest/gtest.h>

#include <functional>

namespace gantry::artifact {
namespace {

struct Case {
  const char *name;
  const char *words; // A part of the expected message.
  std::function<void(ProgramT &)> breakIt;
  bool dynamic = false;
};

class Verify : public testing::TestWithParam<Case> {};

TEST_P(Verify, Refuses) {
  const ScratchFolder folder;
  const std::vector<uint8_t> constant = sampleConstant();
  ProgramT program = GetParam().dynamic ? dynamicProgram() : staticProgram();
  ASSERT_TRUE(write(folder.path("good"), program, {{0, constant}}).isOk());
  GetParam().breakIt(program);
  const Status status = write(folder.path("bad"), program, {{0, constant}});
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_NE(status.message().find(GetParam().words), std::string::npos) << status.message();
  EXPECT_EQ(folder.fileCount(), 1u);
}

constexpr uint32_t kFar = 1000;

void addState(ProgramT &program, const char *name, uint32_t input, uint32_t output) {
  auto state = std::make_unique<StateT>();
  state->name = name;
  state->input = input;
  state->output = output;
  state->capacity_bytes = 128;
  program.states.push_back(std::move(state));
}

const Case kCases[] = {
    // States. The sample's state "x" has input 0 (value 0) and output 0 (value 5).
    {"StateWithoutName", "states[0]: its name is missing",
     [](ProgramT &p) { p.states[0]->name.clear(); }},
    {"StateTwice", "another state has the same name",
     [](ProgramT &p) { addState(p, "x", 0, UINT32_MAX); }},
    {"StateOfATakenInput", "its input belongs to another state",
     [](ProgramT &p) { addState(p, "w", 0, UINT32_MAX); }},
    {"StateOfATakenOutput", "its output belongs to another state",
     [](ProgramT &p) {
       p.inputs.push_back(std::make_unique<PortT>(*p.inputs[0]));
       addState(p, "w", 1, 0);
     }},
    {"StateOfAnAbsentInput", "refers to input 1000, but the number of inputs is 1",
     [](ProgramT &p) { p.states[0]->input = kFar; }},
    {"StateOfAnAbsentOutput", "refers to output 1000, but the number of outputs is 1",
     [](ProgramT &p) { p.states[0]->output = kFar; }},
    {"StateOfADonatedInput", "its input is donated",
     [](ProgramT &p) {
       p.values[0]->storage = Storage::transient;
       p.values[0]->byte_offset = 0;
     }},
    {"StateOfAnotherType", "differ in type or rank",
     [](ProgramT &p) {
       p.outputs[0]->type = ElementType::i32;
       p.values[5]->type = ElementType::i32;
     }},
    {"StateOfAnotherShape", "differ in dimension 1",
     [](ProgramT &p) { p.outputs[0]->dims = {0, 3}; }},
    {"StateWithASharedOutput", "another output has the value",
     [](ProgramT &p) { p.outputs.push_back(std::make_unique<PortT>(*p.outputs[0])); }},
    {"StateWithTooLittleRoom", "has a value of 128 bytes, but a capacity of 127",
     [](ProgramT &p) { p.states[0]->capacity_bytes = 127; }},
    {"StateReadAfterItIsWritten", "commands[1] reads the old value after the new one was written",
     [](ProgramT &p) {
       p.commands[0]->writes[2] = false;
       p.commands[0]->bindings[3] = 5;
       p.commands[1]->bindings = {0, 3};
     }},
    {"StateReadAfterAPartIsWritten",
     "commands[1] reads the old value after the new one was written",
     [](ProgramT &p) {
       p.values[3]->storage = Storage::output;
       p.values[3]->base = 5;
       p.values[3]->slot = p.values[5]->slot;
       p.commands[1]->bindings = {0, 5};
     }},
    {"StateOverwrittenByItsReader", "commands[0] writes the new value over the old one",
     [](ProgramT &p) {
       p.knows_storage = true;
       p.commands[0]->bindings[3] = 5;
       p.commands[1]->bindings = {4, 3};
     }},
    {"StateCopiedToAPartOfItself", "commands[1] writes the new value over the old one",
     [](ProgramT &p) {
       p.knows_storage = true;
       p.values[3]->storage = Storage::output;
       p.values[3]->base = 5;
       p.values[3]->slot = p.values[5]->slot;
       p.commands[0]->bindings[3] = 4;
       p.commands[1]->bindings = {0, 3};
     }},
    {"StateWithTooShortAnOrder", "its order must contain each of the 2 dimensions once",
     [](ProgramT &p) { p.states[0]->order = {0}; }},
    {"StateWithADimensionTwice", "its order must contain each of the 2 dimensions once",
     [](ProgramT &p) { p.states[0]->order = {1, 1}; }},
    {"StateWithAnAbsentDimension", "its order must contain each of the 2 dimensions once",
     [](ProgramT &p) { p.states[0]->order = {0, 66}; }},
    {"StateWithAnAbsentFirstValue", "refers to value 1000, but the number of values is 6",
     [](ProgramT &p) { p.states[0]->initial = kFar; }},
    {"StateWithAFirstValueThatIsNoConstant", "its first value is no constant",
     [](ProgramT &p) { p.states[0]->initial = 3; }},
    {"StateWithAFirstValueOfAnotherSize", "its first value and its input differ in size",
     [](ProgramT &p) { p.states[0]->initial = 1; }},
    // Expressions.
    {"ExprRefersToItself", "do not come before it",
     [](ProgramT &p) { p.exprs[2] = Expr(ExprOp::mul, 2, 1, 0); }},
    {"ExprRefersForward", "do not come before it",
     [](ProgramT &p) { p.exprs[2] = Expr(ExprOp::mul, 1, 3, 0); }},
    {"ExprUnknownOperation", "operation 77",
     [](ProgramT &p) { p.exprs[2] = Expr(static_cast<ExprOp>(77), 0, 1, 0); }},
    {"ExprOverflows", "overflows 64 bits",
     [](ProgramT &p) { p.exprs[1] = Expr(ExprOp::constant, 0, 0, INT64_MAX); }},
    {"ExprDividesByZero", "divides by zero",
     [](ProgramT &p) { p.exprs[5] = Expr(ExprOp::constant, 0, 0, 0); }},
    {"SymbolInStaticProgram", "symbol",
     [](ProgramT &p) { p.exprs[0] = Expr(ExprOp::symbol, 0, 0, 0); }},
    {"SymbolOutOfRange", "refers to symbol 1, but the number of symbols is 1",
     [](ProgramT &p) { p.exprs[0] = Expr(ExprOp::symbol, 0, 0, 1); }, true},
    {"SymbolNegative", "refers to symbol -1",
     [](ProgramT &p) { p.exprs[0] = Expr(ExprOp::symbol, 0, 0, -1); }, true},
    {"SymbolOfAbsentInput", "refers to input 1, but the number of inputs is 1", [](ProgramT &p) { p.symbols[0]->input = 1; }, true},
    {"SymbolOfAbsentDimension", "dimension 2 of an input of rank 2",
     [](ProgramT &p) { p.symbols[0]->dim = 2; }, true},
    {"SymbolWithEmptyRange", "bounds 5 to 4",
     [](ProgramT &p) {
       p.symbols[0]->min = 5;
       p.symbols[0]->max = 4;
     },
     true},
    {"BoundedButNotDynamic", "has bounds for symbols, but is not dynamic",
     [](ProgramT &p) { p.bounded = true; }},
    {"BoundedWithoutBound", "no bound in a program that is planned for bounds",
     [](ProgramT &p) {
       p.bounded = true;
       p.symbols[0]->max = 0;
       p.arena_bytes = 1 << 20;
       for (auto &value : p.values)
         if (value->storage == Storage::transient)
           value->byte_offset = 0;
     }, true},
    {"BoundedOutsideOfTheArena", "lie outside of the arena",
     [](ProgramT &p) {
       p.bounded = true;
       for (auto &value : p.values)
         if (value->storage == Storage::transient)
           value->byte_offset = 1 << 20;
     }, true},
    {"DonatedInputThatComesLater", "donated, but is not alive from the start",
     [](ProgramT &p) {
       ValueT &value = *p.values[p.inputs[0]->value];
       value.storage = Storage::transient;
       value.byte_offset = 0;
       value.slot = 5;
       value.first_use = value.last_use = 1;
     }},
    {"SymbolsButNotDynamic", "symbol", [](ProgramT &p) { p.dynamic = false; }, true},
    // Ports.
    {"PortValueOutOfRange", "refers to value 1000, but the number of values is 6", [](ProgramT &p) { p.inputs[0]->value = kFar; }},
    {"PortOfAnotherStorage", "does not have the kind of storage", [](ProgramT &p) { p.outputs[0]->value = 3; }},
    {"PortOfAnotherType", "has another element type",
     [](ProgramT &p) { p.inputs[0]->type = ElementType::i32; }},
    {"PortUnknownType", "element type 13",
     [](ProgramT &p) { p.outputs[0]->type = static_cast<ElementType>(13); }},
    {"PortDimOutOfRange", "dims refers to expression 1000, but", [](ProgramT &p) { p.inputs[0]->dims[1] = kFar; }},
    {"PortRank", "rank 9", [](ProgramT &p) { p.inputs[0]->dims.assign(9, 0); }},
    // Values.
    {"ValueUnknownStorage", "storage 5",
     [](ProgramT &p) { p.values[3]->storage = static_cast<Storage>(5); }},
    {"ValueOnTheHostOfUnknownSize", "its size is not known",
     [](ProgramT &p) { p.values[3]->storage = Storage::host; }, true},
    {"ValueUnknownType", "element type 200",
     [](ProgramT &p) { p.values[3]->type = static_cast<ElementType>(200); }},
    {"ValueRank", "rank 9", [](ProgramT &p) { p.values[1]->dims.assign(9, 0); }},
    {"ValueDimOutOfRange", "dims refers to expression",
     [](ProgramT &p) { p.values[1]->dims[0] = 9; }},
    {"ValueSizeOutOfRange", "size refers to expression",
     [](ProgramT &p) { p.values[1]->size = 9; }},
    {"ValueAlignment", "alignment 24", [](ProgramT &p) { p.values[0]->alignment = 24; }},
    {"ValueAlignmentZero", "alignment 0", [](ProgramT &p) { p.values[0]->alignment = 0; }},
    {"ValueUseBackwards", "first used by command 1, last by 0",
     [](ProgramT &p) { p.values[3]->first_use = 1, p.values[3]->last_use = 0; }},
    {"ValueUseBeyondCommands", "is last used by command 2, but the number of commands is 2", [](ProgramT &p) { p.values[3]->last_use = 2; }},
    {"ValueNegativeSize", "its size is -4",
     [](ProgramT &p) { p.exprs[8] = Expr(ExprOp::constant, 0, 0, -4); }},
    {"ConstantOutside", "lie outside of the 256 bytes",
     [](ProgramT &p) { p.values[1]->byte_offset = 256; }},
    {"ConstantOverflows", "lie outside",
     [](ProgramT &p) { p.values[1]->byte_offset = UINT64_MAX - 100; }},
    {"ConstantTooLarge", "512 bytes at 0 lie outside",
     [](ProgramT &p) { p.exprs[8] = Expr(ExprOp::constant, 0, 0, 512); }},
    {"ConstantMisaligned", "multiple of its alignment",
     [](ProgramT &p) {
       p.values[1]->byte_offset = 128;
       p.values[1]->size = 3;
     }},
    {"ConstantOfDynamicSize", "depends on a dynamic dimension",
     [](ProgramT &p) { p.values[1]->size = 4; }, true},
    {"FillOfOddSize", "is a constant of one repeated word, but has 255 bytes",
     [](ProgramT &p) { p.exprs[8] = Expr(ExprOp::constant, 0, 0, 255); }},
    {"FillThatIsNoConstant", "is marked as one repeated word, but is not a constant",
     [](ProgramT &p) { p.values[3]->fill = true; }},
    {"TransientOutsideOfArena", "outside of the arena of 300 bytes",
     [](ProgramT &p) { p.arena_bytes = 300; }},
    {"TransientUnplaced", "outside of the arena",
     [](ProgramT &p) { p.values[3]->byte_offset = p.values[4]->byte_offset = UINT64_MAX; }},
    {"TransientMisaligned", "multiple of its alignment",
     [](ProgramT &p) { p.values[3]->byte_offset = p.values[4]->byte_offset = 100; }},
    {"TransientPlacedInDynamic", "although the program is dynamic",
     [](ProgramT &p) { p.values[3]->byte_offset = p.values[4]->byte_offset = 0; }, true},
    {"SlotWithTwoOffsets", "which shares its slot 3",
     [](ProgramT &p) { p.values[4]->byte_offset = 0; }},
    {"SlotOffsetOutOfRange", "slot offset refers to expression 1000",
     [](ProgramT &p) { p.values[4]->slot_offset = kFar; }},
    {"SlotOffsetOfAWholeOutput", "has a slot offset, but is neither",
     [](ProgramT &p) {
       for (auto &value : p.values)
         if (value->storage == Storage::output)
           value->slot_offset = 0;
     }},
    {"PartOfAnotherKindOfStorage", "which is not the whole of its slot",
     [](ProgramT &p) {
       for (auto &value : p.values)
         if (value->storage == Storage::output)
           value->base = 0; // An input.
     }},
    {"PartialCommandInNoPlace", "its result takes no operand's place",
     [](ProgramT &p) { p.commands[0]->partial = true; }},
    {"SlotOffsetOfAnInput", "has a slot offset, but is neither", [](ProgramT &p) { p.values[0]->slot_offset = 0; }},
    {"SlotOffsetBeyondTheArena", "outside of the arena",
     [](ProgramT &p) {
       p.exprs.push_back(Expr(ExprOp::constant, 0, 0, 4096));
       p.values[4]->slot_offset = static_cast<uint32_t>(p.exprs.size() - 1);
       p.values[4]->alignment = 4;
     }},
    {"SlotOutOfRange", "slot 6", [](ProgramT &p) { p.values[4]->slot = 6; }},
    // Kernels.
    {"KernelWorkgroupRank", "2 workgroup sizes",
     [](ProgramT &p) {
       p.kernels[0]->workgroup_size = {64, 1};
     }},
    {"KernelWorkgroupZero", "workgroup size of 0",
     [](ProgramT &p) {
       p.kernels[0]->workgroup_size = {64, 0, 1};
     }},
    {"KernelWorkgroupHuge", "invocations",
     [](ProgramT &p) {
       p.kernels[0]->workgroup_size = {65535, 65535, 65535};
     }},
    {"KernelWithoutEntry", "entry point", [](ProgramT &p) { p.kernels[0]->entry_point = ""; }},
    {"KernelWithoutVariant", "no variant", [](ProgramT &p) { p.kernels[0]->variants.clear(); }},
    {"KernelBuffers", "4294967295 buffers",
     [](ProgramT &p) { p.kernels[0]->buffer_count = UINT32_MAX; }},
    {"KernelDims", "4097 dims", [](ProgramT &p) { p.kernels[0]->dim_count = 4097; }},
    {"VariantBinding", "binding 3",
     [](ProgramT &p) { p.kernels[0]->variants[0]->binding = static_cast<Binding>(3); }},
    {"VariantSpirvTooShort", "its SPIR-V (4 words)",
     [](ProgramT &p) { p.kernels[0]->variants[1]->spirv.resize(4); }},
    {"VariantSpirvMagic", "does not begin with a SPIR-V header",
     [](ProgramT &p) { p.kernels[0]->variants[1]->spirv[0] = 0x03022307; }},
    {"VariantPushConstants", "its block needs 40",
     [](ProgramT &p) { p.kernels[0]->variants[1]->push_constant_bytes = 8; }},
    {"VariantEmptyCapability", "empty capability",
     [](ProgramT &p) { p.kernels[0]->variants[1]->capabilities.push_back(""); }},
    {"TexelsOfStorageBuffers", "binding storage_buffer with 1 buffers read as texels",
     [](ProgramT &p) {
       p.kernels[0]->variants[0]->texels = {TexelRead(0, TexelFormat::rgba32f, true)};
     }},
    {"TexelsOfNone", "binding texel with 0 buffers",
     [](ProgramT &p) { p.kernels[0]->variants[2]->texels.clear(); }},
    {"TexelBufferOutOfRange", "reads buffer 4 as texels, but",
     [](ProgramT &p) {
       p.kernels[0]->variants[2]->texels[1] = TexelRead(4, TexelFormat::rgba32f, true);
     }},
    {"TexelBufferTwice", "texel buffer 0 does not come after 0",
     [](ProgramT &p) {
       p.kernels[0]->variants[2]->texels[1] = TexelRead(0, TexelFormat::rgba32i, false);
     }},
    {"TexelFormat", "texel format 4",
     [](ProgramT &p) {
       p.kernels[0]->variants[2]->texels[0] = TexelRead(0, static_cast<TexelFormat>(4), true);
     }},
    {"TexelBufferWritten", "writes buffer 3, which its kernel reads as texels",
     [](ProgramT &p) {
       p.kernels[0]->variants[2]->texels[1] = TexelRead(3, TexelFormat::rgba32f, true);
     }},
    {"VariantWorkgroupSizes", "2 workgroup sizes instead of 3",
     [](ProgramT &p) { p.kernels[0]->variants[2]->workgroup_size.pop_back(); }},
    {"VariantWorkgroupSize", "a workgroup size of 0",
     [](ProgramT &p) { p.kernels[0]->variants[2]->workgroup_size[1] = 0; }},
    {"MultiplesWithoutAlternatives", "only alternatives may need multiples",
     [](ProgramT &p) { p.kernels[0]->variants[0]->dim_multiples = {4}; }, true},
    {"MultiplesOfAbsentDims", "it needs multiples for 1000 dimensions",
     [](ProgramT &p) {
       p.kernels[0]->variants[0]->alternatives = 1;
       p.kernels[0]->variants[0]->dim_multiples.assign(kFar, 4);
     },
     true},
    {"MultiplesOfZero", "dimension 0 must be a multiple of 0",
     [](ProgramT &p) {
       p.kernels[0]->variants[0]->alternatives = 1;
       p.kernels[0]->variants[0]->dim_multiples = {0};
     },
     true},
    // Commands.
    {"CommandKind", "kind 2",
     [](ProgramT &p) { p.commands[0]->kind = static_cast<CommandKind>(2); }},
    {"CommandKernel", "refers to kernel 1, but the number of kernels is 1", [](ProgramT &p) { p.commands[0]->kernel = 1; }},
    {"CommandBinding", "refers to value 6, but the number of values is 6", [](ProgramT &p) { p.commands[0]->bindings[0] = 6; }},
    {"CommandBindings", "3 bindings; its kernel has 4",
     [](ProgramT &p) {
       p.commands[0]->bindings.pop_back();
       p.commands[0]->writes.pop_back();
     }},
    {"CommandWrites", "4 bindings but 3 write flags",
     [](ProgramT &p) { p.commands[0]->writes.pop_back(); }},
    {"CommandDims", "2 dims; its kernel has 1",
     [](ProgramT &p) {
       p.commands[0]->dims = {0, 1};
     }},
    {"CommandDimIndex", "dims refers to expression 9, but the number of expressions is 9",
     [](ProgramT &p) { p.commands[0]->dims = {9}; }},
    {"CommandWorkgroups", "2 workgroup counts",
     [](ProgramT &p) { p.commands[0]->workgroups.pop_back(); }},
    {"CommandNoWorkgroups", "0 workgroup counts",
     [](ProgramT &p) { p.commands[0]->workgroups.clear(); }},
    {"VariantGrid", "no workgroup counts for its kernel's variant of grid 2", [](ProgramT &p) { p.kernels[0]->variants[0]->grid = 2; }},
    {"CommandWithoutGrid", "no workgroup counts for its kernel's variant of grid 1",
     [](ProgramT &p) { p.commands[0]->other_workgroups.clear(); }},
    {"CommandTexelWorkgroups", "1 workgroup counts",
     [](ProgramT &p) { p.commands[0]->other_workgroups.resize(1); }},
    {"CommandTexelWorkgroupIndex", "other_workgroups refers to expression",
     [](ProgramT &p) { p.commands[0]->other_workgroups[0] = 9; }},
    {"CommandWorkgroupIndex", "workgroups refers to expression",
     [](ProgramT &p) { p.commands[0]->workgroups[2] = 9; }},
    {"CommandWorkgroupCount", "workgroup count of -1",
     [](ProgramT &p) { p.exprs[7] = Expr(ExprOp::constant, 0, 0, -1); }},
    {"CommandFlops", "flops refers to expression", [](ProgramT &p) { p.commands[1]->flops = 9; }},
    {"CommandBytes", "bytes_moved refers to expression",
     [](ProgramT &p) { p.commands[1]->bytes_moved = 9; }},
    {"CommandWritesConstant", "which is a constant",
     [](ProgramT &p) { p.commands[0]->writes[1] = true; }},
    {"CommandWritesInput", "which is an input",
     [](ProgramT &p) { p.commands[0]->writes[0] = true; }},
    {"CopyOfThree", "a copy reads its first",
     [](ProgramT &p) {
       p.commands[1]->bindings.push_back(3);
       p.commands[1]->writes.push_back(false);
     }},
    {"CopyOfNone", "a copy reads its first",
     [](ProgramT &p) {
       p.commands[1]->bindings.clear();
       p.commands[1]->writes.clear();
     }},
    {"CopyBackwards", "a copy reads its first",
     [](ProgramT &p) {
       p.commands[1]->bindings = {5, 4};
       p.commands[1]->writes = {true, false};
     }},
    {"CopyOfOtherSize", "copies a value of 256 bytes to one of 128",
     [](ProgramT &p) { p.commands[1]->bindings[0] = 1; }},
    // The plan.
    {"RequirementBeyondExprs", "requirements", [](ProgramT &p) { p.requirements = {100000}; }},
    {"PeakBeyondCommands", "its peak is at command 2, but the number of commands is 2", [](ProgramT &p) { p.peak_command = 2; }},
    {"OneStrip", "strips[0]: 1 strips; at least 2 are needed",
     [](ProgramT &p) {
       p.strips.push_back(std::make_unique<StripChainT>());
       p.strips[0]->count = 1;
     }},
    {"BoundAboveArena", "below its lower bound", [](ProgramT &p) { p.lower_bound_bytes = 513; }},
};

INSTANTIATE_TEST_SUITE_P(Artifact, Verify, testing::ValuesIn(kCases),
                         [](const auto &info) { return std::string(info.param.name); });

/// Verifies metadata that lacks the list or string number `absent` (-1: none is absent). Sets
/// `count` to the number of lists and strings. The writer cannot produce such metadata.
Status verifyWithout(int absent, int &count) {
  flatbuffers::FlatBufferBuilder builder;
  int next = 0;
  const auto text = [&] {
    return next++ == absent ? flatbuffers::Offset<flatbuffers::String>()
                            : builder.CreateString("text");
  };
  const auto numbers = [&](std::vector<uint32_t> list) {
    return next++ == absent ? flatbuffers::Offset<flatbuffers::Vector<uint32_t>>()
                            : builder.CreateVector(list);
  };
  const auto list = [&](auto item) {
    using Items = flatbuffers::Vector<decltype(item)>;
    return next++ == absent ? flatbuffers::Offset<Items>() : builder.CreateVector(&item, 1);
  };
  const std::vector<uint32_t> spirvWords = {0x07230203, 0x00010300, 0, 8, 0};
  const auto port = [&](uint32_t value) {
    const auto name = text();
    return CreatePort(builder, name, ElementType::f32, numbers({0}), value);
  };
  const auto value = [&](Storage storage) {
    const auto name = text();
    const auto dims = numbers({0});
    return CreateValue(builder, name, storage, ElementType::f32, dims, 0, 256, UINT64_MAX, 0, 0, 0,
                       false, 0, text());
  };
  const flatbuffers::Offset<Value> bothValues[] = {value(Storage::input), value(Storage::output)};
  const auto values = next++ == absent ? 0 : builder.CreateVector(bothValues, 2);
  const auto inputs = list(port(0));
  const auto outputs = list(port(1));
  const auto symbols = list(CreateSymbol(builder, text(), 0, 0));
  builder.ForceVectorAlignment(spirvWords.size(), sizeof(uint32_t), 16);
  const auto spirv = numbers(spirvWords);
  const auto capabilities = list(builder.CreateString("shaderInt64"));
  const auto variants =
      list(CreateKernelVariant(builder, Binding::storage_buffer, spirv, 0, 0, capabilities));
  const auto kernelName = text();
  const auto entryPoint = text();
  const auto workgroupSize = numbers({1, 1, 1});
  const auto kernels =
      list(CreateKernel(builder, kernelName, entryPoint, workgroupSize, 0, 0, variants, text()));
  const auto commandName = text();
  const auto location = text();
  const auto bindings = numbers({});
  const auto writes = next++ == absent ? 0 : builder.CreateVector(std::vector<uint8_t>());
  const auto dims = numbers({});
  const auto commands = list(CreateCommand(builder, CommandKind::dispatch, commandName, location, 0,
                                           bindings, writes, dims, numbers({0, 0, 0})));
  const Expr one(ExprOp::symbol, 0, 0, 0);
  const auto exprs = next++ == absent ? 0 : builder.CreateVectorOfStructs(&one, 1);
  const auto chunks = next++ == absent ? 0 : builder.CreateVectorOfStructs(std::vector<Chunk>());
  const auto requirements = numbers({});
  const auto first = text();
  const auto chain = CreateStripChain(builder, first, text(), 2);
  const auto strips = builder.CreateVector(&chain, 1);
  const auto name = text();
  const auto producer = text();
  const auto source = text();
  const auto profile = text();
  FinishProgramBuffer(builder,
                      CreateProgram(builder, name, producer, source, profile, true, symbols, exprs,
                                    inputs, outputs, values, kernels, commands, 0, 0, 0, 0, chunks,
                                    requirements, 0, 0, 0, 0, false, 0, 0, false, 0, strips));
  count = next;
  return verifyMetadata({builder.GetBufferPointer(), builder.GetSize()}, 0);
}

TEST(VerifyPresence, AbsentStringsAndListsAreRefused) {
  int count = 0;
  const Status whole = verifyWithout(-1, count);
  ASSERT_TRUE(whole.isOk()) << whole.message();
  ASSERT_GT(count, 35);
  for (int absent = 0; absent < count; ++absent) {
    const Status status = verifyWithout(absent, count);
    ASSERT_EQ(status.code(), StatusCode::kDataLoss) << absent;
    ASSERT_NE(status.message().find("missing"), std::string::npos) << status.message();
  }
}

} // namespace
} // namespace gantry::artifact

// Implements kernel_key.h.
#include "codegen/tuning/kernel_key.h"

#include "codegen/dialect/gantry_dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA1.h"
#include "llvm/Support/raw_ostream.h"

namespace gantry::codegen {

using namespace mlir;

namespace {

/// Prints a block as text without names, locations and values of floating-point constants. Values
/// are numbered in the order of their definitions.
class Printer {
public:
  explicit Printer(llvm::raw_ostream &stream) : stream_(stream) {}

  void print(Block &block) {
    stream_ << '{';
    for (BlockArgument argument : block.getArguments())
      define(argument);
    stream_ << '\n';
    for (Operation &op : block)
      print(op);
    stream_ << "}\n";
  }

private:
  void define(Value value) {
    numbers_.try_emplace(value, numbers_.size());
    stream_ << ' ' << value.getType();
  }

  void print(Operation &op) {
    stream_ << op.getName();
    for (Value operand : op.getOperands())
      stream_ << ' ' << numbers_.lookup(operand);
    const bool number = isa<arith::ConstantOp>(op) &&
                        isa<FloatType>(getElementTypeOrSelf(op.getResult(0).getType()));
    for (NamedAttribute attribute : op.getAttrDictionary())
      if (!number || attribute.getName() != "value")
        stream_ << ' ' << attribute.getName().getValue() << '=' << attribute.getValue();
    for (Value result : op.getResults())
      define(result);
    for (Region &region : op.getRegions())
      for (Block &block : region)
        print(block);
    stream_ << '\n';
  }

  llvm::raw_ostream &stream_;
  llvm::DenseMap<Value, size_t> numbers_;
};

/// Prints a kernel's signature, or nothing if the function has none. Tables of measured tiles store
/// a hash of this text, so the text must stay the same when the attribute's assembly format
/// changes.
void printSignature(llvm::raw_ostream &stream, SignatureAttr signature) {
  if (!signature)
    return;
  Builder builder(signature.getContext());
  auto field = [&](llvm::StringRef name, Attribute value) {
    stream << ' ' << GantryDialect::getDialectNamespace() << '.' << name << '=' << value;
  };
  if (!signature.getLayouts().empty()) {
    llvm::SmallVector<Attribute> layouts;
    for (LayoutAttr layout : signature.getLayouts())
      layouts.push_back(builder.getDenseI64ArrayAttr(layout.getParts()));
    field("layouts", builder.getArrayAttr(layouts));
  }
  field("operand_dims", builder.getDenseI64ArrayAttr(signature.getOperandDims()));
  field("result_dims", builder.getDenseI64ArrayAttr(signature.getResultDims()));
  if (signature.getRows())
    field("rows", builder.getUnitAttr());
}

} // namespace

std::string kernelKey(func::FuncOp kernel) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  Printer printer(stream);
  stream << kernel.getFunctionType();
  printSignature(stream, attributeOf<SignatureAttr>(kernel));
  for (Block &block : kernel.getBody())
    printer.print(block);
  llvm::SHA1 hash;
  hash.update(text);
  return llvm::toHex(hash.final(), /*LowerCase=*/true).substr(0, 16);
}

} // namespace gantry::codegen

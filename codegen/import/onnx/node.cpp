// Implements Node: reads a node and its attributes from the protobuf message.
#include "codegen/import/onnx/node.h"

#include "codegen/import/tensor_proto.h"

#include <onnx/onnx_pb.h>

namespace gantry::importer {

using onnx::AttributeProto;

llvm::StringRef Node::opType() const { return proto_->op_type(); }

std::string Node::name() const {
  if (!proto_->name().empty())
    return proto_->name();
  return proto_->op_type() + "_" + std::to_string(index_);
}

size_t Node::inputCount() const { return proto_->input_size(); }

llvm::StringRef Node::inputName(size_t index) const {
  return index < inputCount() ? llvm::StringRef(proto_->input(index)) : llvm::StringRef();
}

size_t Node::outputCount() const { return proto_->output_size(); }

llvm::StringRef Node::outputName(size_t index) const {
  return index < outputCount() ? llvm::StringRef(proto_->output(index)) : llvm::StringRef();
}

const AttributeProto *Node::find(llvm::StringRef name, int type) const {
  for (const AttributeProto &attribute : proto_->attribute()) {
    if (attribute.name() != name)
      continue;
    // Very old exporters do not write the type.
    if (attribute.type() != type && attribute.type() != AttributeProto::UNDEFINED)
      failBadInput("the attribute " + name + " has type " + llvm::Twine(int(attribute.type())) +
                   "; it must have type " + llvm::Twine(type) + " (ONNX's AttributeType)");
    return &attribute;
  }
  return nullptr;
}

bool Node::hasAttribute(llvm::StringRef name) const {
  for (const AttributeProto &attribute : proto_->attribute())
    if (attribute.name() == name)
      return true;
  return false;
}

int64_t Node::intAttribute(llvm::StringRef name, int64_t otherwise) const {
  const AttributeProto *a = find(name, AttributeProto::INT);
  return a ? a->i() : otherwise;
}

double Node::floatAttribute(llvm::StringRef name, double otherwise) const {
  const AttributeProto *a = find(name, AttributeProto::FLOAT);
  return a ? a->f() : static_cast<float>(otherwise); // ONNX's float attributes are f32.
}

std::string Node::stringAttribute(llvm::StringRef name, llvm::StringRef otherwise) const {
  const AttributeProto *a = find(name, AttributeProto::STRING);
  return a ? a->s() : otherwise.str();
}

std::optional<llvm::SmallVector<int64_t>> Node::intsAttribute(llvm::StringRef name) const {
  const AttributeProto *a = find(name, AttributeProto::INTS);
  if (!a)
    return std::nullopt;
  return llvm::SmallVector<int64_t>(a->ints().begin(), a->ints().end());
}

std::optional<llvm::SmallVector<double>> Node::floatsAttribute(llvm::StringRef name) const {
  const AttributeProto *a = find(name, AttributeProto::FLOATS);
  if (!a)
    return std::nullopt;
  return llvm::SmallVector<double>(a->floats().begin(), a->floats().end());
}

Constant Node::tensorAttribute(llvm::StringRef name) const {
  const AttributeProto *a = find(name, AttributeProto::TENSOR);
  return a ? hostTensorFromProto(a->t(), owner_, external_) : nullptr;
}

const onnx::GraphProto *Node::graphAttribute(llvm::StringRef name) const {
  const AttributeProto *a = find(name, AttributeProto::GRAPH);
  return a ? &a->g() : nullptr;
}

} // namespace gantry::importer

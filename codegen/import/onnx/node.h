// Node: a view of one ONNX node.
//
// A Node refers to the node's protobuf message and keeps the model that contains the message alive.
// It is cheap to copy. This header does not include protobuf's. Reading an attribute that has
// another type throws ImportError (import_error.h) with the kind kBadInput. Thread safety:
// functions only read the message.
#pragma once

#include "codegen/import/onnx/host_tensor.h"

#include "mlir/IR/Location.h"

#include <optional>

namespace onnx {
class AttributeProto;
class GraphProto;
class NodeProto;
} // namespace onnx

namespace gantry::importer {

class ExternalData;

class Node {
public:
  Node(const onnx::NodeProto &proto, int index, mlir::Location loc, int64_t opset,
       std::shared_ptr<const void> owner, ExternalData *external)
      : proto_(&proto), index_(index), loc_(loc), opset_(opset), owner_(std::move(owner)),
        external_(external) {}

  llvm::StringRef opType() const;
  /// The node's name, or its operator and index ("Conv_12") if it has none.
  std::string name() const;
  /// The node's position in the graph.
  int index() const { return index_; }
  mlir::Location loc() const { return loc_; }
  /// The version of the default operator set that the model imports.
  int64_t opset() const { return opset_; }

  size_t inputCount() const;
  /// Returns an empty name if the input is absent.
  llvm::StringRef inputName(size_t index) const;
  bool hasInput(size_t index) const { return !inputName(index).empty(); }
  size_t outputCount() const;
  llvm::StringRef outputName(size_t index) const;
  bool hasOutput(size_t index) const { return !outputName(index).empty(); }

  // If the attribute is absent, these functions return `otherwise`, nothing, or null.
  bool hasAttribute(llvm::StringRef name) const;
  int64_t intAttribute(llvm::StringRef name, int64_t otherwise) const;
  double floatAttribute(llvm::StringRef name, double otherwise) const;
  std::string stringAttribute(llvm::StringRef name, llvm::StringRef otherwise) const;
  std::optional<llvm::SmallVector<int64_t>> intsAttribute(llvm::StringRef name) const;
  std::optional<llvm::SmallVector<double>> floatsAttribute(llvm::StringRef name) const;
  Constant tensorAttribute(llvm::StringRef name) const;
  const onnx::GraphProto *graphAttribute(llvm::StringRef name) const;

private:
  const onnx::AttributeProto *find(llvm::StringRef name, int type) const;

  const onnx::NodeProto *proto_;
  int index_;
  mlir::Location loc_;
  int64_t opset_;
  std::shared_ptr<const void> owner_;
  ExternalData *external_;
};

} // namespace gantry::importer

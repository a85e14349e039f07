// One ONNX node as its importer sees it: inputs, outputs and attributes, checked as they are read.
// A light view over the protobuf message (whose header stays out of this one).
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
  /// The node's name, or "Conv_12" where it has none.
  std::string name() const;
  int index() const { return index_; }
  mlir::Location loc() const { return loc_; }
  int64_t opset() const { return opset_; }

  size_t inputCount() const;
  llvm::StringRef inputName(size_t index) const; // "" where absent
  bool hasInput(size_t index) const { return !inputName(index).empty(); }
  size_t outputCount() const;
  llvm::StringRef outputName(size_t index) const;
  bool hasOutput(size_t index) const { return !outputName(index).empty(); }

  bool hasAttribute(llvm::StringRef name) const;
  int64_t intAttribute(llvm::StringRef name, int64_t otherwise) const;
  double floatAttribute(llvm::StringRef name, double otherwise) const;
  std::string stringAttribute(llvm::StringRef name, llvm::StringRef otherwise) const;
  std::optional<llvm::SmallVector<int64_t>> intsAttribute(llvm::StringRef name) const;
  std::optional<llvm::SmallVector<double>> floatsAttribute(llvm::StringRef name) const;
  Constant tensorAttribute(llvm::StringRef name) const;               // null where absent
  const onnx::GraphProto *graphAttribute(llvm::StringRef name) const; // null where absent

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

// OnnxModel: builds small ONNX models for tests, as protobuf messages. The functions do not check
// the model, so tests can also build invalid models.
#pragma once

#include <cstdint>
#include <onnx/onnx_pb.h>
#include <string>
#include <vector>

namespace gantry::test {

class OnnxModel {
public:
  explicit OnnxModel(int64_t opset = 16) {
    model.set_ir_version(8);
    model.add_opset_import()->set_version(opset);
    model.mutable_graph()->set_name("test");
  }

  onnx::GraphProto &graph() { return *model.mutable_graph(); }

  /// Adds an input. A dim is a number, or the name of a dynamic dimension. type is a
  /// TensorProto.DataType; 1: float.
  void input(const std::string &name, const std::vector<std::string> &dims, int type = 1) {
    fill(*graph().add_input(), name, dims, type);
  }
  void output(const std::string &name) { graph().add_output()->set_name(name); }
  void output(const std::string &name, const std::vector<std::string> &dims, int type = 1) {
    fill(*graph().add_output(), name, dims, type);
  }

  onnx::NodeProto &node(const std::string &op, const std::vector<std::string> &inputs,
                        const std::vector<std::string> &outputs, const std::string &name = "") {
    onnx::NodeProto &node = *graph().add_node();
    node.set_op_type(op);
    node.set_name(name);
    for (const std::string &input : inputs)
      node.add_input(input);
    for (const std::string &output : outputs)
      node.add_output(output);
    return node;
  }

  onnx::TensorProto &floats(const std::string &name, const std::vector<int64_t> &dims,
                            const std::vector<float> &values) {
    onnx::TensorProto &tensor = *graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    for (int64_t dim : dims)
      tensor.add_dims(dim);
    tensor.set_raw_data(values.data(), values.size() * sizeof(float));
    return tensor;
  }

  /// Adds an initializer of any type from its bytes.
  onnx::TensorProto &constant(const std::string &name, int type, const std::vector<int64_t> &dims,
                              const std::string &bytes) {
    onnx::TensorProto &tensor = *graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(type);
    for (int64_t dim : dims)
      tensor.add_dims(dim);
    tensor.set_raw_data(bytes);
    return tensor;
  }

  /// Adds an f32 initializer that repeats 101 different values from -1 to 1.
  void weights(const std::string &name, const std::vector<int64_t> &dims) {
    int64_t count = 1;
    for (int64_t dim : dims)
      count *= dim;
    std::vector<float> values;
    for (int64_t i = 0; i < count; ++i)
      values.push_back(static_cast<float>((i * 37 + 11) % 101) / 50.0f - 1.0f);
    floats(name, dims, values);
  }

  void ints(const std::string &name, const std::vector<int64_t> &values) {
    onnx::TensorProto &tensor = *graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(onnx::TensorProto::INT64);
    tensor.add_dims(static_cast<int64_t>(values.size()));
    for (int64_t value : values)
      tensor.add_int64_data(value);
  }

  static void attribute(onnx::NodeProto &node, const std::string &name, int64_t value) {
    onnx::AttributeProto &a = *node.add_attribute();
    a.set_name(name);
    a.set_type(onnx::AttributeProto::INT);
    a.set_i(value);
  }
  static void attribute(onnx::NodeProto &node, const std::string &name,
                        const std::vector<int64_t> &values) {
    onnx::AttributeProto &a = *node.add_attribute();
    a.set_name(name);
    a.set_type(onnx::AttributeProto::INTS);
    for (int64_t value : values)
      a.add_ints(value);
  }

  std::string bytes() const { return model.SerializeAsString(); }

  onnx::ModelProto model;

private:
  static void fill(onnx::ValueInfoProto &info, const std::string &name,
                   const std::vector<std::string> &dims, int type) {
    info.set_name(name);
    auto &tensor = *info.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(type);
    tensor.mutable_shape();
    for (const std::string &dim : dims) {
      auto &entry = *tensor.mutable_shape()->add_dim();
      if (dim.find_first_not_of("-0123456789") == std::string::npos)
        entry.set_dim_value(std::stoll(dim));
      else
        entry.set_dim_param(dim);
    }
  }
};

} // namespace gantry::test

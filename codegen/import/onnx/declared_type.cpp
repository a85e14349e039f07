// Implements the comparison of declared_type.h.
#include "codegen/import/onnx/declared_type.h"

#include "codegen/import/onnx/context.h"
#include "codegen/import/onnx/import_error.h"
#include "codegen/import/tensor_proto.h"

#include <onnx/onnx_pb.h>

namespace gantry::importer {

void checkDeclared(const onnx::ValueInfoProto &info, const Tensor &tensor) {
  if (!info.type().has_tensor_type())
    return;
  const int declaredType = info.type().tensor_type().elem_type();
  if (declaredType != 0 && dtypeFromOnnx(declaredType) != tensor.type)
    failBadInput("the model declares " + dtypeName(dtypeFromOnnx(declaredType)) +
                 ", but its operators give " + dtypeName(tensor.type));
  if (!info.type().tensor_type().has_shape())
    return;
  const auto &shape = info.type().tensor_type().shape();
  bool agrees = shape.dim_size() == tensor.rank();
  for (int i = 0; agrees && i < shape.dim_size(); ++i) {
    auto known = staticDim(tensor.dims[i]);
    agrees = !shape.dim(i).has_dim_value() || !known || shape.dim(i).dim_value() == *known;
  }
  if (agrees)
    return;
  std::string declared;
  for (const auto &dim : shape.dim())
    declared += (declared.empty() ? "" : ", ") +
                (dim.has_dim_value() ? std::to_string(dim.dim_value()) : dim.dim_param());
  failBadInput("the model declares the shape [" + declared + "], but its operators give " +
               describeDims(tensor.dims));
}

} // namespace gantry::importer

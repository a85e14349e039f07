// Folds BatchNormalization, Mul and Add per channel into a preceding convolution.
#include "codegen/import/onnx/fold_scale.h"

#include "codegen/import/onnx/move_data.h"
#include "codegen/import/onnx/operators/conv.h"

namespace gantry::importer {

std::pair<Tensor, Tensor> batchNormScale(ImportContext &import, const Node &node) {
  if (node.intAttribute("training_mode", 0) != 0)
    failUnsupported("BatchNormalization in training mode is not supported; export for inference");
  const double epsilon = node.floatAttribute("epsilon", 1e-5);
  Tensor scale = import.input(node, 1), shift = import.input(node, 2);
  Tensor mean = import.input(node, 3), variance = import.input(node, 4);
  for (const Tensor &tensor : {scale, shift, mean, variance})
    if (tensor.rank() != 1)
      failBadInput("its parameters must have rank 1, but one has the shape " +
                   describeDims(tensor.dims));
  const DType type = scale.type;
  Tensor factor = import.elementwise({scale, import.cast(variance, type)}, type,
                                     [&](BodyBuilder &b, llvm::ArrayRef<Scalar> x) {
                                       Scalar sum = b.add(x[1], b.constant(type, epsilon));
                                       return b.div(x[0], b.unary(Unary::kSqrt, sum));
                                     });
  Tensor offset = import.elementwise(
      {import.cast(shift, type), import.cast(mean, type), factor}, type,
      [&](BodyBuilder &b, llvm::ArrayRef<Scalar> x) { return b.sub(x[0], b.mul(x[1], x[2])); });
  return {factor, offset};
}

std::optional<ScaleFolder::Scale> ScaleFolder::scaleOf(const Node &node, llvm::StringRef input,
                                                       Dim channels, int64_t rank, DType type) {
  if (node.opType() == "BatchNormalization") {
    for (size_t i = 1; i < 5; ++i) {
      const Tensor *parameter = node.hasInput(i) ? import_.lookup(node.inputName(i)) : nullptr;
      if (!parameter || !parameter->constant || parameter->dims != Dims{channels} ||
          !isFloat(parameter->type))
        return std::nullopt;
    }
    if (node.intAttribute("training_mode", 0) != 0 || node.inputName(0) != input)
      return std::nullopt;
    auto [factor, shift] = batchNormScale(import_, node);
    return Scale{factor, shift};
  }
  bool isMul = node.opType() == "Mul", isAdd = node.opType() == "Add";
  if ((!isMul && !isAdd) || node.inputCount() != 2 || node.opset() < 7)
    return std::nullopt;
  const Tensor *other = import_.lookup(node.inputName(node.inputName(0) == input ? 1 : 0));
  if (!other || !other->constant || other->rank() > rank || other->type != type)
    return std::nullopt;
  // All dimensions must be 1, except that of the channels: dimension 1 of the convolution's result.
  for (int64_t i = 0; i < other->rank(); ++i) {
    bool isChannel = i - other->rank() == 1 - rank;
    if (!isStaticOne(other->dims[i]) && !(isChannel && other->dims[i] == channels))
      return std::nullopt;
  }
  int64_t count = other->constant->elementCount();
  Tensor flat = reshape(import_, *other, {import_.number(count)});
  Tensor perChannel = count == 1 ? broadcastTo(import_, flat, {channels}) : flat;
  return isMul ? Scale{perChannel, {}} : Scale{{}, perChannel};
}

std::optional<llvm::SmallVector<int>> ScaleFolder::importConv(const Node &conv) {
  Tensor filter = import_.input(conv, 1);
  std::optional<Tensor> bias = import_.optionalInput(conv, 2);
  std::optional<Node> last;
  llvm::SmallVector<int> folded;
  llvm::SmallVector<mlir::Location> locs{conv.loc()};
  llvm::StringRef name = conv.outputName(0);
  const bool constant = filter.constant && isFloat(filter.type) && (!bias || bias->constant);
  while (constant && filter.rank() >= 3) {
    std::optional<Node> user = onlyUser_(name);
    std::optional<Scale> scale =
        user ? scaleOf(*user, name, filter.dims[0], filter.rank(), filter.type) : std::nullopt;
    if (!scale)
      break;
    auto isPresent = [](const Tensor &t) { return t.constant != nullptr; };
    if (isPresent(scale->factor)) {
      Dims column(filter.rank(), import_.number(1));
      column[0] = filter.dims[0];
      auto multiply = [](BodyBuilder &b, llvm::ArrayRef<Scalar> x) { return b.mul(x[0], x[1]); };
      std::string filterName = filter.constant->name;
      Tensor factor = import_.cast(scale->factor, filter.type);
      filter =
          import_.elementwise({filter, reshape(import_, factor, column)}, filter.type, multiply);
      if (!filter.constant) // The product is too large to be folded while importing.
        return importConvolution(import_, conv, std::nullopt, std::nullopt, conv), std::nullopt;
      auto renamed = std::make_shared<HostTensor>(*filter.constant);
      renamed->name = filterName;
      filter = import_.fromConstant(renamed);
      if (bias)
        bias = import_.elementwise({*bias, factor}, filter.type, multiply);
    }
    if (isPresent(scale->shift)) {
      Tensor shift = import_.cast(scale->shift, filter.type);
      bias = bias ? import_.elementwise(
                        {*bias, shift}, filter.type,
                        [](BodyBuilder &b, llvm::ArrayRef<Scalar> x) { return b.add(x[0], x[1]); })
                  : shift;
    }
    folded.push_back(user->index());
    locs.push_back(user->loc());
    last = *user;
    name = last->outputName(0);
  }
  if (!last) {
    importConvolution(import_, conv, std::nullopt, std::nullopt, conv);
    return std::nullopt;
  }
  import_.setLocation(mlir::FusedLoc::get(import_.mlirContext(), locs));
  importConvolution(import_, conv, filter, bias, *last);
  return folded;
}

} // namespace gantry::importer

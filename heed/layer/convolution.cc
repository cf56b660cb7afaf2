#include "heed/layer/convolution.h"

#include "heed/base/error.h"

namespace heed {

Convolution::Convolution(const Scope& scope, const ConvolutionOptions& given) : options(given) {
  expect(given.in > 0 && given.out > 0, "convolution '{}': channels must be positive, not {} and {}", scope.prefix(),
         given.in, given.out);
  expect(given.kernel > 0 && given.stride > 0 && given.padding >= 0,
         "convolution '{}': kernel and stride must be positive and padding not negative, not {}, {} and {}",
         scope.prefix(), given.kernel, given.stride, given.padding);
  weight = &scope.make_weight("weight", {given.out, given.kernel * given.kernel * given.in}, Initialiser::xavier());
  if (given.bias) bias = &scope.make("bias", {given.out}, Initialiser::constant(0.0f));
}

Images Convolution::operator()(const Images& x) const {
  const ConvolutionShape shape = {.images = x.count,
                                  .height = x.height,
                                  .width = x.width,
                                  .kernel = options.kernel,
                                  .stride = options.stride,
                                  .padding = options.padding};
  Tape& tape = x.cells.tape();
  const Tensor cells = convolution(x.cells, tape.parameter(*weight), bias ? tape.parameter(*bias) : Tensor(), shape);
  return {cells, x.count, shape.out_height(), shape.out_width()};
}

}  // namespace heed

// A model as the type that its own task made.
#pragma once

#include "heed/base/error.h"
#include "heed/model/model.h"

namespace heed::task {

template <class Own>
const Own& own_model(const model::Model& model) {
  const auto* own = dynamic_cast<const Own*>(&model);
  expect(own != nullptr, ErrorKind::bug, "this model belongs to another kind of task");
  return *own;
}

}  // namespace heed::task

// The sections [model] and [attention], of a recipe and of a description alike.
#pragma once

#include "heed/base/fields.h"
#include "heed/model/options.h"

namespace heed::task {

class Task;

/// Both sections, for a model of that task. The options must outlive the fields.
void add_model_sections(file::Fields& fields, model::Options& model, const Task& task);

}  // namespace heed::task

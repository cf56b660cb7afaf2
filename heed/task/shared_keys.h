// Keys of a recipe that several kinds of task have.
#pragma once

#include <string>
#include <vector>

#include "heed/base/fields.h"
#include "heed/data/options.h"
#include "heed/model/options.h"

namespace heed::task {

/// data.SIDE_tokens, one of `kinds`, and the size and rarest words of its vocabulary.
void add_tokeniser_keys(file::Fields& fields, const std::string& side, const std::vector<std::string>& kinds,
                        text::TokeniserOptions& options);
/// What is wrong with the size; empty: nothing.
std::string size_problem(const std::string& side, const text::TokeniserOptions& options);

/// data.folder and data.relative_to.
void add_folder_keys(file::Fields& fields, data::Options& data);
/// data.header.
void add_header_key(file::Fields& fields, data::Options& data);
/// data.held_out.
void add_held_out_key(file::Fields& fields, data::Options& data);

/// Of [model]: width, encoder_layers and dropout.
void add_size_keys(file::Fields& fields, model::Options& model);
/// Of [model]: what a recurrent network and a Transformer are made of.
/// Of tasks whose encoder reads a text as a whole.
void add_reading_keys(file::Fields& fields, model::Options& model);

void add_stack_keys(file::Fields& fields, model::Options& model);
void add_cell_key(file::Fields& fields, model::Options& model);
void add_transformer_keys(file::Fields& fields, model::Options& model);

}  // namespace heed::task

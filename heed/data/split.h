// Training, validation and test of made-up data, apart from each other for ever: what a pair belongs to follows from
// the pair itself, so that no text of the test can occur in the training, whatever the seeds.
#pragma once

#include <string_view>

namespace heed::data {

enum class Split { train, valid, test };

/// Of 20 different pairs about 18 are for training, one for validation and one for the test.
Split split_of(std::string_view source, std::string_view target);

}  // namespace heed::data

// Training, validation and test sets of generated data. The split of a pair follows from the pair itself, so that no
// pair of the test set can occur in training, whatever the seeds.
#pragma once

#include <string_view>

namespace heed::data {

enum class Split { train, valid, test };

/// Of 20 different pairs, about 18 are for training, one for validation and one for testing.
Split split_of(std::string_view source, std::string_view target);

}  // namespace heed::data

#include "heed/train/objective/all.h"

#include <gtest/gtest.h>

#include "tests/base/folder.h"

namespace heed::objective {
namespace {

TEST(Objectives, ByName) {
  for (const Entry* entry : all()) EXPECT_EQ(&find(entry->name), entry);
  EXPECT_EQ(error_of([] { find("reinforced"); }),
            "there is no objective 'reinforced'; did you mean 'reinforce'? There are: likelihood, scheduled_sampling, "
            "reinforce, minimum_risk");
}

}  // namespace
}  // namespace heed::objective

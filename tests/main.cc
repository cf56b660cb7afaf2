// The program of a layer's tests. --file=linear_test.cc runs those of one file; everything else is GoogleTest's.
#include <cstdio>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace {

/// A filter for GoogleTest: every test that stands in a source of this name. Empty where there is none.
std::string tests_of_file(std::string_view name) {
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  const std::string ending = "/" + std::string(name);
  std::string filter;
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const testing::TestInfo& test = *suite.GetTestInfo(j);
      if (std::string_view(test.file()).ends_with(ending))
        filter.append(suite.name()).append(".").append(test.name()).append(":");
    }
  }
  return filter;
}

}  // namespace

int main(int count, char** words) {
  testing::InitGoogleTest(&count, words);
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    constexpr std::string_view kFile = "--file=";
    const std::string filter = word.starts_with(kFile) ? tests_of_file(word.substr(kFile.size())) : "";
    if (filter.empty()) {
      std::fprintf(stderr, "%s: there is no test for %s\n", words[0], words[i]);
      return 2;
    }
    GTEST_FLAG_SET(filter, filter);
  }
  return RUN_ALL_TESTS();
}

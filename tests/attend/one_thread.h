// Tests of many tiny problems run on one thread: waking a second one costs more than it saves, and on a busy machine
// fifty times more. That any number of threads gives the same bits is shown in property_test.cc.
#pragma once

#include <omp.h>

#include <gtest/gtest.h>

namespace heed::attend::test {

class OneThread : public testing::Environment {
 public:
  void SetUp() override { omp_set_num_threads(1); }
};

inline const testing::Environment* const kOneThread = testing::AddGlobalTestEnvironment(new OneThread);

}  // namespace heed::attend::test

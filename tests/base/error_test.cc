// The kind of an error: given, or the caller's mistake; and of what is no Error.
#include "heed/base/error.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <new>
#include <set>
#include <string_view>

#include "heed/base/memory.h"

namespace heed {
namespace {

template <class Call>
Error thrown_by(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return Error(ErrorKind::bug, "nothing was thrown");
}

TEST(ErrorTest, IsTheCallersMistakeWhereNothingElseIsSaid) {
  EXPECT_EQ(thrown_by([] { expect(false, "expected {}", 1); }).kind(), ErrorKind::usage);
  EXPECT_EQ(Error("no").kind(), ErrorKind::usage);
}

TEST(ErrorTest, KeepsKindAndMessage) {
  const Error error = thrown_by([] { expect(1 > 2, ErrorKind::file, "{} of {}", "half", 4); });
  EXPECT_EQ(error.kind(), ErrorKind::file);
  EXPECT_STREQ(error.what(), "half of 4");
}

TEST(ErrorTest, IsNotThrownWhereTheConditionHolds) {
  EXPECT_NO_THROW(expect(true, "no"));
  EXPECT_NO_THROW(expect(true, ErrorKind::bug, "no"));
}

TEST(ErrorTest, HasAKindForEveryException) {
  EXPECT_EQ(kind_of(Error(ErrorKind::recipe, "line 3")), ErrorKind::recipe);
  EXPECT_EQ(kind_of(std::bad_alloc()), ErrorKind::no_memory);
  EXPECT_EQ(kind_of(NotEnoughMemory("12 GB")), ErrorKind::no_memory);
  EXPECT_EQ(kind_of(std::logic_error("impossible")), ErrorKind::bug);
}

TEST(ErrorTest, TellsAMissingFileFromABrokenOne) {
  EXPECT_EQ(kind_of_unreadable(ENOENT), ErrorKind::missing);
  EXPECT_EQ(kind_of_unreadable(ENOTDIR), ErrorKind::missing);
  EXPECT_EQ(kind_of_unreadable(EACCES), ErrorKind::file);
  EXPECT_EQ(kind_of_unreadable(EIO), ErrorKind::file);
}

TEST(ErrorTest, NamesEveryKindOnce) {
  std::set<std::string_view> names;
  for (int kind = 0; kind <= static_cast<int>(ErrorKind::bug); ++kind)
    names.insert(name_of(static_cast<ErrorKind>(kind)));
  EXPECT_EQ(names.size(), 8u);
  EXPECT_EQ(name_of(ErrorKind::cannot_write), "cannot_write");
}

}  // namespace
}  // namespace heed

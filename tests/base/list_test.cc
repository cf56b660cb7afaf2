#include "heed/base/list.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

struct Plain {
  const char* name;
};
struct Colour {
  std::string name;
  const char* aliases = "";
  const char* former_names = "";
};

const Plain kOne{"one"}, kTwo{"two"}, kThree{"three"};
const Colour kColours[] = {{"red", "scarlet crimson"}, {"grey", "", "gray ashen"}, {"blue"}};

template <class Entry>
std::string why_not(const List<Entry>& list, std::string_view name) {
  try {
    list.find(name);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "";
}

TEST(List, HasItsEntriesInOrder) {
  const List<Plain> list("number", {&kOne, &kTwo, &kThree});
  EXPECT_EQ(std::vector<const Plain*>(list.begin(), list.end()), list.entries());
  EXPECT_EQ(list.entries(), (std::vector<const Plain*>{&kOne, &kTwo, &kThree}));
  EXPECT_EQ(list.size(), 3u);
  EXPECT_EQ(list.front(), &kOne);
  EXPECT_EQ(list.names(), (std::vector<std::string>{"one", "two", "three"}));
  EXPECT_EQ(list.names([](const Plain& each) { return each.name[0] == 't'; }),
            (std::vector<std::string>{"two", "three"}));
}

TEST(List, FindsAndNamesTheNearest) {
  const List<Plain> list("number", {&kOne, &kTwo, &kThree});
  EXPECT_EQ(&list.find("two"), &kTwo);
  EXPECT_EQ(list.look_up("tow"), nullptr);
  EXPECT_EQ(list.look_up(""), nullptr);
  EXPECT_EQ(why_not(list, "tree"), "there is no number 'tree'; did you mean 'three'? There are: one, two, three");
  EXPECT_EQ(why_not(List<Plain>("number", std::span<const Plain>()), "one"),
            "there is no number 'one': there is none at all");
}

/// Aliases are offered like names; former names are understood and never offered.
TEST(List, AliasesAndFormerNames) {
  const List<Colour> list("colour", kColours);
  EXPECT_EQ(&list.find("crimson"), &kColours[0]);
  EXPECT_EQ(&list.find("gray"), &kColours[1]);
  EXPECT_EQ(&list.find("ashen"), &kColours[1]);
  EXPECT_EQ(list.look_up("scarlet crimson"), nullptr);
  EXPECT_EQ(list.names(), (std::vector<std::string>{"red", "scarlet", "crimson", "grey", "blue"}));
  EXPECT_EQ(why_not(list, "grays"),
            "there is no colour 'grays'; did you mean 'grey'? There are: red, scarlet, crimson, grey, blue");
  const std::vector<Renamed> renamed = list.renamed();
  ASSERT_EQ(renamed.size(), 2u);
  EXPECT_EQ(renamed[0].before, "gray");
  EXPECT_EQ(renamed[1].before, "ashen");
  for (const Renamed& each : renamed) EXPECT_EQ(each.now, "grey");
}

/// A name may be taken over by another entry than the one that it once was of.
TEST(List, ANameBeforeAFormerName) {
  const Colour colours[] = {{"wine", "", "red"}, {"red"}};
  EXPECT_EQ(&List<Colour>("colour", colours).find("red"), &colours[1]);
}

TEST(List, GrowsByNewNamesOnly) {
  List<Colour> list("colour", kColours);
  for (const Colour& taken : {Colour{"blue"}, Colour{"lilac", "crimson"}, Colour{"lilac", "", "red"}, Colour{"gray"}})
    EXPECT_THROW(list.add(taken), Error) << taken.name;
  EXPECT_EQ(list.size(), 3u);
  const Colour lilac{"lilac", "mauve"};
  list.add(lilac);
  EXPECT_EQ(&list.find("mauve"), &lilac);
}

TEST(Nearest, Words) {
  EXPECT_EQ(words_in("  a  bc\td\n"), (std::vector<std::string>{"a", "bc", "d"}));
  EXPECT_TRUE(words_in("").empty());
  const std::vector<std::string> names = {"left", "right"};
  EXPECT_NO_THROW(expect_known("side", "left", names));
  EXPECT_THROW(expect_known("side", "lift", names), Error);
}

}  // namespace
}  // namespace heed

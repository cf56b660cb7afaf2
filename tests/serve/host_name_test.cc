#include "heed/serve/host_name.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace heed::serve {
namespace {

const std::vector<std::string> kNames = {"models.example.org"};

TEST(HostName, AddressesAndThisMachineAreRight) {
  for (const char* host :
       {"", "127.0.0.1", "127.0.0.1:8080", "10.0.0.7:80", "[::1]", "[::1]:8080", "[fe80::1%25eth0]:9", "localhost",
        "localhost:8080", "LocalHost", "localhost.", "heed.localhost:8080"})
    EXPECT_TRUE(is_called_rightly(host, {})) << host;
}

TEST(HostName, NamesOfOthersAreNot) {
  for (const char* host : {"evil.example", "evil.example:8080", "localhost.evil.example", "notlocalhost", ".localhost",
                           "a", ":", ":8080", ".", "127.0.0.1.evil.example", "models.example.org", "0x7f000001"})
    EXPECT_FALSE(is_called_rightly(host, {})) << host;
}

TEST(HostName, ListedNames) {
  for (const char* host : {"models.example.org", "models.example.org:443", "MODELS.example.org", "models.example.org."})
    EXPECT_TRUE(is_called_rightly(host, kNames)) << host;
  for (const char* host : {"example.org", "x.models.example.org", "models.example.orgs", "models.example.org@evil"})
    EXPECT_FALSE(is_called_rightly(host, kNames)) << host;
}

}  // namespace
}  // namespace heed::serve

// A line of JSON for every request that was answered.
#pragma once

#include <cstdio>
#include <string>

#include "heed/serve/http_server.h"

namespace heed::serve {

/// Threads: one.
class AccessLog {
 public:
  /// "-": standard error; empty: nowhere. Throws ErrorKind::cannot_write.
  explicit AccessLog(std::string file);
  ~AccessLog();
  AccessLog(const AccessLog&) = delete;
  AccessLog& operator=(const AccessLog&) = delete;

  /// What cannot be written is lost; requests go on.
  void write(const Finished& finished);
  /// After the file was renamed (logrotate): goes on in a new one.
  void reopen();

 private:
  void open();

  std::string name_;
  std::FILE* file_ = nullptr;
};

}  // namespace heed::serve

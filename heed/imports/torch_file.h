// What torch.save() wrote: a pickle of data (pickle.h), and the numbers of its tensors. The format of today is a zip
// archive, that of PyTorch before 1.6 pickles one after the other.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heed/imports/pickle.h"
#include "heed/imports/tensors.h"

namespace heed::imports {

/// Whether a file that begins like this is one.
bool is_torch_file(std::span<const std::byte> first);

/// Threads: many may read it at once.
class TorchFile {
 public:
  /// Throws, naming the file, for what is damaged, and for objects whose tensors are no plain numbers.
  TorchFile(std::shared_ptr<const std::vector<std::byte>> bytes, std::string file);

  const std::string& file() const { return file_; }
  const PickleValue& root() const { return pickle_->root(); }
  /// A tensor, or a parameter; nothing: the value is none. It may be used as long as this file's copies are there.
  std::optional<ForeignTensor> tensor(const PickleValue& value) const;
  /// Adds all tensors of a dictionary of names and tensors. `prefix`: before their names.
  void add_all(ForeignTensors& to, const PickleValue& dictionary, const std::string& prefix = "") const;

 private:
  struct Storage {
    std::string key;
    size_t begin = 0, size = 0;  // bytes in the file
  };
  void read_old();
  void read_zip();
  const Storage& storage(const std::string& key) const;

  std::string file_;
  std::shared_ptr<const std::vector<std::byte>> bytes_;
  std::shared_ptr<const Pickle> pickle_;
  std::vector<Storage> storages_;
};

}  // namespace heed::imports

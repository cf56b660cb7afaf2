// Options of one encoder or decoder alone: a type of its own, which it declares with its keys (EncoderEntry::add_keys).
// So an encoder with options is one file and one line of the list.
#pragma once

#include <any>
#include <map>
#include <typeindex>

namespace heed::encode {

/// Threads: many may read it at once; of() of one that is not const writes.
class OwnOptions {
 public:
  /// Of this type. The reference stays valid as long as these options are there and nothing is assigned to them.
  template <class Own>
  Own& of() {
    std::any& own = all_[typeid(Own)];
    if (!own.has_value()) own = Own();
    return std::any_cast<Own&>(own);
  }
  /// As they are declared where nobody asked for them to set them.
  template <class Own>
  const Own& of() const {
    static const Own declared;
    const auto found = all_.find(typeid(Own));
    return found == all_.end() ? declared : std::any_cast<const Own&>(found->second);
  }

 private:
  std::map<std::type_index, std::any> all_;
};

}  // namespace heed::encode

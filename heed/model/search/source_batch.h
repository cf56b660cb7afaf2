// Some of the sources of an input, packed one after the other, as an input of their own.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "heed/model/search/search.h"

namespace heed::search {

/// Those at `places`, in this order. Of all of them nothing is copied: the input must outlive this.
class SourceBatch {
 public:
  SourceBatch(const Input& all, std::vector<int64_t> places) : all_(all), places_(std::move(places)) {
    is_all_ = std::ssize(places_) == all.size();
    for (size_t i = 0; is_all_ && i < places_.size(); ++i) is_all_ = places_[i] == static_cast<int64_t>(i);
    if (is_all_) return;
    sources_ = all.sources.pack(places_);
    bool has_rules = false;
    for (const int64_t b : places_) {
      numbers_.push_back(all.number(b));
      rules_.push_back(all.rules_of(b));
      has_rules |= rules_.back() != nullptr;
    }
    if (!has_rules) rules_.clear();
  }

  std::span<const int64_t> places() const { return places_; }
  Input view() const { return is_all_ ? all_ : Input{.sources = sources_, .numbers = numbers_, .rules = rules_}; }

 private:
  Input all_;
  std::vector<int64_t> places_;
  bool is_all_ = false;
  data::Sources sources_;
  std::vector<int64_t> numbers_;
  std::vector<const Rules*> rules_;
};

}  // namespace heed::search

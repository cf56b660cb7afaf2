#include "heed/imports/sentence_vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "heed/base/error.h"
#include "heed/imports/json_file.h"

namespace heed::imports {

namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

/// As the file of the pooling layer says: one word, or a flag for each way.
std::string pool_of(const JsonFile& config) {
  if (const auto mode = config.text("pooling_mode")) {
    if (*mode == "mean" || *mode == "max") return *mode;
    if (*mode == "cls") return "first";
    config.refuse("pooling_mode", "mean, max and cls are known here");
  }
  std::string pool;
  for (const auto& [key, word] :
       {std::pair("pooling_mode_mean_tokens", "mean"), std::pair("pooling_mode_cls_token", "first"),
        std::pair("pooling_mode_max_tokens", "max"), std::pair("pooling_mode_mean_sqrt_len_tokens", ""),
        std::pair("pooling_mode_weightedmean_tokens", ""), std::pair("pooling_mode_lasttoken", "")}) {
    if (!config.flag(key, false)) continue;
    if (*word == 0) config.refuse(key, "mean, max and the first token are known here");
    if (!pool.empty()) config.refuse(key, "a vector is pooled in one way here, not in several side by side");
    pool = word;
  }
  return pool.empty() ? "mean" : pool;
}

}  // namespace

std::vector<std::pair<const char*, std::string>> read_sentence_vectors(const fs::path& folder, task::Description& d) {
  d.model.pool = "mean";
  d.model.unit = false;
  const fs::path list = folder / "modules.json", limits = folder / "sentence_bert_config.json";
  if (is_there(list)) {
    const file::Json modules = read_json(list);
    const auto* all = modules.as<file::Json::Elements>();
    expect(all != nullptr, ErrorKind::file, "'{}' is no list of modules", list.string());
    for (const file::Json& each : *all) {
      const JsonFile module(each, list.string());
      const std::string type = module.text("type").value_or(""), name = type.substr(type.rfind('.') + 1);
      const std::string path = module.text("path").value_or("");
      if (name == "Pooling") {
        const bool plain = path.find('/') == std::string::npos && path.find("..") == std::string::npos;
        expect(plain && !path.empty(), ErrorKind::file, "'{}': the path '{}' is no folder beside it", list.string(),
               path);
        d.model.pool = pool_of(JsonFile(folder / path / "config.json"));
      } else if (name == "Normalize") {
        d.model.unit = true;
      } else if (name != "Transformer") {
        module.refuse("type", "Transformer, Pooling and Normalize are known here");
      }
    }
  }
  if (is_there(limits))
    if (const auto most = JsonFile(limits).integer("max_seq_length"); most && *most > 0)
      d.answers.max_source = std::min(d.answers.max_source, *most);
  return {{"vector", fmt::format("the {} of the states{}, of texts up to {} tokens", d.model.pool,
                                 d.model.unit ? ", of length 1" : "", d.answers.max_source)}};
}

}  // namespace heed::imports

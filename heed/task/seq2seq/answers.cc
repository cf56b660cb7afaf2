#include "heed/task/seq2seq/answers.h"

#include <utility>

#include "heed/data/copied_words.h"
#include "heed/data/examples.h"
#include "heed/task/line_tokens.h"
#include "heed/task/seq2seq/texts.h"
#include "heed/task/written_answers.h"

namespace heed::task {

namespace {

class PairReader final : public TargetReader {
 public:
  ReadLine read(std::string_view line, const LoadedModel& model, Prediction* told) const override {
    const text::Tokeniser& source = *model.vocabularies.source;
    ReadLine read;
    if (reads_sentences(model.description.model)) {
      data::SentenceTokens cut = data::encode_sentences(line, source);
      read.tokens = std::move(cut.tokens);
      read.sentences = std::move(cut.lengths);
    } else {
      read.tokens = source.encode(line);
    }
    read.is_empty = read.tokens.empty();
    data::CopiedWords copied;
    if (model.description.model.copying.on)
      copied = data::CopyReader(source, *model.vocabularies.target).read(line, read.tokens);
    read.copies = copied.ids;
    const auto count = std::ssize(read.tokens);
    if (const int64_t places = model.model.max_positions(); count > places) read.error = too_long(count, places);
    if (told) {
      told->source_tokens = spelled(source, read.tokens);
      for (size_t i = 0; i < copied.ids.size(); ++i)  // a word that can be copied is no <unk>
        if (read.tokens[i] == text::kUnknown && copied.ids[i] >= 0)
          told->source_tokens[i] = data::spell_copied(*model.vocabularies.target, copied.ids[i], copied.extra);
      if (read.copies.empty()) told->unknown = unknown_in(line, read.tokens, source);  // others can be copied
    }
    return read;
  }

  std::vector<std::string> copied_words(std::string_view line, const LoadedModel& asked) const override {
    if (!asked.description.model.copying.on) return {};
    const text::Tokeniser& source = *asked.vocabularies.source;
    return data::CopyReader(source, *asked.vocabularies.target).read(line, source.encode(line)).extra;
  }
};

}  // namespace

std::vector<Prediction> predict_targets(const LoadedModel& asked, std::span<const std::string> lines,
                                        const PredictOptions& options) {
  return write_answers(PairReader(), asked, lines, options);
}

std::vector<PairScore> score_pairs(const LoadedModel& asked, std::span<const TextPair> pairs) {
  return score_targets(PairReader(), asked, pairs);
}

}  // namespace heed::task

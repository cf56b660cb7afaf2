#include "heed/data/pairs.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "heed/base/error.h"
#include "heed/data/dialogue.h"
#include "heed/data/header.h"
#include "heed/data/labelled_folder.h"
#include "heed/data/lines.h"
#include "heed/data/picture_source.h"
#include "heed/text/utf8.h"
#include "heed/text/words.h"

namespace heed::data {

namespace {

struct Complaint {
  Fault fault;
  std::string detail;
};

std::optional<Complaint> complaint(std::string_view side, std::string_view text, int64_t max_characters) {
  if (const size_t fault = text::utf8_fault(text); fault != std::string_view::npos)
    return Complaint{Fault::invalid_utf8, fmt::format("{}, byte {}", side, fault + 1)};
  if (text::is_blank(text)) return Complaint{Fault::empty, std::string(side)};
  const auto length = static_cast<int64_t>(text::utf8_count(text));
  if (max_characters > 0 && length > max_characters)
    return Complaint{Fault::too_long, fmt::format("{}, {} characters", side, length)};
  return std::nullopt;
}

/// Keeps the pair, or says which of its sides is bad and why; of two bad sides the source is named.
void take(Pairs& pairs, Report& report, const PairFiles& files, std::pair<std::string_view, std::string_view> texts,
          int64_t number) {
  auto bad = complaint("source", texts.first, files.max_characters);
  if (!bad) bad = complaint("target", texts.second, files.max_characters);
  if (bad) return report.drop(bad->fault, number, std::move(bad->detail));
  pairs.add(texts.first, texts.second, number);
  report.keep();
}

/// As take(), of a line with a picture and perhaps a question.
void take_picture(Pairs& pairs, Report& report, const PairFiles& files,
                  const std::pair<PictureQuestion, std::string_view>& line, int64_t number) {
  const auto& [source, answer] = line;
  auto bad = complaint("file", source.picture, 0);
  if (!bad && files.source_column > 0) bad = complaint("question", source.question, files.max_characters);
  if (!bad) bad = complaint("answer", answer, files.max_characters);
  if (bad) return report.drop(bad->fault, number, std::move(bad->detail));
  pairs.add(source_in(files.tsv, source), answer, number);
  report.keep();
}

/// Takes the first line away if it names the columns, and tells it; if it only may, asks.
void leave_out_header(Pairs& pairs, Report& report, const HeaderWatch& watch) {
  if (watch.first_may_be_header())
    report.remark(fmt::format("line 1 ({}) may be a header, but is used as a pair: data.header = true leaves it out",
                              watch.first()));
  if (!watch.first_is_header()) return;
  const bool was_kept = pairs.size() > 0 && pairs.line.front() == 1;
  if (was_kept) {
    pairs.source.erase(pairs.source.begin());
    pairs.target.erase(pairs.target.begin());
    pairs.line.erase(pairs.line.begin());
  }
  report.leave_out_header(was_kept);
  report.remark(fmt::format("line 1 ({}) names the columns, and is left out: data.header = false keeps it as a pair",
                            watch.first()));
}

Pairs read_two(const PairFiles& files, Report& report) {
  LineReader sources(files.source), targets(files.target);
  Pairs pairs;
  std::string source, target;
  bool more_sources = sources.next(source), more_targets = targets.next(target);
  if (files.header == true) {
    report.leave_out_header(false);
    more_sources = sources.next(source);
    more_targets = targets.next(target);
  }
  HeaderWatch watch;
  while (more_sources && more_targets) {
    if (!files.header) watch.see(sources.number(), std::array<std::string_view, 2>{source, target});
    take(pairs, report, files, {source, target}, sources.number());
    more_sources = sources.next(source);
    more_targets = targets.next(target);
  }
  while (more_sources) more_sources = sources.next(source);
  while (more_targets) more_targets = targets.next(target);
  expect(sources.number() == targets.number(), ErrorKind::data,
         "the files are not parallel: {} has {} lines, {} has {}; line n of one must belong to line n of the other",
         files.source.string(), sources.number(), files.target.string(), targets.number());
  if (!files.header) leave_out_header(pairs, report, watch);
  return pairs;
}

Pairs read_tsv(const PairFiles& files, Report& report) {
  const bool pictures = files.picture_column > 0;
  expect(files.source_column >= (pictures ? 0 : 1) && files.target_column >= 1, ErrorKind::data,
         "columns are counted from 1, not {}", std::min(files.source_column, files.target_column));
  const int64_t needed =
      std::max({files.source_column, files.second_column, files.target_column, files.picture_column});
  expect(files.columns == 0 || files.columns >= needed, ErrorKind::data,
         "column {} is asked for, but lines have {} columns", needed, files.columns);
  LineReader lines(files.tsv);
  Pairs pairs;
  HeaderWatch watch;
  std::string line, two_texts;
  while (lines.next(line)) {
    if (files.header == true && lines.number() == 1) {
      report.leave_out_header(false);
      continue;
    }
    const auto columns = columns_of(line);
    const auto count = static_cast<int64_t>(columns.size());
    if (count < needed || (files.columns > 0 && count != files.columns)) {
      report.drop(Fault::columns, lines.number(),
                  fmt::format("{} instead of {}{}", count, files.columns > 0 ? "" : "at least ",
                              files.columns > 0 ? files.columns : needed));
      continue;
    }
    const auto column = [&](int64_t from_1) { return columns[static_cast<size_t>(from_1 - 1)]; };
    if (!files.header) {
      std::vector<std::string_view> used;
      for (const int64_t each : {files.picture_column, files.source_column, files.second_column, files.target_column})
        if (each > 0) used.push_back(column(each));
      watch.see(lines.number(), used);
    }
    std::string_view source = files.source_column > 0 ? column(files.source_column) : std::string_view();
    if (files.second_column > 0) source = two_texts = fmt::format("{}\t{}", source, column(files.second_column));
    if (pictures)
      take_picture(pairs, report, files, {{column(files.picture_column), source}, column(files.target_column)},
                   lines.number());
    else
      take(pairs, report, files, {source, column(files.target_column)}, lines.number());
  }
  if (!files.header) leave_out_header(pairs, report, watch);
  return pairs;
}

/// Why no line has two columns, as far as its first line tells.
std::string separator_hint(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return "";  // it was read already
  LineReader lines(file);
  std::string line;
  if (!lines.next(line) || line.find('\t') != std::string::npos) return "";
  for (const char separator : {',', ';', '|'})
    if (line.find(separator) != std::string::npos)
      return fmt::format(
          "\n  The columns seem to be separated by '{0}'; a tab is needed. To convert them: python3 -c "
          "'import csv, sys; [print(*row, sep=\"\\t\") for row in csv.reader(sys.stdin, "
          "delimiter=\"{0}\")]' < {1} > {2}.tsv",
          separator, file.string(), file.stem().string());
  return "\n  A line is a source, a tab and a target; for sources and targets in two files, name both";
}

}  // namespace

std::vector<std::string_view> columns_of(std::string_view line) {
  std::vector<std::string_view> columns;
  for (size_t tab = line.find('\t'); tab != std::string_view::npos; tab = line.find('\t')) {
    columns.push_back(line.substr(0, tab));
    line.remove_prefix(tab + 1);
  }
  columns.push_back(line);
  return columns;
}

void Pairs::add(std::string_view new_source, std::string_view new_target, int64_t number) {
  source.emplace_back(new_source);
  target.emplace_back(new_target);
  line.push_back(number);
}

Pairs read_pairs(const PairFiles& files, Report& report) {
  const bool two = !files.source.empty() || !files.target.empty();
  expect(two != !files.tsv.empty(), ErrorKind::data,
         "the data must be either two files, source and target, or one TSV");
  expect(!two || (!files.source.empty() && !files.target.empty()), ErrorKind::data, "the {} file is missing",
         files.source.empty() ? "source" : "target");
  expect(!two || files.turns == 0, ErrorKind::data, "dialogues are in one file, data.tsv, not in two");
  Pairs pairs = two                                                         ? read_two(files, report)
                : files.turns > 0                                           ? read_dialogues(files, report)
                : files.picture_column > 0 && is_labelled_folder(files.tsv) ? read_labelled_folder(files.tsv, report)
                                                                            : read_tsv(files, report);
  const std::filesystem::path& file = two ? files.source : files.tsv;
  expect(pairs.size() > 0, ErrorKind::data, "{} has no usable pair. {}{}", file.string(), report.text(),
         two ? "" : separator_hint(file));
  return pairs;
}

std::vector<std::string_view> sentences(const Pairs& pairs, Side side) {
  std::vector<std::string_view> all;
  if (side != Side::target) all.insert(all.end(), pairs.source.begin(), pairs.source.end());
  if (side != Side::source) all.insert(all.end(), pairs.target.begin(), pairs.target.end());
  return all;
}

References group_references(const Pairs& pairs) {
  References groups;
  std::unordered_map<std::string_view, size_t> group_of;  // views into `pairs`, which stays as it is
  for (size_t i = 0; i < pairs.source.size(); ++i) {
    const auto [found, is_new] = group_of.emplace(pairs.source[i], groups.source.size());
    if (is_new) {
      groups.source.push_back(pairs.source[i]);
      groups.targets.emplace_back();
      groups.line.push_back(pairs.line[i]);
    }
    auto& targets = groups.targets[found->second];
    if (std::find(targets.begin(), targets.end(), pairs.target[i]) == targets.end()) targets.push_back(pairs.target[i]);
  }
  return groups;
}

References separate_references(Pairs pairs) {
  References all{.source = std::move(pairs.source), .targets = {}, .line = std::move(pairs.line)};
  for (std::string& target : pairs.target) all.targets.push_back({std::move(target)});
  return all;
}

}  // namespace heed::data

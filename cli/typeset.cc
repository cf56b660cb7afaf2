#include "cli/typeset.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "heed/view/svg.h"

namespace heed::cli {

namespace {

enum class Kind { row, identifier, word, number, sign, function, sum, root, script };

struct Node {
  Kind kind = Kind::row;
  std::string text = {};
  std::vector<Node> parts = {};  // row: all; root: one; script: base, below, above, empty rows where there is none
};

constexpr std::string_view kGreek[] = {"alpha", "beta", "epsilon", "gamma", "lambda",
                                       "mu",    "pi",   "sigma",   "tau",   "theta"};
constexpr std::string_view kGreekLetters[] = {"α", "β", "ε", "γ", "λ", "μ", "π", "σ", "τ", "θ"};
constexpr std::string_view kFunctions[] = {"act", "argmax", "attend",  "cos", "exp",     "log", "max",
                                           "min", "relu",   "sigmoid", "sin", "softmax", "tanh"};

constexpr std::string_view kNamedInTex[] = {"cos", "exp", "log", "max", "min", "sin", "tanh"};

struct Sign {
  std::string_view ascii, tex, shown;
};
constexpr Sign kSigns[] = {{"||", "\\Vert ", "‖"}, {"<=", "\\le ", "≤"},    {">=", "\\ge ", "≥"},  {"!=", "\\ne ", "≠"},
                           {"->", "\\to ", "→"},   {"..", "\\ldots ", "…"}, {"|", "\\vert ", "|"}, {"{", "\\{", "{"},
                           {"}", "\\}", "}"},      {"%", "\\%", "%"},       {"&", "\\&", "&"},     {"*", "\\ast ", "∗"},
                           {"<", "\\lt ", "<"},    {">", "\\gt ", ">"}};

template <class List>
bool among(const List& list, std::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

bool letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  /// Up to `end`, which is consumed; 0: to the end of the text.
  Node row(char end = 0) {
    Node row;
    int open = 0;
    while (!done()) {
      if (peek() == ' ') {
        ++at_;
        continue;
      }
      if (end && peek() == end && open == 0) {
        ++at_;
        break;
      }
      if (end == ')') open += peek() == '(' ? 1 : peek() == ')' ? -1 : 0;
      Node next = scripted();
      if (next.kind == Kind::word && !row.parts.empty() && row.parts.back().kind == Kind::word)
        row.parts.back().text += " " + next.text;
      else
        row.parts.push_back(std::move(next));
    }
    return row;
  }

 private:
  bool done() const { return at_ >= text_.size(); }
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  std::string run(bool (*of)(char)) {
    const size_t begin = at_;
    while (!done() && of(peek())) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  Node atom() {
    if (digit(peek())) return {Kind::number, run([](char c) { return digit(c) || c == '.'; })};
    if (letter(peek())) return word();
    if (peek() == '.' && peek(1) != '.') {
      ++at_;
      return {Kind::sign, "."};
    }
    for (const Sign& sign : kSigns)
      if (text_.substr(at_, sign.ascii.size()) == sign.ascii) {
        at_ += sign.ascii.size();
        return {Kind::sign, std::string(sign.ascii)};
      }
    return {Kind::sign, std::string(1, text_[at_++])};
  }

  Node word() {
    const size_t begin = at_;
    const std::string word = run(letter);
    if (word == "sqrt" && peek() == '(') {
      ++at_;
      return {Kind::root, "", {row(')')}};
    }
    if (word == "sum" && peek() == '_') return {Kind::sum, word};
    if (among(kGreek, word)) return {Kind::identifier, word};
    if (among(kFunctions, word)) return {Kind::function, word};
    if (word.size() == 1) {
      if (digit(peek())) return {Kind::script, "", {{Kind::identifier, word}, {Kind::number, run(digit)}, {}}};
      return {Kind::identifier, word};
    }
    if (word.size() == 2 && std::isupper(word[0]) && std::islower(word[1]))  // Tq, Dv
      return {Kind::script, "", {{Kind::identifier, word.substr(0, 1)}, {Kind::identifier, word.substr(1)}, {}}};
    // An option, with _ inside: divide_by_visible.
    while (peek() == '_') {
      size_t length = 0;
      while (letter(peek(1 + length))) ++length;
      if (length < 4 && (length == 0 || peek(1 + length) != '_')) break;
      at_ += 1 + length;
    }
    if (peek() == '(') return {Kind::function, word};  // LayerNorm(x)
    return {Kind::word, std::string(text_.substr(begin, at_ - begin))};
  }

  Node group() {
    if (peek() == '{' || peek() == '(') {
      const char end = text_[at_++] == '{' ? '}' : ')';
      return row(end);
    }
    for (const std::string_view name : kGreek)
      if (text_.substr(at_, name.size()) == name) {
        at_ += name.size();
        return {Kind::identifier, std::string(name)};
      }
    Node row;
    if (std::isupper(static_cast<unsigned char>(peek())) && !letter(peek(1))) return {Kind::identifier, {text_[at_++]}};
    while (letter(peek()) || digit(peek())) {
      const char c = text_[at_++];
      row.parts.push_back({digit(c) ? Kind::number : Kind::identifier, {c}});
    }
    if (row.parts.empty() && !done()) row.parts.push_back({Kind::sign, {text_[at_++]}});
    return row;
  }

  Node scripted() {
    Node base = atom();
    if (base.kind == Kind::number || base.kind == Kind::root) {
      if (peek() != '^') return base;
    } else if (base.kind == Kind::sign && base.text != ")" && base.text != "|" && base.text != "||") {
      return base;
    }
    Node below, above;
    while (true) {
      if (peek() == '_' && below.text.empty() && below.parts.empty()) {
        ++at_;
        below = group();
      } else if (peek() == '^') {
        ++at_;
        above.parts.push_back(group());
      } else if (peek() == '\'' || (peek() == '*' && peek(1) == '_')) {
        above.parts.push_back({Kind::sign, {text_[at_++]}});
      } else {
        break;
      }
    }
    const bool has_below = !below.text.empty() || !below.parts.empty();
    if (!has_below && above.parts.empty()) return base;
    if (base.kind == Kind::script && !has_below) {
      base.parts[2] = above;
      return base;
    }
    return {Kind::script, "", {std::move(base), std::move(below), std::move(above)}};
  }

  std::string_view text_;
  size_t at_ = 0;
};

bool empty(const Node& node) { return node.kind == Kind::row && node.parts.empty(); }

std::string tex(const Node& node) {
  switch (node.kind) {
    case Kind::row: {
      std::string text;
      for (size_t n = 0; n < node.parts.size(); ++n) {
        text += tex(node.parts[n]);
        const bool applied = node.parts[n].kind == Kind::function && n + 1 < node.parts.size();
        if (applied && node.parts[n + 1].text != "(") text += "\\,";
      }
      return text;
    }
    case Kind::identifier:
      return node.text.size() > 1 ? "\\" + node.text + " " : node.text;
    case Kind::word: {
      std::string safe;
      for (const char c : node.text) safe += c == '_' ? std::string("\\_") : std::string(1, c);
      return fmt::format("\\ \\text{{{}}}\\ ", safe);
    }
    case Kind::number:
      return node.text;
    case Kind::sign:
      if (node.text == ".") return " \\cdot ";
      if (node.text == ",") return ",\\ ";
      if (node.text == "'") return "\\prime ";
      for (const Sign& sign : kSigns)
        if (node.text == sign.ascii) return std::string(sign.tex);
      return node.text;
    case Kind::function:
      if (among(kNamedInTex, node.text)) return fmt::format("\\{} ", node.text);
      return fmt::format("\\mathrm{{{}}}", node.text);
    case Kind::sum:
      return "\\sum ";
    case Kind::root:
      return fmt::format("\\sqrt{{{}}}", tex(node.parts[0]));
    case Kind::script: {
      const Node& base = node.parts[0];
      std::string text = base.kind == Kind::word ? fmt::format("\\mathrm{{{}}}", base.text) : tex(base);
      while (!text.empty() && text.back() == ' ' && text.size() > 2) text.pop_back();
      if (!empty(node.parts[1])) text += fmt::format("_{{{}}}", tex(node.parts[1]));
      if (!empty(node.parts[2])) text += fmt::format("^{{{}}}", tex(node.parts[2]));
      return text;
    }
  }
  return "";
}

std::string mathml(const Node& node) {
  switch (node.kind) {
    case Kind::row: {
      std::string text = "<mrow>";
      for (const Node& part : node.parts) text += mathml(part);
      return text + "</mrow>";
    }
    case Kind::identifier: {
      const auto* found = std::find(std::begin(kGreek), std::end(kGreek), node.text);
      const std::string shown =
          found == std::end(kGreek) ? node.text : std::string(kGreekLetters[found - std::begin(kGreek)]);
      return fmt::format("<mi>{}</mi>", shown);
    }
    case Kind::word:
      return fmt::format("<mspace width=\"0.4em\"/><mtext>{}</mtext><mspace width=\"0.4em\"/>",
                         view::escaped(node.text));
    case Kind::number:
      return fmt::format("<mn>{}</mn>", node.text);
    case Kind::sign: {
      std::string shown = node.text == "." ? "·" : node.text == "'" ? "′" : node.text == "-" ? "−" : node.text;
      for (const Sign& sign : kSigns)
        if (node.text == sign.ascii) shown = sign.shown;
      const bool bar = node.text == "|" || node.text == "||", bracket = node.text.find_first_of("()[]") == 0;
      const char* how = bar ? " form=\"prefix\" stretchy=\"false\"" : bracket ? " stretchy=\"false\"" : "";
      return fmt::format("<mo{}>{}</mo>", how, view::escaped(shown));
    }
    case Kind::function:
      return fmt::format("<mi mathvariant=\"normal\">{}</mi>", node.text);
    case Kind::sum:
      return "<mo>∑</mo>";
    case Kind::root:
      return fmt::format("<msqrt>{}</msqrt>", mathml(node.parts[0]));
    case Kind::script: {
      const bool sum = node.parts[0].kind == Kind::sum;
      const Node& what = node.parts[0];
      const std::string base =
          what.kind == Kind::word ? fmt::format("<mi mathvariant=\"normal\">{}</mi>", what.text) : mathml(what);
      const std::string below = mathml(node.parts[1]), above = mathml(node.parts[2]);
      if (empty(node.parts[2])) return fmt::format("<{0}>{1}{2}</{0}>", sum ? "munder" : "msub", base, below);
      if (empty(node.parts[1])) return fmt::format("<{0}>{1}{2}</{0}>", sum ? "mover" : "msup", base, above);
      return fmt::format("<{0}>{1}{2}{3}</{0}>", sum ? "munderover" : "msubsup", base, below, above);
    }
  }
  return "";
}

/// Two blanks end a line; what stands before them is its punctuation, and goes.
std::vector<Node> lines_of(std::string_view formula) {
  std::vector<Node> lines;
  while (!formula.empty()) {
    const size_t end = std::min(formula.find("  "), formula.size());
    std::string_view line = formula.substr(0, end);
    if (!line.empty() && (line.back() == ',' || line.back() == ';')) line.remove_suffix(1);
    if (!line.empty()) lines.push_back(Reader(line).row());
    formula.remove_prefix(end);
    formula.remove_prefix(std::min(formula.find_first_not_of(' '), formula.size()));
  }
  return lines;
}

}  // namespace

std::string tex_of(std::string_view formula) {
  const std::vector<Node> lines = lines_of(formula);
  if (lines.size() == 1) return tex(lines[0]) + "\n";
  std::string text = "\\begin{gathered}\n";
  for (size_t n = 0; n < lines.size(); ++n) text += tex(lines[n]) + (n + 1 < lines.size() ? " \\\\\n" : "\n");
  return text + "\\end{gathered}\n";
}

std::string mathml_of(std::string_view formula) {
  std::string text;
  for (const Node& line : lines_of(formula)) text += fmt::format("<math display=\"block\">{}</math>\n", mathml(line));
  return text;
}

}  // namespace heed::cli

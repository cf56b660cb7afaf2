// Words and sentences by Unicode's rules (UAX 29), for texts that are only read: reviews, news, mail.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed::text {

/// The words, numbers and signs of a text in lower case, without the blanks between them: "It's 5 p.m.!" is it's, 5,
/// p.m, ., !  Tags of HTML ("<br />") are left out.
std::vector<std::string> unicode_words_of(std::string_view text);

/// The sentences of a text; tags of HTML that end a line (<br />, </p>) end a sentence too. They are parts of `text`.
std::vector<std::string_view> sentences_of(std::string_view text);

}  // namespace heed::text

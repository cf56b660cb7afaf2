// Formulas as the catalogue writes them, in ASCII, set as mathematics: "e_ij = q_i . k_j / sqrt(D)".
#pragma once

#include <string>
#include <string_view>

namespace heed::cli {

/// TeX for a ```math block. Parts between two blanks (";  ") stand on lines of their own.
std::string tex_of(std::string_view formula);

/// The same as MathML, which browsers show without help: one <math> element for each line.
std::string mathml_of(std::string_view formula);

}  // namespace heed::cli

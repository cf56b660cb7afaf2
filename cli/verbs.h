// The verbs. Each adds itself to the command line, and runs when it was chosen.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>

namespace heed::cli {

void add_demo(CLI::App& app);
void add_train(CLI::App& app);
void add_predict(CLI::App& app);
void add_score(CLI::App& app);
void add_evaluate(CLI::App& app);
void add_average(CLI::App& app);
void add_info(CLI::App& app);
void add_mechanisms(CLI::App& app);

// Not listed: for packagers.
void add_completions(CLI::App& app);
void add_manual(CLI::App& app);

/// Empty if `word` is one of `words`; else what to say about it, with the nearest of them.
std::string complaint(const char* what, const std::string& word, std::span<const std::string> words);

}  // namespace heed::cli

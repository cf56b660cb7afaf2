// The table of a comparison as files: for programs (JSON, CSV) and for people (Markdown, one HTML page).
#pragma once

#include <filesystem>
#include <string>

#include "heed/compare/plan.h"
#include "heed/compare/table.h"

namespace heed::compare {

/// Everything: the recipe, the variants with their settings, and every run without the statistics of its lines.
std::string json_text(const Plan& plan, const Table& table, const Results& results);

/// A line per variant: name, rank, runs, then mean and spread of every measure, p, adjusted p and the reason.
std::string csv_text(const Table& table);

/// The table, then the variants without a value and why, then what the columns mean.
std::string markdown_text(const Plan& plan, const Table& table);

/// A page that needs nothing else: the table, sorted by a click on a heading, and where each variant looked.
std::string html_text(const Plan& plan, const Table& table);

/// An alignment as SVG: the source across, the output down, darker for more weight. Its colours are the classes `on`
/// (weights above 0) and `off` (below 0), with the size of the weight as opacity.
std::string svg_text(const Picture& picture, const std::string& title);

/// compare.json, compare.csv, compare.md and compare.html.
void write_files(const Plan& plan, const Table& table, const Results& results, const std::filesystem::path& folder);

}  // namespace heed::compare

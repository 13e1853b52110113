// How wide a table may be. Private to `tools`.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hilo::tools {

// Columns of the terminal that standard output is, COLUMNS where that is set; 0: it is none, and
// rows have any length.
size_t terminal_width();

// `text` in so many columns, its beginning left out where it is longer: "...el.py:12". Width 0:
// all.
std::string fit_to(std::string_view text, size_t width);
// The same in rows of so many columns, broken between words.
std::string wrapped(std::string_view text, size_t indent, size_t width);

}  // namespace hilo::tools

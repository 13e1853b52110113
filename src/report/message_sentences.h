// Private to report: what a message says in sentences, and in the rows of its totals.
#pragma once

#include "report/message_text.h"

namespace hilo {

// Fills the message, its evidence of the chip, limits and totals.
void read_sentences(const MessageText& text, DumpContents& contents);
// Whether a sentence that only such messages have stands in the text.
bool has_message(std::string_view text);
// The messages of a log, each with the lines before it; one where there is none.
std::vector<DumpText> split_messages(const DumpText& dump);
// The number of a memory space by the name that messages give it; new ones for unknown names.
int64_t space_of_name(std::string_view name, DumpContents& contents);

}  // namespace hilo

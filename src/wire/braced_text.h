// Attributes that the module keeps as text, {key=value key={...}}, as messages and back.
#pragma once

#include <google/protobuf/message.h>

#include <string>
#include <string_view>
#include <vector>

namespace hilo {

// The parts of "{{a}, {b}}" with their braces, or the whole when it holds no list; empty: none.
std::vector<std::string_view> split_braced(std::string_view text);
// Keys are field names; values are numbers, words (enumerators in lower case), "strings", or
// messages in braces. False when the text is not of that form or names another field.
bool read_braced(std::string_view text, google::protobuf::Message& to);
// {op_type="x" op_name="y"}: the fields that are set, in the order of their declaration.
std::string print_braced(const google::protobuf::Message& from, std::string_view separator = " ");

// C escapes of text between quotes, as HLO text has them.
std::string quoted(std::string_view text);
std::string unquoted(std::string_view inside);

}  // namespace hilo

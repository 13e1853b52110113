#include "tools/diagnostics.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace hilo::tools {
namespace {

std::string_view line_of(std::string_view source, int64_t line) {
  size_t start = 0;
  for (int64_t i = 1; i < line; ++i) {
    start = source.find('\n', start);
    if (start == std::string_view::npos) return {};
    ++start;
  }
  return source.substr(start, source.find('\n', start) - start);
}

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

// Bytes of the printable character at the front of the text; 0: a control character, or no UTF-8.
size_t length_of_character(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return first < 32 || first == 127 ? 0 : 1;
  const size_t length = first >= 0xf5 ? 0 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || length == 0 || text.size() < length) return 0;
  for (const char c : text.substr(1, length - 1))
    if (!continues_character(c)) return 0;
  const auto second = static_cast<unsigned char>(text[1]);
  const bool is_control = first == 0xc2 && second < 0xa0;
  const bool is_surrogate = first == 0xed && second >= 0xa0;
  const bool is_too_long = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool is_too_large = first == 0xf4 && second >= 0x90;
  return is_control || is_surrogate || is_too_long || is_too_large ? 0 : length;
}

// What a terminal may be shown, a blank for all else; and its characters.
struct Shown {
  std::string text;
  size_t columns = 0;
};
Shown shown(std::string_view text) {
  Shown out;
  for (; !text.empty(); ++out.columns) {
    const size_t length = length_of_character(text);
    out.text += length == 0 ? " " : text.substr(0, length);
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

// The line and a caret below the column, which counts bytes, cut to a terminal's width.
void show_line(std::string_view source, const Place& place) {
  if (place.line <= 0 || source.empty()) return;
  const std::string_view whole = line_of(source, place.line);
  const size_t column =
      std::min(static_cast<size_t>(std::max<int64_t>(place.column, 1)) - 1, whole.size());
  constexpr size_t width = 100, before = 40;
  size_t start = column > before && whole.size() > width ? column - before : 0;
  while (start < column && continues_character(whole[start])) ++start;
  size_t end = std::min(whole.size(), start + width);
  while (end < whole.size() && end > column && continues_character(whole[end])) --end;
  const std::string dots = start > 0 ? "..." : "";
  fmt::print(stderr, "  {}{}{}\n  {}^\n", dots, shown(whole.substr(start, end - start)).text,
             end < whole.size() ? "..." : "",
             std::string(dots.size() + shown(whole.substr(start, column - start)).columns, ' '));
}

void set_error_document(Session& session, std::string json) {
  if (session.is_of_errors) return;
  session.document = session.json ? std::move(json) : "";
  session.is_of_errors = true;
}

}  // namespace

void set_document(Session& session, std::string json) {
  if (!session.is_of_errors) session.document = std::move(json);
}

void report(const Session& session, const Error& error, std::string_view source) {
  std::string text = to_string(error);
  if (session.color)
    if (const size_t at = text.find("error:"); at != std::string::npos)
      text.replace(at, 6, "\033[1;31merror:\033[0m");
  std::fflush(stdout);
  fmt::print(stderr, "{}{}\n", session.speaker, text);
  show_line(source, error.place);
}

void warn(const Session& session, std::string_view message, const Place& place) {
  if (session.is_silent) return;
  std::string where;
  if (!place.file.empty()) where = place.file + ":";
  if (place.line > 0) where += fmt::format("{}:{}:", place.line, place.column);
  if (!where.empty()) where += " ";
  fmt::print(stderr, "{}{} {}\n", where,
             session.color ? "\033[1;33mwarning:\033[0m" : "warning:", message);
}

void report(const Session& session, const Note& note) {
  std::fflush(stdout);
  const Place& place = note.place;
  const std::string where =
      place.line > 0 ? fmt::format("{}:{}:{}", place.file, place.line, place.column) : place.file;
  fmt::print(stderr, "{}: {} {} [{}, {}, {}]\n", where,
             session.color ? "\033[1;36mnote:\033[0m" : "note:", note.message, place.computation,
             place.instruction, place.op);
}

void fail_with(Session& session, const Error& error, std::string_view source) {
  set_error_document(session, errors_json(error.place.file, {error}));
  if (!session.first_error) session.first_error = error;
  report(session, error, source);
  session.status = error.kind == ErrorKind::Usage ? wrong_usage : failure;
}

bool is_sound(const Module& module, Session& session, const VerifyOptions& options) {
  const std::vector<Error> errors = verify(module, options);
  for (const Error& error : errors) report(session, error, module.source);
  if (!errors.empty()) session.first_error = errors[0];
  if (!errors.empty()) set_error_document(session, errors_json(module.file, errors));
  if (!errors.empty()) session.status = failure;
  return errors.empty();
}

std::string errors_json(const std::string& file, const std::vector<Error>& errors) {
  return errors_json(std::span(&file, 1), errors);
}

namespace {

// File and what is given, then the rest of the place.
nlohmann::ordered_json row_of(const Place& place, const nlohmann::ordered_json& given) {
  nlohmann::ordered_json out = {{"file", place.file}};
  out.update(given);
  out.update({{"line", place.line},
              {"column", place.column},
              {"computation", place.computation},
              {"instruction", place.instruction},
              {"op", place.op}});
  return out;
}

nlohmann::ordered_json document_of(std::span<const std::string> files,
                                   const std::vector<Error>& errors) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Error& error : errors)
    list.push_back(
        row_of(error.place, {{"kind", text_of(error.kind)}, {"message", error.message}}));
  nlohmann::ordered_json out = {{"schema", "hilo.errors.1"}};
  if (files.size() == 1) out["file"] = files[0];
  else out["files"] = files;
  out["errors"] = list;
  return out;
}

std::string written(const nlohmann::ordered_json& document) {
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string errors_json(std::span<const std::string> files, const std::vector<Error>& errors) {
  return written(document_of(files, errors));
}

std::string errors_json(std::span<const std::string> files, const std::vector<Error>& errors,
                        const std::vector<Note>& notes) {
  nlohmann::ordered_json out = document_of(files, errors);
  out["notes"] = nlohmann::ordered_json::array();
  for (const Note& note : notes)
    out["notes"].push_back(row_of(note.place, {{"message", note.message}}));
  return written(out);
}

}  // namespace hilo::tools

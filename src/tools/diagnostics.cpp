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

// The line and a caret below the column, cut to a window of a terminal's width.
void show_line(std::string_view source, const Place& place) {
  if (place.line <= 0 || source.empty()) return;
  std::string_view whole = line_of(source, place.line);
  size_t column = static_cast<size_t>(std::max<int64_t>(place.column, 1)) - 1;
  constexpr size_t width = 100, before = 40;
  std::string line;
  if (column > before && whole.size() > width) {
    whole.remove_prefix(std::min(whole.size(), column - before));
    line = "...";
    column = before + 3;
  }
  line += whole.substr(0, width);
  if (whole.size() > width) line += "...";
  for (char& c : line)
    if (static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) > 126) c = ' ';
  fmt::print(stderr, "  {}\n  {}^\n", line, std::string(std::min(column, line.size()), ' '));
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
  fmt::print(stderr, "{}\n", text);
  show_line(source, error.place);
}

void warn(const Session& session, std::string_view message, const Place& place) {
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
  report(session, error, source);
  session.status = error.kind == ErrorKind::Usage ? wrong_usage : failure;
}

bool is_sound(const Module& module, Session& session, const VerifyOptions& options) {
  const std::vector<Error> errors = verify(module, options);
  for (const Error& error : errors) report(session, error, module.source);
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

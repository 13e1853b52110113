// Errors and warnings on standard error: FILE:LINE:COLUMN: error: …, with the line and a caret.
#pragma once

#include "ir/ir.h"
#include "tools/command.h"
#include "verify/verify.h"

namespace hilo::tools {

// `source` is the text that places count in; empty when it is not at hand.
void report(const Session& session, const Error& error, std::string_view source = {});
void warn(const Session& session, std::string_view message, const Place& place = {});
// The JSON document that is printed when the command ends. One of errors takes the place of any
// other, and stays.
void set_document(Session& session, std::string json);
// Reports and sets the session's status, and with --json the document.
void fail_with(Session& session, const Error& error, std::string_view source = {});
// Verifies; where errors are found they are reported, and the session's status is set.
bool is_sound(const Module& module, Session& session, const VerifyOptions& options = {});
// What is no mistake and yet worth knowing.
struct Note {
  std::string message;
  Place place;  // of the first of what it is about
};
void report(const Session& session, const Note& note);  // FILE:LINE:COLUMN: note: ...
// The JSON document of errors in one file, or in "files" where there are several:
// {"schema": "hilo.errors.1", "file": ..., "errors": [{"file": ..., "kind": ..., ...}]}
std::string errors_json(const std::string& file, const std::vector<Error>& errors);
std::string errors_json(std::span<const std::string> files, const std::vector<Error>& errors);
// With "notes": [{"file": ..., "message": ..., ...}] besides.
std::string errors_json(std::span<const std::string> files, const std::vector<Error>& errors,
                        const std::vector<Note>& notes);

}  // namespace hilo::tools

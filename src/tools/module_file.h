// Finding and reading the module that a command is about.
#pragma once

#include "text/text.h"
#include "tools/diagnostics.h"
#include "tools/dump_folder.h"

namespace hilo::tools {

struct LoadedModule {
  Module module;
  std::string path;  // the file that was taken
};
struct LoadOptions {
  StageChoice stage;                                     // of a folder
  std::vector<Error>* errors = nullptr;                  // collects them instead of reporting
  std::shared_ptr<const std::string>* source = nullptr;  // given the file's bytes, to show lines
  PartialModule* partial = nullptr;  // given what is there of a text with errors
  // Asked of StableHLO, which may leave dimensions open, where stage.argument_shapes says nothing.
  std::function<Result<std::vector<Shape>>()> argument_shapes = {};
};
// A file, "-", or a dump folder, of which one stage is taken, as standard error says. What goes
// wrong is reported or collected, and nothing returned.
std::optional<LoadedModule> load_module(const std::string& path, const LoadOptions& options,
                                        Session& session);
// The same for a text that has been read; `shown` is the name that messages give it.
std::optional<LoadedModule> read_loaded_module(std::shared_ptr<const std::string> text,
                                               const std::string& shown, const LoadOptions& options,
                                               Session& session);
// What the options say of the arguments of a program in these bytes that may leave dimensions open.
Result<std::vector<Shape>> argument_shapes(std::string_view bytes, const LoadOptions& options);
// Of a text that is no module: the error where it is one of XLA's dumps, which explain reads.
std::optional<Error> dump_instead_of_module(std::string_view text, const std::string& shown);
Result<std::string> read_input_file(const std::string& path);  // "-" is standard input

// Where there is no file to write: with --json the document stands there alone.
inline bool is_standard_output(std::string_view path) { return path.empty() || path == "-"; }
// Whether a file can be made there, so that long work is not done for nothing; "" and "-" are no
// files. What is wrong is reported.
bool can_write(const std::string& path, Session& session);
// To a file by way of a temporary one beside it, or to standard output when `path` is empty.
void write_text(const std::string& path, std::string_view text, Session& session);

}  // namespace hilo::tools

// Finding and reading the module that a command is about.
#pragma once

#include "text/text.h"
#include "tools/diagnostics.h"

namespace hilo::tools {

struct LoadedModule {
  Module module;
  std::string path;  // the file that was taken
};
struct LoadOptions {
  std::string stage;  // of a folder: part of the file name; empty = the most optimised
  std::vector<Error>* errors = nullptr;                  // collects them instead of reporting
  std::shared_ptr<const std::string>* source = nullptr;  // given the file's bytes, to show lines
  PartialModule* partial = nullptr;  // given what is there of a text with errors
};
// A file, "-", or a dump folder, of which the most optimised module is taken (the list goes to
// standard error). What goes wrong is reported or collected, and nothing returned.
std::optional<LoadedModule> load_module(const std::string& path, const LoadOptions& options,
                                        Session& session);
// The same for a text that has been read; `shown` is the name that messages give it.
std::optional<LoadedModule> read_loaded_module(std::shared_ptr<const std::string> text,
                                               const std::string& shown, const LoadOptions& options,
                                               Session& session);
// The module files of a dump folder, from the first stage to the most optimised.
Result<std::vector<std::string>> modules_in_folder(const std::string& folder);
// The most optimised module file of a dump folder, of those the last; an error when there is none.
Result<std::string> find_module_in_folder(const std::string& folder, const std::string& stage);
// Of a text that is no module: the error where it is one of XLA's dumps, which explain reads.
std::optional<Error> dump_instead_of_module(std::string_view text, const std::string& shown);
Result<std::string> read_input_file(const std::string& path);  // "-" is standard input

// Whether a file can be made there, so that long work is not done for nothing; "" and "-" are no
// files. What is wrong is reported.
bool can_write(const std::string& path, Session& session);
// To a file by way of a temporary one beside it, or to standard output when `path` is empty.
void write_text(const std::string& path, std::string_view text, Session& session);

}  // namespace hilo::tools

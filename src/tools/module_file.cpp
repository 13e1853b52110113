#include "tools/module_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "report/report.h"
#include "tools/input_spec.h"
#include "wire/wire.h"

namespace hilo::tools {
namespace {

namespace fs = std::filesystem;

// Where errors are collected, those that came before the last one say more.
std::nullopt_t not_loaded(const Error& error, std::string_view source, const LoadOptions& options,
                          Session& session) {
  if (options.errors == nullptr) fail_with(session, error, source);
  else if (options.errors->empty()) options.errors->push_back(error);
  return std::nullopt;
}

// "4x8xf32,8x2xf32"
Result<std::vector<Shape>> parse_shapes(std::string_view text) {
  std::vector<Shape> out;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    const auto shape = parse_shape_spec(one);
    if (!shape)
      return fail(ErrorKind::Usage,
                  "--argument-shapes: expected shapes as 4x8xf32,8x2xf32, found '{}'", one);
    out.push_back(*shape);
    text.remove_prefix(std::min(text.size(), one.size() + 1));
  }
  return out;
}

}  // namespace

Result<std::string> read_input_file(const std::string& path) {
  if (path != "-") return read_whole_file(path);
  std::string out;
  std::vector<char> block(1 << 16);
  while (const size_t count = std::fread(block.data(), 1, block.size(), stdin))
    out.append(block.data(), count);
  if (std::ferror(stdin)) return fail(ErrorKind::Io, "cannot read standard input");
  return out;
}

std::optional<LoadedModule> load_module(const std::string& path, const LoadOptions& options,
                                        Session& session) {
  std::string file = path;
  if (const auto sound = check_choice(path, options.stage); !sound)
    return not_loaded(sound.error(), "", options, session);
  if (is_folder(path)) {
    const auto chosen = choose_stage(path, options.stage);
    if (!chosen) return not_loaded(chosen.error(), "", options, session);
    file = chosen->path;
  }
  auto text = read_input_file(file);
  if (!text) return not_loaded(text.error(), "", options, session);
  return read_loaded_module(std::make_shared<const std::string>(std::move(*text)),
                            file == "-" ? "<stdin>" : file, options, session);
}

std::optional<LoadedModule> read_loaded_module(std::shared_ptr<const std::string> text,
                                               const std::string& shown, const LoadOptions& options,
                                               Session& session) {
  if (options.source) *options.source = text;
  std::vector<Warning> warnings;
  const auto shapes = argument_shapes(*text, options);
  if (!shapes) return not_loaded(shapes.error(), "", options, session);
  auto module = read_module(
      text, Format::Detect,
      {.file = shown, .warnings = &warnings, .errors = options.errors, .partial = options.partial},
      *shapes);
  if (!module)
    if (const auto dump = dump_instead_of_module(*text, shown)) {
      if (options.errors) options.errors->clear();
      if (options.partial) *options.partial = {};
      return not_loaded(*dump, "", options, session);
    }
  for (const Warning& warning : warnings) warn(session, warning.message, warning.place);
  if (!module) {
    Error error = module.error();
    if (error.place.file.empty()) error.place.file = shown;
    return not_loaded(error, *text, options, session);
  }
  if (module->file.empty()) module->file = shown;
  return LoadedModule{std::move(*module), shown};
}

std::optional<Error> dump_instead_of_module(std::string_view text, const std::string& shown) {
  const auto kind = dump_kind(text);
  if (!kind) return std::nullopt;
  Error out{ErrorKind::Format,
            fmt::format("expected a module, found {} {}; `hilo explain` reads it",
                        kind == DumpKind::OutOfMemory ? "an" : "a", text_of(*kind))};
  out.place.file = shown;
  return out;
}

Result<std::vector<Shape>> argument_shapes(std::string_view bytes, const LoadOptions& options) {
  const Format format = detect_format(std::as_bytes(std::span(bytes)));
  const bool may_ask = format == Format::StableHloText || format == Format::StableHloBytecode ||
                       format == Format::Gzip;
  if (!options.stage.argument_shapes.empty()) return parse_shapes(options.stage.argument_shapes);
  return may_ask && options.argument_shapes ? options.argument_shapes() : std::vector<Shape>();
}

bool can_write(const std::string& path, Session& session) {
  if (is_standard_output(path)) return true;
  std::error_code ignored;
  const fs::path folder = fs::path(path).parent_path();
  int error = 0;
  if (fs::is_directory(path, ignored)) error = EISDIR;
  else if (::access(path.c_str(), W_OK) != 0 &&
           ::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0)
    error = errno;
  if (error != 0)
    fail_with(session,
              {ErrorKind::Io, fmt::format("cannot write {}: {}", path, std::strerror(error))});
  return error == 0;
}

void write_text(const std::string& path, std::string_view text, Session& session) {
  if (is_standard_output(path)) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return;
  }
  if (const auto written = write_file(path, text); !written) fail_with(session, written.error());
}

}  // namespace hilo::tools

// Which form a file has, by its content, and the one door for modules in any of them.
#include <algorithm>
#include <cctype>

#include "wire/deflate.h"
#include "wire/hlo_proto.h"
#include "wire/stablehlo/from_module.h"
#include "wire/stablehlo/to_module.h"

namespace hilo {
namespace {

constexpr int64_t max_unpacked = int64_t{1} << 32;

struct Magic {
  Format format;
  std::string_view start;
};
constexpr Magic magics[] = {
    {Format::Npy, "\x93NUMPY"},  {Format::Npz, "PK\x03\x04"},
    {Format::Npz, "PK\x05\x06"},  // an archive without members
    {Format::Gzip, "\x1f\x8b"},  {Format::StableHloBytecode, "ML\xefR"},
};

std::string_view view_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool is_safetensors(std::string_view text) {
  if (text.size() < 10 || text[8] != '{') return false;
  uint64_t length = 0;
  for (int i = 8; i-- > 0;) length = length << 8 | static_cast<unsigned char>(text[i]);
  return length <= text.size() - 8;
}

// #name =, which may go on over several lines.
bool is_alias(std::string_view text) {
  size_t end = 1;
  while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) ||
                               std::string_view("_.$-").contains(text[end])))
    ++end;
  const size_t next = text.find_first_not_of(" \t", end);
  return text.starts_with('#') && end > 1 && next != std::string_view::npos && text[next] == '=';
}

// A text from where its comments end.
std::string_view after_comments(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const bool space = std::isspace(static_cast<unsigned char>(text[at])) != 0;
    const std::string_view rest = text.substr(at);
    const bool comment = rest.starts_with("//") || (rest[0] == '#' && !is_alias(rest));
    const bool block = rest.starts_with("/*");
    if (!space && !comment && !block) break;
    if (space) {
      ++at;
      continue;
    }
    const size_t end = comment ? text.find('\n', at) : text.find("*/", at + 2);
    if (end == std::string_view::npos) return {};
    at = end + (comment ? 1 : 2);
  }
  return text.substr(at);
}

std::string_view first_word(std::string_view text) {
  size_t end = 0;
  while (end < text.size() &&
         (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_'))
    ++end;
  return text.substr(0, end);
}

// An alias, or a module in MLIR's generic form.
bool begins_as_mlir(std::string_view text) {
  return is_alias(text) || (text.starts_with('!') && text.contains('=')) ||
         text.starts_with("\"builtin.module\"");
}

// Behind "func." or "sdy.": an op and the symbol that it defines, as in "mesh @m" or "func public
// @main". Names of HLO, which may hold dots too, are followed by other things.
bool begins_as_op(std::string_view text) {
  const std::string_view op = first_word(text);
  const size_t next = text.find_first_not_of(" \t", op.size());
  if (op.empty() || next == std::string_view::npos || next == op.size()) return false;
  const std::string_view word = first_word(text.substr(next));
  return text[next] == '@' || word == "public" || word == "private" || word == "nested";
}

// The start of a message: HloModuleProto's name or HloProto's module, field 1 of bytes.
bool is_proto(std::string_view text) {
  const std::string_view head = text.substr(0, 4096);
  const bool has_control = std::any_of(head.begin(), head.end(), [](char c) {
    const auto code = static_cast<unsigned char>(c);
    return code < 32 && code != '\n' && code != '\r' && code != '\t' && code != '\f';
  });
  return has_control || head.find('\x7f') != std::string_view::npos;
}

}  // namespace

std::string_view text_of(Format format) {
  constexpr std::string_view texts[] = {"detect",
                                        "HLO text",
                                        "HLO proto",
                                        "HLO proto text",
                                        "HLO proto JSON",
                                        "StableHLO text",
                                        "StableHLO bytecode",
                                        "npy",
                                        "npz",
                                        "safetensors",
                                        "gzip"};
  return texts[static_cast<size_t>(format)];
}

Format detect_format(std::span<const std::byte> bytes) {
  const std::string_view text = view_of(bytes);
  for (const Magic& magic : magics)
    if (text.starts_with(magic.start)) return magic.format;
  if (is_safetensors(text)) return Format::Safetensors;
  if (is_proto(text)) return Format::HloProto;
  if (const size_t first = text.find_first_not_of(" \t\r\n");
      first != std::string_view::npos && text[first] == '{')
    return Format::HloProtoJson;
  const std::string_view content = after_comments(text);
  if (begins_as_mlir(content)) return Format::StableHloText;
  const std::string_view word = first_word(content);
  const std::string_view after =
      word.empty() ? std::string_view() : text.substr(word.data() + word.size() - text.data());
  const size_t next = after.find_first_not_of(" \t");
  const char mark = next == std::string_view::npos ? '\0' : after[next];
  constexpr std::string_view proto_fields[] = {"name", "hlo_module", "entry_computation_name",
                                               "computations"};
  if (std::find(std::begin(proto_fields), std::end(proto_fields), word) != std::end(proto_fields) &&
      (mark == ':' || mark == '{'))
    return Format::HloProtoText;
  if (word == "module" && (mark == '@' || mark == '{' || after.find("attributes") == next))
    return Format::StableHloText;
  if (mark == '.' && begins_as_op(after.substr(next + 1))) return Format::StableHloText;
  return Format::HloText;
}

namespace {

Result<Module> read_stablehlo(const Result<mlir::Program>& program,
                              std::span<const Shape> argument_shapes, const ParseOptions& options) {
  if (!program) return std::unexpected(program.error());
  return mlir::to_module(*program, argument_shapes, options);
}

Result<Module> read_any(std::span<const std::byte> bytes, Format format,
                        const ParseOptions& options, std::span<const Shape> argument_shapes) {
  if (format == Format::Detect) format = detect_format(bytes);
  const auto in_file = [&](Result<Module> module) {
    if (module) module->file = options.file;
    else if (module.error().place.file.empty()) module.error().place.file = options.file;
    return module;
  };
  switch (format) {
    case Format::HloText: return parse(view_of(bytes), options);
    case Format::HloProto: return in_file(read_hlo_proto(bytes));
    case Format::HloProtoText: return in_file(read_hlo_proto_text(bytes));
    case Format::HloProtoJson: return in_file(read_hlo_proto_json(bytes));
    case Format::Gzip: {
      Result<std::string> unpacked = gunzip(bytes, max_unpacked);
      if (!unpacked) return in_file(std::unexpected(unpacked.error()));
      const auto inside = std::as_bytes(std::span(*unpacked));
      if (detect_format(inside) == Format::Gzip)
        return in_file(fail(ErrorKind::Unsupported, "gzip in gzip"));
      return read_module(inside, Format::Detect, options, argument_shapes);
    }
    case Format::StableHloText:
      return in_file(
          read_stablehlo(mlir::read_text(view_of(bytes), options.file), argument_shapes, options));
    case Format::StableHloBytecode:
      return in_file(
          read_stablehlo(mlir::read_bytecode(bytes, options.file), argument_shapes, options));
    default:
      return in_file(fail(ErrorKind::Format, "{} holds arrays, not a module", text_of(format)));
  }
}

}  // namespace

Result<Module> read_module(std::span<const std::byte> bytes, Format format,
                           const ParseOptions& options, std::span<const Shape> argument_shapes) {
  return within_memory([&] { return read_any(bytes, format, options, argument_shapes); });
}

Result<Module> read_module(std::shared_ptr<const std::string> bytes, Format format,
                           const ParseOptions& options, std::span<const Shape> argument_shapes) {
  const auto view = std::as_bytes(std::span(*bytes));
  if (format == Format::Detect) format = detect_format(view);
  if (format == Format::HloText) return parse(std::move(bytes), options);
  return read_module(view, format, options, argument_shapes);
}

Result<Module> read_module_file(const std::string& path, const ParseOptions& options,
                                std::span<const Shape> argument_shapes) {
  HILO_TRY(std::string bytes, read_whole_file(path));
  ParseOptions in_file = options;
  if (in_file.file.empty()) in_file.file = path;
  return read_module(std::make_shared<const std::string>(std::move(bytes)), Format::Detect, in_file,
                     argument_shapes);
}

namespace {

Result<std::string> write_stablehlo(const Module& module, Format to,
                                    const ConvertOptions& options) {
  // Text is read in its newest form only.
  const bool is_text = to == Format::StableHloText;
  mlir::Release release = mlir::newest_written;
  if (!is_text) {
    HILO_TRY(release, mlir::release_of(options.stablehlo_version));
  }
  HILO_TRY(const mlir::Program program, mlir::from_module(module, release, options.warnings));
  return is_text ? mlir::write_text(program) : mlir::write_bytecode(program, release);
}

}  // namespace

Result<std::string> convert(const Module& module, Format to, const ConvertOptions& options) {
  switch (to) {
    case Format::HloText:
      return within_memory([&] -> Result<std::string> { return print(module); });
    case Format::HloProto: return write_hlo_proto(module);
    case Format::HloProtoText: return write_hlo_proto_text(module);
    case Format::HloProtoJson: return write_hlo_proto_json(module);
    case Format::StableHloText:
    case Format::StableHloBytecode:
      return within_memory([&] { return write_stablehlo(module, to, options); });
    default: return fail(ErrorKind::Unsupported, "a module cannot be written as {}", text_of(to));
  }
}

}  // namespace hilo

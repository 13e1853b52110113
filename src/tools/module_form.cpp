#include "tools/module_form.h"

#include <algorithm>
#include <filesystem>

namespace hilo::tools {
namespace {

struct Ending {
  std::string_view ending, word;
  Format format;
};
constexpr Ending endings[] = {{".txt", "text", Format::HloText},
                              {".hlo", "text", Format::HloText},
                              {".pb", "proto", Format::HloProto},
                              {".binpb", "proto", Format::HloProto},
                              {".pbtxt", "prototext", Format::HloProtoText},
                              {".prototext", "prototext", Format::HloProtoText},
                              {".textproto", "prototext", Format::HloProtoText},
                              {".txtpb", "prototext", Format::HloProtoText},
                              {".json", "json", Format::HloProtoJson},
                              {".mlir", "stablehlo", Format::StableHloText},
                              {".mlirbc", "stablehlo-bytecode", Format::StableHloBytecode}};

std::string known_endings() {
  std::string out;
  for (const Ending& one : endings) out += fmt::format("{}{}", out.empty() ? "" : ", ", one.ending);
  return out;
}

}  // namespace

Result<ModuleForm> form_of_file(const std::string& path) {
  ModuleForm out;
  std::filesystem::path name = std::filesystem::path(path).filename();
  if (path == "-") return out;
  if (name.extension() == ".gz") {
    out.compressed = true;
    name = name.stem();
  }
  const std::string ending = name.extension();
  if (ending.empty()) return out;
  const auto* known = std::ranges::find(endings, ending, &Ending::ending);
  if (known == std::end(endings))
    return fail(ErrorKind::Usage, "{}: no form of a module ends in {}; {} do, and .gz behind them",
                path, ending, known_endings());
  out.format = known->format;
  return out;
}

std::vector<std::string> words_of_forms() {
  std::vector<std::string> out;
  for (const Ending& one : endings)
    if (std::ranges::find(out, one.word) == out.end()) out.emplace_back(one.word);
  return out;
}

Format form_of_word(std::string_view word) {
  return std::ranges::find(endings, word, &Ending::word)->format;
}

Result<void> expect_text_file(const std::string& path) {
  const auto form = form_of_file(path);
  if (!form || (form->format == Format::HloText && !form->compressed)) return {};
  return fail(ErrorKind::Usage,
              "{}: text is written, which its ending does not say; hilo convert "
              "writes other forms",
              path);
}

Result<std::string> written_as(const Module& module, const ModuleForm& form,
                               const ConvertOptions& options) {
  HILO_TRY(std::string bytes, convert(module, form.format, options));
  return form.compressed ? gzip(bytes) : bytes;
}

}  // namespace hilo::tools

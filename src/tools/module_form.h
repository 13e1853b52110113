// The form that a module is written in, as the ending of the file's name says it. Private to
// `tools`.
#pragma once

#include "wire/wire.h"

namespace hilo::tools {

struct ModuleForm {
  Format format = Format::HloText;
  bool compressed = false;  // by gzip
};
// By the ending, with or without .gz behind it. Text for a name without one, for "-" and for none.
// Usage for an ending that stands for no form.
Result<ModuleForm> form_of_file(const std::string& path);
// The words of --to, which the ending may contradict: text, proto, prototext, json, stablehlo,
// stablehlo-bytecode.
std::vector<std::string> words_of_forms();
Format form_of_word(std::string_view word);
// Whether the file is to hold text; Usage, which names `hilo convert`, where its ending says else.
Result<void> expect_text_file(const std::string& path);

Result<std::string> written_as(const Module& module, const ModuleForm& form,
                               const ConvertOptions& options = {});

}  // namespace hilo::tools

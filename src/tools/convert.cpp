
#include "tools/module_file.h"
#include "wire/wire.h"

namespace hilo::tools {

void add_convert(Arguments& arguments, Session& session) {
  struct Options {
    std::string file, output, to;
  };
  auto options = std::make_shared<Options>();
  arguments.add_option("FILE", options->file, "a module in any form, or -").required();
  arguments.add_option("-o,--output", options->output,
                       "the file to write; standard output without");
  arguments
      .add_option("--to", options->to, "text, proto or prototext; without, by the output's ending")
      .one_of({"text", "proto", "prototext"});
  arguments.footer(
      "Examples:\n  hilo convert dump.hlo.pb -o dump.txt\n  hilo convert dump.txt -o dump.pb");
  arguments.callback([options, &session] {
    auto loaded = load_module(options->file, {}, session);
    if (!loaded) return;
    std::string to = options->to;
    if (to.empty()) {
      const std::string& out = options->output;
      to = out.ends_with(".pb") ? "proto" : out.ends_with(".pbtxt") ? "prototext" : "text";
    }
    const Format format = to == "text"    ? Format::HloText
                          : to == "proto" ? Format::HloProto
                                          : Format::HloProtoText;
    const auto converted = convert(loaded->module, format);
    if (!converted) return fail_with(session, converted.error());
    write_text(options->output, *converted, session);
  });
}

}  // namespace hilo::tools

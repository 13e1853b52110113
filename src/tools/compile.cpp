#include <filesystem>
#include <nlohmann/json.hpp>

#include "report/report.h"
#include "tools/compiler_options.h"
#include "tools/module_file.h"

namespace hilo::tools {
namespace {

struct Options {
  std::string file, output, header, name, ir;
  ObjectOptions object;
  CompilerOptions compiler;
  StageChoice stage;
};

// The module's name as C would have it.
std::string function_name(std::string_view name) {
  std::string out;
  for (char c : name) out += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (out.empty() || !std::isalpha(static_cast<unsigned char>(out[0]))) out = "module_" + out;
  return out;
}

void show(const Options& options, const std::string& name, const ObjectFile& made,
          Session& session) {
  show_compilation(options.compiler, made.report, session);
  if (session.json) {
    const nlohmann::ordered_json out = {{"schema", "hilo.compile.1"},
                                        {"object", options.output},
                                        {"name", name},
                                        {"compile_s", made.report.total_seconds()},
                                        {"workspace_bytes", made.report.temp_bytes},
                                        {"kernels", made.report.kernels},
                                        {"routines", made.report.routines},
                                        {"evaluated", made.evaluated},
                                        {"needs", made.needs_run_time ? "hilo_run" : "m"},
                                        {"link_flags", made.link_flags}};
    set_document(session, out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    return;
  }
  if (made.needs_run_time) {
    fmt::print(
        stderr, "{} needs libhilo_run: {}, {} in the evaluator, {}\n", options.output,
        counted(made.report.routines, "routine"),
        counted(std::ssize(made.report.evaluated), "step"),
        options.object.threads == 0 ? "all threads" : counted(options.object.threads, "thread"));
    for (const auto& [what, count] : made.evaluated)
      fmt::print(stderr, "  {} runs in the evaluator ({})\n", what, counted(count, "step"));
  }
  if (options.output != "-")
    fmt::print(stderr, "link: c++ main.cpp {} -o main {}\n",
               std::filesystem::absolute(options.output).native(), made.link_flags);
}

void compile(const Options& options, Session& session) {
  if (lists_stages(options.file, options.stage, session)) return;
  for (const std::string& place : {options.output, options.header, options.ir}) {
    if (place == "-" && session.json)
      return fail_with(session, {ErrorKind::Usage,
                                 "'-' and --json: standard output takes one of them, not both"});
    if (!can_write(place, session)) return;
  }
  auto loaded = load_module(options.file, {.stage = options.stage}, session);
  if (!loaded) return;
  Module& module = loaded->module;
  if (!is_sound(module, session)) return;
  auto compiling = compile_options(options.compiler, session);
  if (!compiling) return fail_with(session, compiling.error());
  compiling->is_verified = true;
  std::string ir;
  if (!options.ir.empty())
    compiling->emit.see_ir = [&ir, dump = compiling->emit.see_ir](std::string_view text) {
      ir = text;
      if (dump) dump(text);
    };
  const std::string name = options.name.empty() ? function_name(module.header.name) : options.name;
  const std::string source(module.source);
  const auto made =
      compile_object(std::move(module), name, cpu_target(), *compiling, options.object);
  if (!made) {
    fail_with(session, made.error(), source);
    if (made.error().kind == ErrorKind::Usage) session.status = wrong_usage;
    return;
  }
  show(options, name, *made, session);
  write_text(options.output, made->object, session);
  if (!options.header.empty()) write_text(options.header, made->header, session);
  if (!options.ir.empty()) write_text(options.ir, ir, session);
}

}  // namespace

void add_compile(Arguments& arguments, Session& session) {
  auto options = std::make_shared<Options>();
  arguments.add_option("FILE", options->file, "a module, a dump folder, or - for standard input")
      .required();
  add_stage_options(arguments, options->stage);
  arguments.add_option("-o,--output", options->output, "the object file").required();
  arguments.add_option("--header", options->header,
                       "a header for C and C++ that says how to call it");
  arguments.add_option("--name", options->name, "of the function; without, the module's name");
  arguments.add_flag("--stand-alone", options->object.stands_alone,
                     "an object that needs libm and nothing else: steps that are routines of "
                     "Hilo's elsewhere become loops or are errors");
  arguments
      .add_option("--threads", options->object.threads,
                  "that a call works on, 1 without this; 0: all usable ones where it runs")
      .between(0, max_threads);
  arguments.add_flag("--json", session.json, "one JSON document on standard output");
  add_compiler_options(arguments, options->compiler);
  arguments.add_option("--emit-llvm", options->ir, "a file for LLVM IR, before it is optimised");
  arguments.footer(fmt::format(
      "{}"
      "Examples:\n"
      "  hilo compile model.hlo -o model.o --header model.h --name=model\n"
      "  c++ main.cpp model.o -o main -lm              # or the line that it prints\n"
      "  hilo compile model.hlo -o model.o --target-cpu=x86-64-v3\n"
      "Large products, sorts, transforms and what is evaluated are done by libhilo_run, "
      "which has no compiler in it.",
      environment_help));
  arguments.callback([options, &session] { compile(*options, session); });
}

}  // namespace hilo::tools

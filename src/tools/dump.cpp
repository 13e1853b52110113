#include "tools/dump.h"

#include <filesystem>

#include "report/report.h"
#include "text/text.h"
#include "tools/module_file.h"

namespace hilo::tools {

Result<void> dump_stages(const std::string& folder, CompileOptions& options, Session& session) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail(ErrorKind::Io, "{}: {}", folder, error.message());
  const auto write = [folder, number = std::make_shared<int>(0), &session](std::string_view name,
                                                                           std::string_view text) {
    write_text(fmt::format("{}/{:04}.{}", folder, ++*number, name), text, session);
  };
  options.see_module = [write](std::string_view pass, const Module& module) {
    write(pass.empty() ? "before_optimizations.txt" : fmt::format("after_{}.txt", pass),
          print(module));
  };
  options.see_plan = [write](const Module& module, const Machine& machine, const Plan& plan) {
    write("plan.txt", buffer_assignment_text(picture_of(module, machine, plan, {.costs = false})));
  };
  options.emit.see_ir = [write](std::string_view ir) { write("before.ll", ir); };
  options.emit.see_code = [write](std::string_view ir, std::string_view assembly) {
    write("after.ll", ir);
    write("code.s", assembly);
  };
  return {};
}

}  // namespace hilo::tools

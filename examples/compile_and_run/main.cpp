// compile_and_run MODULE INPUTS.npz: compiles a module for this processor and runs it on the
// arrays of a file, in their order; prints the result.
#include <hilo/compile/compile.h>
#include <hilo/wire/wire.h>

#include <cstdio>

static hilo::Result<std::string> compile_and_run(const char* module_path, const char* inputs_path) {
  HILO_TRY(const std::string text, hilo::read_whole_file(module_path));
  HILO_TRY(hilo::Module module, hilo::read_module(std::as_bytes(std::span(text))));
  HILO_TRY(const hilo::Executable executable, hilo::compile(std::move(module)));
  HILO_TRY(const hilo::NpzReader inputs, hilo::NpzReader::open(inputs_path));
  std::vector<hilo::Literal> arguments;
  for (const std::string& name : inputs.names()) {
    HILO_TRY(arguments.emplace_back(), inputs.read(name));
  }
  HILO_TRY(const hilo::Literal result, executable.run(std::move(arguments)));
  return hilo::print(result);
}

int main(int count, char** arguments) {
  if (count != 3) return std::puts("usage: compile_and_run MODULE INPUTS.npz"), 2;
  const auto result = compile_and_run(arguments[1], arguments[2]);
  std::puts(result ? result->c_str() : to_string(result.error()).c_str());
  return result ? 0 : 1;
}

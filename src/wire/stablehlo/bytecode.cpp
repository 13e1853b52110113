// MLIR bytecode (versions 0 to 6) with VHLO, Shardy and the builtin dialect: what
// `serialize_portable_artifact` writes and PJRT plugins receive. Also with StableHLO, CHLO and
// functions as they are, which is what tools of one build say to one another.
#include "wire/stablehlo/bytecode_reader.h"

namespace hilo::mlir {

Result<Program> BytecodeReader::read() {
  read_sections(bytes_, file_, fault_);
  if (fault_) return failure();
  if (!fault_) read_types();
  if (!fault_) read_attributes();
  if (!fault_) read_operations(*this);
  if (fault_) return failure();
  Program& program = builder_.program;
  program.producer = file_.producer;
  for (const auto& [key, blob] : file_.resources)
    program.resources.emplace(key, std::make_shared<const std::string>(blob));
  return std::move(program);
}

bool BytecodeReader::afford(size_t bytes, int64_t offset) {
  if (bytes > budget_)
    fault_.set(ErrorKind::Limit, offset, "what it repeats is far larger than the file");
  else budget_ -= bytes;
  return !fault_;
}

Result<Program> BytecodeReader::failure() { return std::unexpected(*std::move(fault_.error)); }

Result<Program> read_bytecode(std::span<const std::byte> bytes, const std::string& file) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  Result<Program> program = BytecodeReader(text).read();
  if (!program) program.error().place.file = file;
  else program->file = file;
  return program;
}

}  // namespace hilo::mlir

#include "wire/proto_raw_text.h"

#include "text/text.h"
#include "wire/proto_devices.h"
#include "wire/text_scanner.h"

namespace hilo {
namespace {

using Tensor = proto::SparsityConfig::TensorSparsityConfig;

bool read_tensor(std::string_view text, Tensor& to) {
  TextScanner scanner(text);
  if (!scanner.accept('{')) return false;
  while (!scanner.accept('}')) {
    const std::string_view name = scanner.word();
    int64_t number = 0;
    if (!scanner.accept('=')) return false;
    if (name == "sparsity") {
      const std::string_view pair = scanner.word();
      const size_t x = pair.find('x');
      int64_t block = 0;
      if (x == std::string_view::npos || !TextScanner(pair.substr(0, x)).number(number) ||
          !TextScanner(pair.substr(x + 1)).number(block))
        return false;
      to.set_num_non_zero(number);
      to.set_block_size(block);
      continue;
    }
    if (!scanner.number(number)) return false;
    if (name == "dimension") to.set_dimension(number);
    else if (name == "stride") to.set_stride(number);
    else return false;
    scanner.accept(',');
  }
  return true;
}

std::string print_tensor(const Tensor& from) {
  std::string text = fmt::format("{{sparsity={}x{}", from.num_non_zero(), from.block_size());
  text += fmt::format(" dimension={} stride={}}}", from.dimension(), from.stride());
  return text;
}

}  // namespace

void write_sparsity(std::string_view text, proto::SparsityConfig& to) {
  TextScanner scanner(text);
  std::string_view part;
  scanner.accept('{');
  if (scanner.accept("lhs=") && (!scanner.braced(part) || !read_tensor(part, *to.mutable_lhs())))
    return;
  scanner.accept(',');
  if (scanner.accept("rhs=") && scanner.braced(part)) read_tensor(part, *to.mutable_rhs());
}

std::string print_sparsity(const proto::SparsityConfig& from) {
  std::string text = "{";
  if (from.has_lhs()) text += "lhs=" + print_tensor(from.lhs());
  if (from.has_rhs()) text += (from.has_lhs() ? " rhs=" : "rhs=") + print_tensor(from.rhs());
  return text + "}";
}

void write_domain(std::string_view text, proto::HloInstructionProto& to) {
  TextScanner scanner(text);
  scanner.accept('{');
  std::string_view kind, entry, exit;
  if (!scanner.accept("kind=") || !scanner.string(kind) || !scanner.accept(',') ||
      !scanner.accept("entry=") || !scanner.braced(entry) || !scanner.accept(',') ||
      !scanner.accept("exit=") || !scanner.braced(exit))
    return;
  const Result<Sharding> users = parse_sharding(entry), operands = parse_sharding(exit);
  if (users) write_sharding(*users, *to.mutable_domain_exit_sharding());
  if (operands) write_sharding(*operands, *to.mutable_domain_entry_sharding());
}

Result<std::string> read_domain(const proto::HloInstructionProto& from) {
  HILO_TRY(const Sharding users, read_sharding(from.domain_exit_sharding()));
  HILO_TRY(const Sharding operands, read_sharding(from.domain_entry_sharding()));
  return fmt::format("{{kind=\"sharding\", entry={}, exit={}}}", print(users), print(operands));
}

}  // namespace hilo

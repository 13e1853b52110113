#include "tools/named.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace hilo::tools {
namespace {

std::string_view without_percent(std::string_view name) {
  return name.starts_with('%') ? name.substr(1) : name;
}

// Letters of `name` that `other` has: all where it holds the name, else those that both begin with.
size_t letters_alike(std::string_view name, std::string_view other) {
  if (other.contains(name)) return name.size();
  return std::ranges::mismatch(name, other).in1 - name.begin();
}

// The names that are most like it, the first ones of the module.
class NearNames {
 public:
  explicit NearNames(std::string_view name) : name_(name), most_alike_((name.size() + 1) / 2) {}
  void offer(std::string_view other) {
    const size_t alike = letters_alike(name_, other);
    if (alike == 0 || alike < most_alike_) return;
    if (alike > most_alike_) near_.clear();
    most_alike_ = alike;
    if (near_.size() < 3) near_.push_back(other);
  }
  const std::vector<std::string_view>& found() const { return near_; }

 private:
  std::string_view name_;
  size_t most_alike_;
  std::vector<std::string_view> near_;
};

}  // namespace

std::string names_like(std::string_view name, const std::vector<std::string>& known) {
  NearNames near(name);
  for (const std::string& other : known) near.offer(other);
  return fmt::format("{}", fmt::join(near.found(), ", "));
}

InstructionId find_instruction(const Module& module, std::string_view name) {
  for (size_t i = 0; i < module.computations.size(); ++i)
    if (const InstructionId id = module.find({static_cast<uint32_t>(i)}, without_percent(name)))
      return id;
  return {};
}

Error no_such_name(const Module& module, std::string_view option, std::string_view kind,
                   std::string_view name) {
  NearNames near(without_percent(name));
  for (const Computation& computation : module.computations) {
    near.offer(computation.name);
    for (const InstructionId id : computation.instructions) near.offer(module[id].name);
  }
  const std::string hint = near.found().empty()
                               ? "`hilo print` shows the names"
                               : fmt::format("names like it: {}", fmt::join(near.found(), ", "));
  Error out{ErrorKind::Usage, fmt::format("{}={}: module {} has no {} of that name; {}", option,
                                          name, module.header.name, kind, hint)};
  out.place.file = module.file;
  return out;
}

}  // namespace hilo::tools

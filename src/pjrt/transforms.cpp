#include "pjrt/transforms.h"

#include <algorithm>
#include <mutex>

#include "pjrt/error.h"
#include "pjrt/extension_tables.h"
#include "wire/wire.h"

namespace hilo::pjrt {
namespace {

constexpr int64_t callbacks_version = 1;

// A registered function; ends with who holds it last.
struct Transform {
  std::string name;
  TransformStage stage;
  PJRT_XlaTransform_Callbacks* callbacks;

  Transform(std::string_view name_, TransformStage stage_, PJRT_XlaTransform_Callbacks* callbacks_)
      : name(name_), stage(stage_), callbacks(callbacks_) {}
  ~Transform() {
    if (callbacks->dtor) callbacks->dtor(callbacks);
  }
  Transform(const Transform&) = delete;
  Transform& operator=(const Transform&) = delete;
};
using Transforms = std::vector<std::shared_ptr<const Transform>>;

// Clients register for the process. Functions hold objects of Python's, whose lock only a client's
// thread has: one that is cleared while a compilation holds it ends when the client comes next.
struct Registry {
  std::mutex mutex;
  Transforms all, cleared;
};
Registry& registry() {
  static auto* const out = new Registry;  // programs may be compiled while the process ends
  return *out;
}

// Those that nobody holds any more, to be ended without the registry's lock.
Transforms take_unused(Registry& all) {
  const auto unused = std::ranges::stable_partition(
      all.cleared, [](const auto& one) { return one.use_count() > 1; });
  Transforms out(std::make_move_iterator(unused.begin()), std::make_move_iterator(unused.end()));
  all.cleared.erase(unused.begin(), unused.end());
  return out;
}

Transforms transforms_at(TransformStage stage) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  Transforms out;
  std::ranges::copy_if(all.all, std::back_inserter(out),
                       [&](const auto& one) { return one->stage == stage; });
  return out;
}

bool are_there() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  return !all.all.empty();
}

Result<TransformStage> stage_of(PJRT_XlaTransform_PipelineStage stage) {
  switch (stage) {
    case PJRT_XlaTransform_PipelineStage_kPreScheduler: return TransformStage::Prepared;
    case PJRT_XlaTransform_PipelineStage_kPostScheduler: return TransformStage::Ordered;
  }
  return fail(ErrorKind::Input, "no transformation has the stage {}", static_cast<uint32_t>(stage));
}

PJRT_Error* register_transform(PJRT_Register_Xla_Transform_Args* args) {
  return answer([&] -> Result<void> {
    if (!knows(args, &PJRT_Register_Xla_Transform_Args::callbacks) || !args->callbacks)
      return fail(ErrorKind::Input, "a transformation without a function");
    const std::string_view name = text(args->name, args->name_size);
    HILO_TRY(const TransformStage stage, stage_of(args->stage));
    if (args->callbacks->version != callbacks_version)
      return fail(ErrorKind::Input,
                  "transformation '{}' is for version {} of the extension, not {}", name,
                  args->callbacks->version, callbacks_version);
    if (!args->callbacks->transform_hlo_module)
      return fail(ErrorKind::Input, "transformation '{}' has no function", name);
    Registry& all = registry();
    Transforms unused;
    const std::lock_guard lock(all.mutex);
    all.all.push_back(std::make_shared<const Transform>(name, stage, args->callbacks));
    unused = take_unused(all);
    return {};
  });
}

// The first of its name, or with these callbacks.
PJRT_Error* clear_transform(PJRT_Clear_Xla_Transform_Args* args) {
  return answer([&] -> Result<void> {
    HILO_TRY(const TransformStage stage, stage_of(args->stage));
    if (!args->name && !args->callbacks)
      return fail(ErrorKind::Input, "a transformation is cleared by its name or its function");
    const std::string_view name = text(args->name, args->name_size);
    Registry& all = registry();
    Transforms unused;
    const std::lock_guard lock(all.mutex);
    const auto found = std::ranges::find_if(all.all, [&](const auto& one) {
      return one->stage == stage &&
             (args->name ? one->name == name : one->callbacks == args->callbacks);
    });
    args->cleared = found != all.all.end();
    if (args->cleared) {
      all.cleared.push_back(std::move(*found));
      all.all.erase(found);
    }
    unused = take_unused(all);
    return {};
  });
}

// What the function makes of a module; nothing: it leaves it.
Result<std::optional<std::string>> ask(const Transform& transform, std::string_view module) {
  PJRT_XlaTransform_Args args{};
  args.struct_size = HILO_STRUCT_SIZE(PJRT_XlaTransform_Args, changed);
  args.header.api_version = callbacks_version;
  args.hlo_module = {module.data(), module.size()};
  transform.callbacks->transform_hlo_module(transform.callbacks, &args);
  const std::string_view made = text(args.transformed_hlo_module.data,
                                     args.transformed_hlo_module.size),
                         message = text(args.header.error_msg.data, args.header.error_msg.size);
  Result<std::optional<std::string>> out = std::nullopt;
  if (args.header.has_error)
    out = std::unexpected(error_of(
        args.header.code, fmt::format("transformation '{}': {}", transform.name, message)));
  else if (args.changed) out = std::string(made);
  if (args.header.cleanup_fn) args.header.cleanup_fn(args.header.data);
  return out;
}

Result<Module> module_of(std::string_view proto, std::string_view transform) {
  auto out = read_module(std::as_bytes(std::span(proto)), Format::HloProto);
  if (!out)
    out.error().message =
        fmt::format("what transformation '{}' gives: {}", transform, out.error().message);
  return out;
}

Result<bool> ask_all(TransformStage stage, Module& module, std::string& made) {
  const Transforms transforms = transforms_at(stage);
  if (transforms.empty()) return false;
  HILO_TRY(std::string now, write_hlo_proto(module));
  for (const auto& transform : transforms) {
    HILO_TRY(std::optional<std::string> changed, ask(*transform, now));
    if (!changed) continue;
    HILO_TRY(module, module_of(*changed, transform->name));
    made = now = std::move(*changed);
  }
  return !made.empty();
}

}  // namespace

ModuleTransform transform_of(ProgramSource& source) {
  std::array<std::string, transform_stages>& made = source.transformed;
  const bool is_loaded = source.answers.has_value();
  if (is_loaded ? std::ranges::all_of(made, &std::string::empty) : !are_there()) return {};
  return [&made, is_loaded](TransformStage stage, Module& module) -> Result<bool> {
    std::string& at_stage = made[static_cast<size_t>(stage)];
    if (!is_loaded) return ask_all(stage, module, at_stage);
    if (at_stage.empty()) return false;
    HILO_TRY(module, module_of(at_stage, "of the executable"));
    return true;
  };
}

PJRT_Xla_Transform_Extension transform_extension = {
    {sizeof(PJRT_Xla_Transform_Extension), PJRT_Extension_Type_XlaTransform, nullptr},
    register_transform,
    clear_transform};

}  // namespace hilo::pjrt

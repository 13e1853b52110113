// Functions of a client's that change modules while they are compiled (extension XlaTransform).
#include "client.h"
#include "pjrt/extensions_abi.h"

namespace hilo {
namespace {

constexpr auto before_order = PJRT_XlaTransform_PipelineStage_kPreScheduler,
               behind_order = PJRT_XlaTransform_PipelineStage_kPostScheduler;

const PJRT_Xla_Transform_Extension& extension() {
  const PJRT_Extension_Base* at = plugin().extension_start;
  while (at && at->type != PJRT_Extension_Type_XlaTransform) at = at->next;
  check(at != nullptr, "the plugin has no extension XlaTransform");
  return *reinterpret_cast<const PJRT_Xla_Transform_Extension*>(at);
}

std::string sum_with(int number, const std::string& shape = "f32[2]") {
  return fmt::format(
      "HloModule given\nENTRY e {{\n  x = {0} parameter(0)\n  n = f32[] constant({1})\n  b = {0} "
      "broadcast(n), dimensions={{}}\n  ROOT r = {0} add(x, b)\n}}\n",
      shape, number);
}

// A function that gives a module, text that is none, an error, or leaves what it sees.
struct Function {
  PJRT_XlaTransform_Callbacks callbacks{1, end, call};
  std::string gives = {}, error = {}, seen = {};
  int calls = 0, cleanups = 0, ends = 0;

  static Function& of(PJRT_XlaTransform_Callbacks* callbacks) {
    return *reinterpret_cast<Function*>(callbacks);  // its first member
  }
  static void end(PJRT_XlaTransform_Callbacks* callbacks) { ++of(callbacks).ends; }
  static void call(PJRT_XlaTransform_Callbacks* callbacks, PJRT_XlaTransform_Args* args) {
    Function& self = of(callbacks);
    ++self.calls;
    self.seen.assign(args->hlo_module.data, args->hlo_module.size);
    args->header.data = &self;
    args->header.cleanup_fn = [](void* data) { ++static_cast<Function*>(data)->cleanups; };
    args->header.has_error = !self.error.empty();
    args->header.code = PJRT_Error_Code_INTERNAL;
    args->header.error_msg = {self.error.data(), self.error.size()};
    args->changed = !self.gives.empty();
    args->transformed_hlo_module = {self.gives.data(), self.gives.size()};
  }
};

std::optional<Failure> add(Function& function, std::string_view name,
                           PJRT_XlaTransform_PipelineStage stage = before_order) {
  PJRT_Register_Xla_Transform_Args args{sizeof(args), name.data(), name.size(), stage,
                                        &function.callbacks};
  return taken(extension().register_xla_transform(&args));
}

bool clear(std::string_view name, PJRT_XlaTransform_PipelineStage stage = before_order) {
  PJRT_Clear_Xla_Transform_Args args{sizeof(args), stage, name.data(), name.size(), nullptr, false};
  EXPECT_FALSE(taken(extension().clear_xla_transform(&args)));
  return args.cleared;
}

float first_result(const Client& client, const OwnedLoaded& loaded) {
  const OwnedBuffer x = client.buffer(std::vector<float>{10, 20}, {2});
  return values_of(run(loaded, {x.get()})[0])[0];
}

TEST(Transforms, ChangeTheModuleAtEachStage) {
  const Client client;
  for (const auto stage : {before_order, behind_order}) {
    Function function{.gives = converted(sum_with(5), "proto")};
    ASSERT_FALSE(add(function, "five", stage));
    EXPECT_EQ(first_result(client, client.compile(sum_with(1))), 15) << stage;
    EXPECT_EQ(function.calls, 1);
    EXPECT_EQ(function.cleanups, 1);
    const std::string seen = converted(function.seen, "text");
    EXPECT_EQ(seen.find("is_scheduled=true") != seen.npos, stage == behind_order) << seen;
    EXPECT_FALSE(clear("five", stage == before_order ? behind_order : before_order));
    EXPECT_EQ(function.ends, 0);
    EXPECT_TRUE(clear("five", stage));
    EXPECT_EQ(function.ends, 1);
    EXPECT_FALSE(clear("five", stage));
    EXPECT_EQ(first_result(client, client.compile(sum_with(1))), 11);
    EXPECT_EQ(function.calls, 1);
  }
}

TEST(Transforms, AreAskedInTheirOrder) {
  const Client client;
  Function first{.gives = converted(sum_with(5), "proto")}, second;
  ASSERT_FALSE(add(first, "first"));
  ASSERT_FALSE(add(second, "second"));
  EXPECT_EQ(first_result(client, client.compile(sum_with(1))), 15);
  EXPECT_EQ(second.seen, first.gives);
  EXPECT_TRUE(clear("first"));
  EXPECT_TRUE(clear("second"));
}

std::string products(const std::string& order, const std::string& header) {
  std::string steps;
  for (const char name : order)
    steps += fmt::format(
        "  {0} = f32[40,40] dot({1}), lhs_contracting_dims={{1}}, "
        "rhs_contracting_dims={{0}}\n",
        name, name == 'p' ? "x, y" : "y, x");
  return fmt::format(
      "HloModule products{}\nENTRY e {{\n  x = f32[40,40] parameter(0)\n  y = "
      "f32[40,40] parameter(1)\n{}  ROOT r = f32[40,40] subtract(p, q)\n}}\n",
      header, steps);
}

std::string optimized_text(const OwnedLoaded& loaded) {
  PJRT_Executable* const executable = CALL(LoadedExecutable_GetExecutable, loaded.get()).executable;
  PJRT_Program program{};
  program.struct_size = sizeof(program);
  CALL(Executable_OptimizedProgram, executable, &program);
  std::string code(program.code_size, '\0');
  program.code = code.data();
  CALL(Executable_OptimizedProgram, executable, &program);
  CALL(Executable_Destroy, executable);
  return converted(code, "text");
}

TEST(Transforms, TheirOrderIsKept) {
  const Client client;
  for (const std::string order : {"pq", "qp"}) {
    Function function{.gives = converted(products(order, ", is_scheduled=true"), "proto")};
    ASSERT_FALSE(add(function, "order", behind_order));
    const std::string text = optimized_text(client.compile(products("pq", "")));
    EXPECT_TRUE(clear("order", behind_order));
    EXPECT_NE(text.find("is_scheduled=true"), text.npos);
    EXPECT_EQ(text.find("%p = ") < text.find("%q = "), order == "pq") << text;
  }
}

TEST(Transforms, FaultsAreErrorsOfTheCompilation) {
  const Client client;
  const auto failure_with = [&](Function function) {
    EXPECT_FALSE(add(function, "faulty"));
    OwnedLoaded loaded;
    std::optional<Failure> out = client.try_compile(sum_with(1), loaded);
    EXPECT_TRUE(clear("faulty"));
    EXPECT_EQ(function.cleanups, 1);
    EXPECT_TRUE(out);
    return out.value_or(Failure{});
  };
  Failure failure = failure_with({.error = "not today"});
  EXPECT_EQ(failure.code, PJRT_Error_Code_INTERNAL);
  EXPECT_NE(failure.text.find("'faulty': not today"), failure.text.npos) << failure.text;
  failure = failure_with({.gives = "\xff\xff no proto"});
  EXPECT_EQ(failure.code, PJRT_Error_Code_INVALID_ARGUMENT);
  EXPECT_NE(failure.text.find("'faulty'"), failure.text.npos) << failure.text;
  failure = failure_with({.gives = converted(sum_with(5, "f32[3]"), "proto")});
  EXPECT_EQ(failure.code, PJRT_Error_Code_INVALID_ARGUMENT);
  EXPECT_NE(failure.text.find("takes or gives"), failure.text.npos) << failure.text;
}

TEST(Transforms, ASerialisedExecutableKeepsWhatTheyMade) {
  const Client client;
  Function function{.gives = converted(sum_with(5), "proto")};
  ASSERT_FALSE(add(function, "five", behind_order));
  const OwnedLoaded loaded = client.compile(sum_with(1));
  EXPECT_TRUE(clear("five", behind_order));
  PJRT_Executable* const executable = CALL(LoadedExecutable_GetExecutable, loaded.get()).executable;
  const auto bytes = CALL(Executable_Serialize, executable);
  const OwnedLoaded again(CALL(Executable_DeserializeAndLoad, client.get(), bytes.serialized_bytes,
                               bytes.serialized_bytes_size)
                              .loaded_executable);
  bytes.serialized_executable_deleter(bytes.serialized_executable);
  CALL(Executable_Destroy, executable);
  EXPECT_EQ(first_result(client, again), 15);
}

TEST(Transforms, WhatIsNoneIsNotRegistered) {
  Function function;
  function.callbacks.version = 7;
  EXPECT_TRUE(add(function, "newer"));
  function.callbacks = {1, nullptr, nullptr};
  EXPECT_TRUE(add(function, "empty"));
  function.callbacks = {1, nullptr, Function::call};
  EXPECT_TRUE(add(function, "elsewhere", static_cast<PJRT_XlaTransform_PipelineStage>(9)));
  PJRT_Clear_Xla_Transform_Args none{sizeof(none), before_order, nullptr, 0, nullptr, false};
  EXPECT_TRUE(taken(extension().clear_xla_transform(&none)));
}

}  // namespace
}  // namespace hilo

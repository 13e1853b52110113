#include "pjrt/custom_partitioners.h"

#include <dlfcn.h>

#include <cstring>
#include <deque>
#include <map>
#include <mutex>

#include "pjrt/error.h"
#include "pjrt/extension_tables.h"
#include "pjrt/protobuf_fields.h"
#include "wire/wire.h"

namespace hilo::pjrt {
namespace {

using Callbacks = JAX_CustomCallPartitioner_Callbacks;
using Text = JAX_CustomCallPartitioner_string;

// Functions are never given back: they hold objects of Python's, whose lock no other thread of
// ours has.
struct Registry {
  std::mutex mutex;
  std::map<std::string, Callbacks*, std::less<>> partitioners;
};
Registry& registry() {
  static auto* const out = new Registry;  // programs may be compiled while the process ends
  return *out;
}

Callbacks* partitioner_of(std::string_view target) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto found = all.partitioners.find(target);
  return found == all.partitioners.end() ? nullptr : found->second;
}

PJRT_Error* register_partitioner(PJRT_Register_Custom_Partitioner_Args* args) {
  return answer([&] -> Result<void> {
    const std::string name(text(args->name, args->name_size));
    if (!args->callbacks || !args->callbacks->partition)
      return fail(ErrorKind::Input, "custom call '{}': no function partitions it", name);
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    all.partitioners[name] = args->callbacks;
    return {};
  });
}

// Calls that state how many of their dimensions are a batch are cut along these, whoever they are.
PJRT_Error* register_batch_partitionable(PJRT_Register_Batch_Partitionable_Args*) {
  return nullptr;
}

const std::string& target_of(const Module& module, InstructionId call) {
  return module.attributes<CustomCallAttributes>(call).custom_call_target;
}

// The messages of a question, which must stay where they are while it is asked.
class Question {
 public:
  Question(const Module& module, InstructionId call) : module_(module) {
    for (InstructionId operand : module.operands(call)) operands_.push_back(array(operand));
    args_.num_args = operands_.size();
    args_.op_args = operands_.data();
    args_.op_result = array(call);
    const std::string_view config = module.extra(module[call]).backend_config;
    args_.backend_config = {config.data(), config.size()};
  }
  ~Question() {
    if (args_.header.cleanup_fn) args_.header.cleanup_fn(args_.header.data);
  }
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;

  JAX_CustomCallPartitioner_Partition_Args& args() { return args_; }

 private:
  Text kept(std::string message) {
    const std::string& at = messages_.emplace_back(std::move(message));
    return {at.data(), at.size()};
  }
  JAX_CustomCallPartitioner_aval array(InstructionId id) {
    JAX_CustomCallPartitioner_aval out = {};
    out.shape = kept(write_shape_proto(module_.shape(id)));
    const auto& sharding = module_.extra(module_[id]).sharding;
    out.has_sharding = true;
    out.sharding = kept(write_sharding_proto(sharding ? *sharding : Sharding()));
    return out;
  }

  const Module& module_;
  std::deque<std::string> messages_;
  std::vector<JAX_CustomCallPartitioner_aval> operands_;
  JAX_CustomCallPartitioner_Partition_Args args_ = {};
};

Result<Sharding> sharding_of(Text text) {
  return read_sharding_proto(pjrt::text(text.data, text.size));
}

// Whether the function is in the library that has registered partitioners. A file may say anything.
bool is_of_client(const void* function) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  Dl_info place = {}, known = {};
  if (all.partitioners.empty() || !dladdr(function, &place)) return false;
  const auto* one = reinterpret_cast<const void*>(all.partitioners.begin()->second->partition);
  return dladdr(one, &known) && known.dli_fbase == place.dli_fbase;
}

enum AnswerField : int64_t { TargetField = 1, ProgramField, ResultField, OperandField };

}  // namespace

PJRT_Custom_Partitioner_Extension custom_partitioner_extension = {
    {sizeof(PJRT_Custom_Partitioner_Extension), PJRT_Extension_Type_Custom_Partitioner, nullptr},
    register_partitioner,
    register_batch_partitionable};

bool has_partitioner(std::string_view target) { return partitioner_of(target) != nullptr; }

Result<CallOnTiles> ask_partitioner(const Module& module, InstructionId call) {
  Callbacks* const callbacks = partitioner_of(target_of(module, call));
  if (!callbacks)
    return fail(ErrorKind::Input, "custom call '{}' has no partitioner", target_of(module, call));
  Question question(module, call);
  auto& args = question.args();
  callbacks->partition(callbacks, &args);
  if (args.header.has_error)
    return std::unexpected(
        error_of(args.header.code,
                 fmt::format("the partitioner of custom call '{}': {}", target_of(module, call),
                             text(args.header.error_msg.data, args.header.error_msg.size))));
  CallOnTiles out;
  out.target = target_of(module, call);
  out.program = text(args.mlir_module.data, args.mlir_module.size);
  HILO_TRY(out.result, sharding_of(args.result_sharding));
  for (size_t i = 0; args.args_sharding && i < args.num_args; ++i) {
    HILO_TRY(out.operands.emplace_back(), sharding_of(args.args_sharding[i]));
  }
  return out;
}

std::string write_answer(const CallOnTiles& answer) {
  std::string out;
  put_bytes_field(out, TargetField, answer.target);
  put_bytes_field(out, ProgramField, answer.program);
  put_bytes_field(out, ResultField, write_sharding_proto(answer.result));
  for (const Sharding& operand : answer.operands)
    put_bytes_field(out, OperandField, write_sharding_proto(operand));
  return out;
}

Result<CallOnTiles> read_answer(std::string_view bytes) {
  CallOnTiles out;
  ProtobufFields fields(bytes);
  while (true) {
    HILO_TRY(const std::optional<ProtobufField> field, fields.next());
    if (!field) return out;
    if (field->number == TargetField) out.target = field->bytes;
    if (field->number == ProgramField) out.program = field->bytes;
    if (field->number == ResultField) {
      HILO_TRY(out.result, read_sharding_proto(field->bytes));
    }
    if (field->number == OperandField) {
      HILO_TRY(out.operands.emplace_back(), read_sharding_proto(field->bytes));
    }
  }
}

Result<void> show_sharding(const Module& module, InstructionId call, const Sharding& sharding) {
  const std::string_view config = module.extra(module[call]).backend_config;
  JAX_InspectSharding_Callback callback = {};
  if (config.size() != sizeof(callback)) return {};
  std::memcpy(&callback, config.data(), sizeof(callback));
  if (!is_of_client(reinterpret_cast<const void*>(callback.call))) return {};
  std::string message = write_sharding_proto(sharding);
  JAX_InspectSharding_Callback_Args args = {message.data(), message.size(), nullptr, nullptr,
                                            nullptr};
  callback.call(callback.data, &args);
  if (!args.error_txt) return {};
  const std::string fault = args.error_txt;
  if (args.free_error) args.free_error(&args);
  return fail(ErrorKind::Evaluation, "InspectSharding: {}", fault);
}

}  // namespace hilo::pjrt

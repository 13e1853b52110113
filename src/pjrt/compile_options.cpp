#include "pjrt/compile_options.h"

#include <algorithm>
#include <charconv>

namespace hilo::pjrt {
namespace {

// Calls body(field) -> Result<void> for each field of a message.
template <class Body>
Result<void> for_each_field(std::string_view message, Body&& body) {
  ProtobufFields fields(message);
  while (true) {
    HILO_TRY(const std::optional<ProtobufField> field, fields.next());
    if (!field) return {};
    HILO_DO(body(*field));
  }
}

Result<void> read_bools(const ProtobufField& field, std::vector<bool>& to) {
  std::vector<int64_t> numbers;
  HILO_DO(append_numbers(field, numbers));
  for (int64_t number : numbers) to.push_back(number != 0);
  return {};
}

// DeviceAssignmentProto.
Result<void> read_assignment(std::string_view message, CompileSettings& settings) {
  return for_each_field(message, [&](const ProtobufField& field) -> Result<void> {
    if (field.number != 3) return {};
    std::vector<int64_t>& replicas = settings.devices.emplace_back();
    return for_each_field(field.bytes, [&](const ProtobufField& inner) -> Result<void> {
      return inner.number == 1 ? append_numbers(inner, replicas) : Result<void>();
    });
  });
}

// ShapeProto: the order of an array's dimensions.
Result<void> append_order(std::string_view message, std::vector<Dims>& to) {
  Dims& order = to.emplace_back();
  return for_each_field(message, [&](const ProtobufField& field) -> Result<void> {
    if (field.number != 5) return {};
    return for_each_field(field.bytes, [&](const ProtobufField& inner) -> Result<void> {
      return inner.number == 1 ? append_numbers(inner, order) : Result<void>();
    });
  });
}

// Of a result, or of each element of a tuple.
Result<void> read_result_orders(std::string_view message, CompileSettings& settings) {
  HILO_DO(for_each_field(message, [&](const ProtobufField& field) -> Result<void> {
    return field.number == 4 ? append_order(field.bytes, settings.result_orders) : Result<void>();
  }));
  return settings.result_orders.empty() ? append_order(message, settings.result_orders)
                                        : Result<void>();
}

// An option of XLA's that counts here: its name, its field of DebugOptions, and what it sets.
struct DebugOption {
  std::string_view name;
  int64_t field;
  std::variant<std::string DumpSettings::*, bool DumpSettings::*> setting;
};
constexpr DebugOption debug_options[] = {
    {"xla_dump_to", 109, &DumpSettings::folder},
    {"xla_dump_hlo_as_text", 112, &DumpSettings::as_text},
    {"xla_dump_hlo_as_proto", 113, &DumpSettings::as_proto},
};

// DebugOptions.
Result<void> read_debug_options(std::string_view message, CompileSettings& settings) {
  return for_each_field(message, [&](const ProtobufField& field) -> Result<void> {
    const auto* row = std::ranges::find(debug_options, field.number, &DebugOption::field);
    if (row == std::end(debug_options)) return {};
    if (const auto* text = std::get_if<0>(&row->setting)) settings.dump.*(*text) = field.bytes;
    if (const auto* flag = std::get_if<1>(&row->setting)) settings.dump.*(*flag) = field.value != 0;
    return {};
  });
}

// ExecutableBuildOptionsProto.
Result<void> read_build_options(std::string_view message, CompileSettings& settings) {
  return for_each_field(message, [&](const ProtobufField& field) -> Result<void> {
    const auto number = static_cast<int64_t>(field.value);
    switch (field.number) {
      case 1: settings.device_ordinal = number; return {};
      case 2: return read_result_orders(field.bytes, settings);
      case 3: return read_debug_options(field.bytes, settings);
      case 4: settings.replicas = number; return {};
      case 5: settings.partitions = number; return {};
      case 9: return read_assignment(field.bytes, settings);
      case 12: return read_bools(field, settings.propagates_to_results);
      case 18: return read_bools(field, settings.propagates_to_parameters);
      default: return {};
    }
  });
}

// OptionOverrideProto with its name: its value is a text or a number.
struct Override {
  std::string_view name, text;
  bool has_text = false;
  uint64_t number = 0;
};

Result<Override> read_override(std::string_view entry) {
  Override out;
  HILO_DO(for_each_field(entry, [&](const ProtobufField& field) -> Result<void> {
    if (field.number == 1) out.name = field.bytes;
    if (field.number != 2) return {};
    return for_each_field(field.bytes, [&](const ProtobufField& value) -> Result<void> {
      out.has_text = value.number == 1;
      out.text = value.bytes;
      out.number = value.value;
      return {};
    });
  }));
  return out;
}

// What an option can be called: XLA's flags and the fields of its build options that users set.
bool is_option(std::string_view name) {
  constexpr std::string_view build_options[] = {
      "exec_time_optimization_effort", "memory_fitting_effort", "optimization_level",
      "memory_fitting_level",          "num_replicas",          "num_partitions"};
  return name.starts_with("xla_") || std::ranges::count(build_options, name) > 0;
}

std::optional<bool> bool_of(const Override& given) {
  if (!given.has_text) return given.number != 0;
  for (const std::string_view yes : {"true", "True", "1"})
    if (given.text == yes) return true;
  for (const std::string_view no : {"false", "False", "0"})
    if (given.text == no) return false;
  return std::nullopt;
}

template <class Number>
bool is_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.begin(), text.end(), number);
  return error == std::errc() && end == text.end();
}

// Whether a value is one of the option's, where it is not any text; with XLA's words.
Result<void> check_value(const Override& given) {
  enum class Kind : uint8_t { Bool, Integer, Float };
  struct Option {
    std::string_view name;
    Kind kind;
  };
  static constexpr Option options[] = {
#define OPTION(name, kind) {#name, Kind::kind},
#include "pjrt/xla_options.def"
#undef OPTION
  };
  const auto* option = std::ranges::find(options, given.name, &Option::name);
  if (!given.has_text || option == std::end(options)) return {};
  std::string_view wanted;
  switch (option->kind) {
    case Kind::Bool: wanted = bool_of(given) ? "" : "bool"; break;
    case Kind::Integer: wanted = is_number<int64_t>(given.text) ? "" : "integer"; break;
    case Kind::Float: wanted = is_number<double>(given.text) ? "" : "float"; break;
  }
  if (wanted.empty()) return {};
  return fail(ErrorKind::Input, "compile option '{}': '{}' is not a valid {} value.", given.name,
              given.text, wanted);
}

Result<void> take_override(std::string_view entry, CompileSettings& settings) {
  HILO_TRY(const Override given, read_override(entry));
  if (!is_option(given.name))
    return fail(ErrorKind::Input, "No such compile option: '{}'", given.name);
  HILO_DO(check_value(given));
  const auto* row = std::ranges::find(debug_options, given.name, &DebugOption::name);
  if (row == std::end(debug_options)) return {};
  if (const auto* text = std::get_if<0>(&row->setting)) settings.dump.*(*text) = given.text;
  if (const auto* flag = std::get_if<1>(&row->setting))
    settings.dump.*(*flag) = bool_of(given).value_or(false);
  return {};
}

Result<void> check_counts(const CompileSettings& settings) {
  constexpr int64_t most = 1 << 16;  // devices
  if (settings.replicas < 1 || settings.partitions < 1 || settings.replicas > most ||
      settings.partitions > most / settings.replicas)
    return fail(ErrorKind::Input, "compile options: {} replicas of {} partitions",
                settings.replicas, settings.partitions);
  if (settings.devices.empty()) return {};
  const bool fits = std::ssize(settings.devices) == settings.partitions &&
                    std::ranges::all_of(settings.devices, [&](const auto& replicas) {
                      return std::ssize(replicas) == settings.replicas;
                    });
  if (fits) return {};
  return fail(ErrorKind::Input,
              "compile options: the device assignment is not one of {} replicas of {} partitions",
              settings.replicas, settings.partitions);
}

}  // namespace

int64_t CompileSettings::device(int64_t replica, int64_t partition) const {
  if (!devices.empty())
    return devices[static_cast<size_t>(partition)][static_cast<size_t>(replica)];
  if (replicas * partitions == 1) return std::max<int64_t>(0, device_ordinal);
  return replica * partitions + partition;
}

Result<CompileSettings> read_compile_options(std::string_view bytes) {
  CompileSettings out;
  HILO_DO(for_each_field(bytes, [&](const ProtobufField& field) -> Result<void> {
    switch (field.number) {
      case 1: return append_order(field.bytes, out.argument_orders);
      case 2: out.has_tupled_arguments = field.value != 0; return {};
      case 3: return read_build_options(field.bytes, out);
      case 4: out.is_portable = field.value != 0; return {};
      case 7: return take_override(field.bytes, out);
      default: return {};
    }
  }));
  out.replicas = std::max<int64_t>(out.replicas, out.replicas == 0);
  out.partitions = std::max<int64_t>(out.partitions, out.partitions == 0);
  HILO_DO(check_counts(out));
  return out;
}

std::string device_assignment(const CompileSettings& settings) {
  std::string out;
  put_varint_field(out, 1, static_cast<uint64_t>(settings.replicas));
  put_varint_field(out, 2, static_cast<uint64_t>(settings.partitions));
  for (int64_t partition = 0; partition < settings.partitions; ++partition) {
    std::string replicas;
    for (int64_t replica = 0; replica < settings.replicas; ++replica)
      put_varint_field(replicas, 1, static_cast<uint64_t>(settings.device(replica, partition)));
    put_bytes_field(out, 3, replicas);
  }
  return out;
}

}  // namespace hilo::pjrt

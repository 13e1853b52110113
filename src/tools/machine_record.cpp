#include "tools/machine_record.h"

#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "tools/module_file.h"
#include "wire/wire.h"

namespace hilo::tools {
namespace {

using Json = nlohmann::ordered_json;

// Calls field(path, number) for each figure, by its path in the JSON document.
template <class Record, class Field>
void for_each_figure(Record& record, Field&& field) {
  auto& cores = record.cores;
  field("/bytes_per_second", record.bytes_per_second);
  field("/cores/count", cores.count);
  for (size_t i = 0; i < cores.caches.size(); ++i) {
    const std::string cache = fmt::format("/cores/caches/{}/", i);
    field(cache + "bytes", cores.caches[i].bytes);
    field(cache + "ways", cores.caches[i].ways);
    field(cache + "cores", cores.caches[i].cores);
    field(cache + "bytes_per_second", cores.caches[i].bytes_per_second);
  }
  field("/cores/cache_line", cores.cache_line);
  field("/cores/page", cores.page);
  field("/cores/huge_page", cores.huge_page);
  field("/cores/vector_bytes", cores.vector_bytes);
  field("/cores/vector_registers", cores.vector_registers);
  const auto both = [&](const std::string& path, auto& rates) {
    field(path + "/f32", rates.f32);
    field(path + "/f64", rates.f64);
  };
  both("/cores/multiply_adds", cores.multiply_adds);
  both("/cores/divisions", cores.divisions);
  both("/cores/square_roots", cores.square_roots);
  both("/cores/transcendentals", cores.transcendentals);
  field("/cores/gathers", cores.gathers);
  field("/cores/bytes_per_second", cores.bytes_per_second);
  field("/cores/thread_seconds", cores.thread_seconds);
  field("/cores/kernel_seconds", cores.kernel_seconds);
  field("/cores/routine_seconds", cores.routine_seconds);
}

// "/cores/caches/0/bytes" as "cores.caches[0].bytes".
std::string field_name(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::string_view word = path.substr(0, path.find('/'));
    path.remove_prefix(word.size());
    const bool is_number = word.find_first_not_of("0123456789") == std::string_view::npos;
    if (is_number) out += fmt::format("[{}]", word);
    else out += fmt::format("{}{}", out.empty() ? "" : ".", word);
  }
  return out;
}

std::unexpected<Error> wrong(std::string_view path, const Json& value, std::string_view expected) {
  return fail(ErrorKind::Format, "{}: {}; expected {}", field_name(path), value.dump(), expected);
}

Result<void> read_figure(std::string_view path, const Json& value, double& figure) {
  if (!value.is_number() || !std::isfinite(value.get<double>()) || !(value.get<double>() > 0))
    return wrong(path, value, "a number above 0");
  figure = value.get<double>();
  return {};
}

// Sizes that addresses are cut by.
bool is_power(std::string_view path) {
  return path.ends_with("line") || path.ends_with("page") || path.ends_with("vector_bytes");
}

Result<void> read_figure(std::string_view path, const Json& value, int64_t& figure) {
  const bool fits = value.is_number_unsigned() && value.get<uint64_t>() <= INT64_MAX;
  if (!fits || value.get<uint64_t>() == 0) return wrong(path, value, "a whole number above 0");
  if (is_power(path) && !std::has_single_bit(value.get<uint64_t>()))
    return wrong(path, value, "a power of two");
  figure = value.get<int64_t>();
  return {};
}

std::string record_path() {
  const char* folder = std::getenv("HILO_CACHE");
  if (!folder || !*folder) return "";
  const Machine& host = host_machine();
  return fmt::format("{}/machine.{}.{}.json", folder, host.name, host.cores.count);
}

}  // namespace

Machine MachineRecord::machine() const {
  Machine out = *find_machine("cpu");
  out.name = name;
  spaces_.assign(out.spaces.begin(), out.spaces.end());
  spaces_[0].bytes_per_second = bytes_per_second;
  out.spaces = spaces_;
  out.cores = cores;
  out.flops_f32 = 2 * cores.multiply_adds.f32 * static_cast<double>(cores.count);
  return out;
}

std::string record_text(const MachineRecord& record) {
  std::string out = fmt::format("{:32}  {}", "processor", record.name);
  for_each_figure(record, [&](const std::string& path, const auto& figure) {
    out += fmt::format("\n{:32}  {:.4g}", field_name(path), static_cast<double>(figure));
  });
  return out;
}

Json json_of(const MachineRecord& record) {
  Json out = {{"schema", "hilo.machine.1"}, {"name", record.name}};
  for_each_figure(record, [&](const std::string& path, const auto& figure) {
    out[Json::json_pointer(path)] = figure;
  });
  return out;
}

namespace {

Result<Json> parse_document(std::string_view text) {
  constexpr size_t max_bytes = 1 << 16;
  constexpr int max_depth = 4;  // a record's; deeper ones would be walked by recursion
  if (text.size() > max_bytes)
    return fail(ErrorKind::Format, "no record of a machine: {} bytes; expected at most {}",
                text.size(), max_bytes);
  const auto is_shallow = [](int depth, Json::parse_event_t, Json&) { return depth <= max_depth; };
  try {
    Json out = Json::parse(text, is_shallow);
    if (out.is_object() && !out.empty()) return out;
  } catch (const Json::exception& wrong) {
    // "[json.exception...] line 1, column 3: ...; last read: BYTES", and the bytes may be no text.
    std::string_view what = wrong.what();
    what = what.substr(0, what.find("; last read"));
    what.remove_prefix(std::min(what.size(), what.find("] ") + 2));
    return fail(ErrorKind::Format, "no record of a machine: {}", what);
  }
  return fail(ErrorKind::Format, "no record of a machine: expected a JSON object with figures");
}

// Of a processor that nobody knows each figure has to be given.
bool is_known_processor(const std::string& name) {
  const Machine& plainest = find_cpu("");
  const Machine& found = find_cpu(name);
  return found.name != plainest.name || name == plainest.name;
}

}  // namespace

Result<MachineRecord> parse_record(std::string_view text) {
  HILO_TRY(const Json document, parse_document(text));
  std::map<std::string, Json> figures;
  const Json flat = document.flatten();  // an empty document is null
  for (const auto& [path, value] : flat.items()) figures[path] = value;
  const auto take = [&](const std::string& path) {
    const auto found = figures.extract(path);
    return found.empty() ? std::optional<Json>() : std::optional<Json>(found.mapped());
  };
  const std::optional<Json> schema = take("/schema"), name = take("/name");
  if (schema && *schema != "hilo.machine.1") return wrong("/schema", *schema, "hilo.machine.1");
  if (name && !name->is_string()) return wrong("/name", *name, "a text");
  MachineRecord out(name ? find_cpu(name->get<std::string>()) : host_machine());
  if (name) out.name = name->get<std::string>();
  Result<void> sound;
  const bool is_complete = name && !is_known_processor(out.name);
  for_each_figure(out, [&](const std::string& path, auto& figure) {
    if (!sound) return;
    if (const auto value = take(path)) sound = read_figure(path, *value, figure);
    else if (is_complete)
      sound = fail(ErrorKind::Format, "{}: missing; no processor '{}' is known that has it",
                   field_name(path), out.name);
  });
  HILO_DO(sound);
  for (const auto& [path, value] : figures)
    return fail(ErrorKind::Format, "{}: no such figure of a machine", field_name(path));
  return out;
}

Result<MachineRecord> read_record(const std::string& path) {
  HILO_TRY(const std::string text, read_input_file(path));
  Result<MachineRecord> out = parse_record(text);
  if (!out) out.error().place.file = path;
  return out;
}

// As of code in that folder (docs/running.md): what others could have written is not read.
static Result<MachineRecord> read_own_record(const std::string& path) {
  struct stat file = {};
  if (lstat(path.c_str(), &file) != 0 || !S_ISREG(file.st_mode))
    return fail(ErrorKind::Io, "{}: not a regular file", path);
  if (file.st_uid != geteuid() || (file.st_mode & (S_IWGRP | S_IWOTH)))
    return fail(ErrorKind::Io, "{}: others may have written it", path);
  return read_record(path);
}

MachineRecord known_host_record(const std::function<void(const Error&)>& warn) {
  MachineRecord row(host_machine());
  const std::string path = record_path();
  if (path.empty() || access(path.c_str(), F_OK) != 0) return row;
  Result<MachineRecord> kept = read_own_record(path);
  if (kept) return *std::move(kept);
  kept.error().message += "; the figures of the processor's row are taken";
  warn(kept.error());
  return row;
}

Result<void> keep_host_record(const MachineRecord& record) {
  const std::string path = record_path();
  if (path.empty()) return {};
  std::error_code ignored;  // writing tells of it
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (std::filesystem::create_directories(folder, ignored))
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, ignored);
  const std::string draft = fmt::format("{}.{}", path, getpid());
  HILO_DO(write_file(draft, json_of(record).dump(2) + "\n"));
  chmod(draft.c_str(), S_IRUSR | S_IWUSR);
  if (std::rename(draft.c_str(), path.c_str()) == 0) return {};
  std::filesystem::remove(draft, ignored);
  return fail(ErrorKind::Io, "{}: cannot be written", path);
}

}  // namespace hilo::tools

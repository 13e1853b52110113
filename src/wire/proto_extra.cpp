#include "wire/proto_extra.h"

#include "wire/braced_text.h"
#include "wire/text_scanner.h"

namespace hilo {
namespace {

using proto::HloInstructionProto;

void write_profile_type(std::string_view text, proto::OpMetadata& to) {
  TextScanner scanner(text);
  int32_t number;
  if (!scanner.accept('{')) return to.set_profile_type_text(std::string(text));
  do {
    if (!scanner.number(number)) return to.set_profile_type_text(std::string(text));
    to.add_profile_type(number);
  } while (scanner.accept(','));
}

std::string read_profile_type(const proto::OpMetadata& from) {
  if (!from.profile_type_text().empty()) return from.profile_type_text();
  const auto& types =
      from.profile_type().empty() ? from.profile_info().profile_type() : from.profile_type();
  std::string text;
  for (int type : types) text += fmt::format("{}{}", text.empty() ? "{" : ",", type);
  return text.empty() ? text : text + "}";
}

const std::string& payload_of(const proto::Payload& payload, const Payloads& payloads) {
  static const std::string empty;
  if (!payload.has_id()) return payload.value();
  return payload.id() < 0 || payload.id() >= payloads.size()
             ? empty
             : payloads[static_cast<int>(payload.id())];
}

// {visualizing_index=1,a=1.5,b=2}
bool write_statistics(std::string_view text, proto::StatisticsViz& to) {
  TextScanner scanner(text);
  int64_t index;
  if (!scanner.accept('{') || !scanner.accept("visualizing_index=") || !scanner.number(index))
    return false;
  to.set_stat_index_to_visualize(index);
  while (scanner.accept(',')) {
    proto::Statistic& statistic = *to.add_statistics();
    statistic.set_stat_name(std::string(scanner.word()));
    double value;
    if (!scanner.accept('=') || !scanner.number(value)) return false;
    statistic.set_stat_val(value);
  }
  return scanner.accept('}') && scanner.at_end();
}

std::string print_statistics(const proto::StatisticsViz& from) {
  if (from.statistics().empty()) return "";
  std::string text = fmt::format("{{visualizing_index={}", from.stat_index_to_visualize());
  for (const proto::Statistic& statistic : from.statistics())
    text += fmt::format(",{}={}", statistic.stat_name(), statistic.stat_val());
  return text + "}";
}

std::string print_accuracy(const proto::ResultAccuracy& from) {
  const bool is_default = !from.has_tolerance() && from.mode() == proto::ResultAccuracy::DEFAULT;
  return is_default ? "" : print_braced(from, ",");
}

void keep_text(std::string_view name, const std::string& text, HloInstructionProto& to) {
  proto::TextAttribute& kept = *to.add_text_attributes();
  kept.set_name(std::string(name));
  kept.set_value(text);
}

// Names of text attributes that stand for a member of Extra; what else is there is unknown.
constexpr std::string_view raw_names[] = {"statistics", "result_accuracy", "origin"};

void write_raw_texts(const Extra& extra, HloInstructionProto& to) {
  if (!extra.statistics.empty()) {
    write_statistics(extra.statistics, *to.mutable_statistics_viz());
    if (print_statistics(to.statistics_viz()) != extra.statistics)
      keep_text("statistics", extra.statistics, to);
  }
  if (!extra.result_accuracy.empty()) {
    read_braced(extra.result_accuracy, *to.mutable_result_accuracy());
    if (print_accuracy(to.result_accuracy()) != extra.result_accuracy)
      keep_text("result_accuracy", extra.result_accuracy, to);
  }
  if (extra.origin.empty()) return;
  if (!write_origin(extra.origin, *to.mutable_original_value())) to.clear_original_value();
  const Result<std::string> back = print_origin(to.original_value());
  if (!to.has_original_value() || !back || *back != extra.origin)
    keep_text("origin", extra.origin, to);
}

Result<void> read_raw_texts(const HloInstructionProto& from, Extra& extra) {
  extra.statistics = print_statistics(from.statistics_viz());
  extra.result_accuracy = print_accuracy(from.result_accuracy());
  if (from.has_original_value()) {
    HILO_TRY(extra.origin, print_origin(from.original_value()));
  }
  std::string* const members[] = {&extra.statistics, &extra.result_accuracy, &extra.origin};
  for (const proto::TextAttribute& kept : from.text_attributes()) {
    size_t which = 0;
    while (which < std::size(raw_names) && raw_names[which] != kept.name()) ++which;
    if (which < std::size(raw_names)) *members[which] = kept.value();
    else if (kept.name().starts_with("unknown:"))
      extra.unknown.emplace_back(kept.name().substr(8), kept.value());
  }
  return {};
}

}  // namespace

bool is_dictionary(std::string_view text) {
  std::string_view whole;
  TextScanner scanner(text);
  return text.starts_with('{') && scanner.braced(whole) && whole.size() == text.size();
}

void write_frontend(const FrontendAttributes& attributes, proto::FrontendAttributes& to) {
  for (const auto& [key, value] : attributes) {
    auto& entry = *to.add_map();
    entry.set_key(key);
    entry.set_value(value.text);
  }
}

FrontendAttributes read_frontend(const proto::FrontendAttributes& from) {
  FrontendAttributes out;
  for (const auto& entry : from.map())
    out[entry.key()] = {entry.value(), is_dictionary(entry.value())};
  return out;
}

void write_metadata(const Metadata& metadata, proto::OpMetadata& to) {
  to.set_op_type(std::string(metadata.op_type));
  to.set_op_name(std::string(metadata.op_name));
  to.set_source_file(std::string(metadata.source_file));
  to.set_source_line(static_cast<int32_t>(metadata.source_line));
  to.set_source_end_line(static_cast<int32_t>(metadata.source_end_line));
  to.set_source_column(static_cast<int32_t>(metadata.source_column));
  to.set_source_end_column(static_cast<int32_t>(metadata.source_end_column));
  to.set_stack_frame_id(static_cast<int32_t>(metadata.stack_frame_id));
  if (!metadata.profile_type.empty()) write_profile_type(metadata.profile_type, to);
  to.set_deduplicated_name(std::string(metadata.deduplicated_name));
  to.set_scheduling_name(std::string(metadata.scheduling_name));
  if (!metadata.metadata_payload.empty())
    to.mutable_metadata_payload()->set_value(std::string(metadata.metadata_payload));
  to.set_unknown(std::string(metadata.unknown));
}

Metadata read_metadata(const proto::OpMetadata& from, const Payloads& payloads,
                       StringArena& strings) {
  Metadata out;
  out.op_type = strings.copy(from.op_type());
  out.op_name = strings.copy(from.op_name());
  out.source_file = strings.copy(from.source_file());
  out.source_line = from.source_line();
  out.source_end_line = from.source_end_line();
  out.source_column = from.source_column();
  out.source_end_column = from.source_end_column();
  out.stack_frame_id = from.stack_frame_id();
  out.profile_type = strings.copy(read_profile_type(from));
  out.deduplicated_name = strings.copy(from.deduplicated_name());
  out.scheduling_name = strings.copy(from.scheduling_name());
  out.metadata_payload = strings.copy(payload_of(from.metadata_payload(), payloads));
  out.unknown = strings.copy(from.unknown());
  return out;
}

void write_extra(const Extra& extra, HloInstructionProto& to) {
  if (extra.sharding) write_sharding(*extra.sharding, *to.mutable_sharding());
  if (!extra.frontend_attributes.empty())
    write_frontend(extra.frontend_attributes, *to.mutable_frontend_attributes());
  write_raw_texts(extra, to);
  for (bool replicated : extra.parameter_replication)
    to.mutable_parameter_replication()->add_replicated_at_leaf_buffers(replicated);
  to.set_backend_config(std::string(extra.backend_config));
  for (const auto& [name, value] : extra.unknown) keep_text("unknown:" + name, value, to);
}

Result<Extra> read_extra(const HloInstructionProto& from, const Payloads& payloads,
                         StringArena& strings) {
  Extra out;
  if (from.has_sharding()) {
    HILO_TRY(Sharding sharding, read_sharding(from.sharding()));
    out.sharding = std::make_shared<const Sharding>(std::move(sharding));
  }
  out.frontend_attributes = read_frontend(from.frontend_attributes());
  HILO_DO(read_raw_texts(from, out));
  for (bool replicated : from.parameter_replication().replicated_at_leaf_buffers())
    out.parameter_replication.push_back(replicated);
  const std::string& config = from.backend_config().empty()
                                  ? payload_of(from.backend_config_payload(), payloads)
                                  : from.backend_config();
  out.backend_config = strings.copy(config);
  out.backend_config_is_json = is_dictionary(config);
  return out;
}

}  // namespace hilo

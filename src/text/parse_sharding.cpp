// Shardings, meshes and device lists. Forms: docs/hlo-text.md and XLA's HLO text parser.
#include <algorithm>

#include "text/parse_fields.h"

namespace hilo {
namespace {

using Kind = Sharding::Kind;
constexpr int64_t max_devices = int64_t{1} << 24;
constexpr int deepest_sharding = 1024;

struct KindWord {
  std::string_view word;
  Kind kind;
};
constexpr KindWord kind_words[] = {{"replicated", Kind::Replicated},
                                   {"manual", Kind::Manual},
                                   {"unknown", Kind::Unknown},
                                   {"unreduced", Kind::Unreduced}};

bool accept_kind(Lexer& lexer, Kind& out) {
  for (const KindWord& known : kind_words)
    if (lexer.accept_word(known.word)) return out = known.kind, true;
  return false;
}

bool accept_key(Lexer& lexer, std::string_view key) {
  const char* start = (lexer.skip(), lexer.at);
  if (lexer.accept_word(key) && lexer.accept('=')) return true;
  lexer.at = start;
  return false;
}

bool parse_list(Lexer& lexer, Dims& out, char close) {
  if (read_plain_integers(lexer, out, close)) return true;
  do {
    int64_t value;
    if (!lexer.non_negative(value)) return false;
    out.push_back(value);
  } while (lexer.accept(','));
  return lexer.expect(close, "after a list of integers");
}

}  // namespace

bool parse_bracketed(Lexer& lexer, Dims& out) {
  return lexer.expect('[', "before a list of integers") && parse_list(lexer, out, ']');
}

bool parse_iota(Lexer& lexer, IotaDevices& out) {
  const char* start = (lexer.skip(), lexer.at);
  if (!parse_bracketed(lexer, out.dims)) return false;
  if (*lexer.at != 'T') return true;
  ++lexer.at;
  if (!lexer.expect('(', "after T") || !parse_list(lexer, out.permutation, ')')) return false;
  Dims sorted = out.permutation;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < std::max(sorted.size(), out.dims.size()); ++i)
    if (sorted.size() != out.dims.size() || sorted[i] != static_cast<int64_t>(i))
      return lexer.fail_at(start, ErrorKind::Shape,
                           fmt::format("T(...) is not a permutation of 0 to {}",
                                       static_cast<int64_t>(out.dims.size()) - 1));
  return true;
}

bool check_device_count(Lexer& lexer, const char* at, const Dims& reshape, const Dims& dims) {
  const int64_t a = element_count(std::span<const int64_t>(reshape));
  const int64_t b = element_count(std::span<const int64_t>(dims));
  if (std::max(a, b) > max_devices)  // or a product that overflows
    return lexer.fail_at(at, ErrorKind::Limit, fmt::format("more than {} devices", max_devices));
  if (a != b)
    return lexer.fail_at(at, ErrorKind::Shape, fmt::format("{} devices made from {}", a, b));
  return true;
}

namespace {

bool parse_mesh_devices(Lexer& lexer, Mesh& out, int64_t count) {
  const char* start = (lexer.skip(), lexer.at);
  if (!lexer.expect('(', "after device_ids=")) return false;
  if (!lexer.peek('[')) {
    if (!parse_list(lexer, out.device_ids, ')')) return false;
    if (static_cast<int64_t>(out.device_ids.size()) == count) return true;
    return lexer.fail_at(
        start, ErrorKind::Shape,
        fmt::format("the mesh has {} devices, {} are listed", count, out.device_ids.size()));
  }
  return parse_iota(lexer, out.device_iota.emplace()) && lexer.expect(')', "after device_ids=(") &&
         check_device_count(lexer, start, {count}, out.device_iota->dims);
}

// A quoted or a bare name.
bool parse_axis_name(Lexer& lexer, std::string& out) {
  std::string_view name;
  if (lexer.peek('\'') || lexer.peek('"')) {
    if (!lexer.string(name)) return false;
  } else if ((name = lexer.word()).empty()) {
    return lexer.fail_expected("the name of a mesh axis");
  }
  return out = name, true;
}

}  // namespace

bool parse_mesh(Lexer& lexer, Mesh& out) {
  const char* start = (lexer.skip(), lexer.at);
  if (!lexer.expect('[', "after mesh")) return false;
  int64_t count = 1;
  if (!lexer.accept(']')) {
    do {
      MeshAxis& axis = out.axes.emplace_back();
      if (!parse_axis_name(lexer, axis.name) || !lexer.expect('=', "after a mesh axis") ||
          !lexer.non_negative(axis.size))
        return false;
      if (axis.size == 0 || __builtin_mul_overflow(count, axis.size, &count) || count > max_devices)
        return lexer.fail_at(start, ErrorKind::Limit,
                             fmt::format("a mesh has from 1 to {} devices", max_devices));
    } while (lexer.accept(','));
    if (!lexer.expect(']', "after the mesh axes")) return false;
  }
  const char* after = lexer.at;
  if (lexer.accept(',') && accept_key(lexer, "device_ids"))
    return parse_mesh_devices(lexer, out, count);
  lexer.at = after;
  return true;
}

bool parse_axis(Lexer& lexer, AxisRef& out) {
  if (!parse_axis_name(lexer, out.name)) return false;
  if (!lexer.accept(':')) return true;
  auto& [before, size] = out.sub.emplace();
  return lexer.expect('(', "in a sub-axis") && lexer.non_negative(before) &&
         lexer.expect(')', "in a sub-axis") && lexer.non_negative(size);
}

bool parse_axes(Lexer& lexer, std::vector<AxisRef>& out) {
  if (!lexer.expect('{', "before mesh axes")) return false;
  if (lexer.accept('}')) return true;
  do {
    if (!parse_axis(lexer, out.emplace_back())) return false;
  } while (lexer.accept(','));
  return lexer.expect('}', "after mesh axes");
}

namespace {

bool parse_last_tile_dims(Lexer& lexer, Sharding& out) {
  if (!lexer.expect('{', "after last_tile_dims=")) return false;
  if (lexer.accept('}')) return true;
  do {
    if (!accept_kind(lexer, out.last_tile_dims.emplace_back()))
      return lexer.fail_expected("replicated, manual, unknown or unreduced");
  } while (lexer.accept(','));
  return lexer.expect('}', "after last_tile_dims");
}

bool parse_devices(Lexer& lexer, Sharding& out) {
  const char* start = (lexer.skip(), lexer.at);
  out.kind = Kind::Tiled;
  if (!parse_bracketed(lexer, out.tile_dims)) return false;
  if (lexer.accept(std::string_view("<="))) {
    IotaDevices& iota = out.iota.emplace();
    iota.reshape = out.tile_dims;
    return parse_iota(lexer, iota) && check_device_count(lexer, start, iota.reshape, iota.dims);
  }
  do {
    int64_t device;
    if (!lexer.non_negative(device)) return false;
    out.devices.push_back(device);
    const char* after = lexer.at;  // a comma may also stand before the next part
    if (!lexer.accept(',')) break;
    lexer.skip();
    if (is_digit(*lexer.at)) continue;
    lexer.at = after;
    break;
  } while (true);
  return check_device_count(lexer, start, out.tile_dims,
                            {static_cast<int64_t>(out.devices.size())});
}

bool parse_mesh_dim(Lexer& lexer, Sharding::MeshDim& out) {
  if (!lexer.expect('{', "before the axes of a dimension")) return false;
  while (!lexer.accept('}')) {
    if (lexer.accept('?')) out.open = true;
    else if (!parse_axis(lexer, out.axes.emplace_back())) return false;
    lexer.accept(',');
  }
  return true;
}

bool parse_mesh_part(Lexer& lexer, Sharding& out) {
  if (lexer.peek('[')) {
    lexer.accept('[');
    while (!lexer.accept(']')) {
      if (!parse_mesh_dim(lexer, out.mesh_dims.emplace_back())) return false;
      lexer.accept(',');
    }
    return true;
  }
  if (accept_key(lexer, "replicated")) return parse_axes(lexer, out.replicated_axes);
  if (accept_key(lexer, "manual")) return parse_axes(lexer, out.manual_axes);
  if (accept_key(lexer, "unreduced")) {
    if (!lexer.peek('{')) out.unreduced_op = lexer.word();
    return parse_axes(lexer, out.unreduced_axes);
  }
  Kind kind;
  if (accept_kind(lexer, kind)) return out.whole_mesh = kind, true;
  return lexer.fail_expected("dimensions, replicated, manual or unreduced after a mesh");
}

bool parse_part(Lexer& lexer, Sharding& out) {
  const auto keyed = [&](std::string_view key) {
    return lexer.accept_word(key) && (lexer.accept('='), true);
  };
  if (lexer.accept_word("last_tile_dim_replicate")) return out.last_tile_dim_replicate = true;
  if (accept_key(lexer, "last_tile_dims")) return parse_last_tile_dims(lexer, out);
  if (accept_key(lexer, "devices")) return parse_devices(lexer, out);
  if (accept_key(lexer, "device")) {
    out.kind = Kind::Maximal;
    return lexer.non_negative(out.device);
  }
  if (keyed("shard_as")) return lexer.non_negative(out.shard_as.emplace());
  if (keyed("shard_like")) return lexer.non_negative(out.shard_like.emplace());
  if (accept_key(lexer, "metadata")) {
    std::string_view raw;
    return lexer.balanced(raw) && (out.metadata = raw, true);
  }
  if (lexer.accept_word("maximal")) return out.kind = Kind::Maximal, true;
  if (lexer.accept_word("maximal_mesh")) {
    out.kind = Kind::Maximal, out.whole_mesh = Kind::Maximal;
    return lexer.expect('[', "after maximal_mesh") && accept_key(lexer, "device_id") &&
           lexer.non_negative(out.device) && lexer.expect(']', "after maximal_mesh[");
  }
  if (lexer.accept_word("mesh")) return out.kind = Kind::Mesh, parse_mesh(lexer, out.mesh);
  if (out.kind == Kind::Mesh) return parse_mesh_part(lexer, out);
  if (accept_kind(lexer, out.kind)) return true;
  return lexer.fail_expected("a sharding");
}

bool parse_one(Lexer& lexer, Sharding& out) {
  while (!lexer.accept('}')) {
    if (!parse_part(lexer, out)) return lexer.fail_expected("a sharding");
    lexer.accept(',');
  }
  return true;
}

}  // namespace

bool parse_sharding(Lexer& lexer, Sharding& out, int max_depth) {
  if (max_depth <= 0) return lexer.fail(ErrorKind::Limit, "shardings nested too deep");
  if (!lexer.expect('{', "before a sharding")) return false;
  if (!lexer.peek('{') && !lexer.peek('}')) return parse_one(lexer, out);
  out.kind = Kind::Tuple;
  if (lexer.accept('}')) return true;
  do {
    if (!parse_sharding(lexer, out.elements.emplace_back(),
                        std::min(max_depth, deepest_sharding) - 1))
      return false;
  } while (lexer.accept(','));
  return lexer.expect('}', "after the shardings of a tuple");
}

}  // namespace hilo

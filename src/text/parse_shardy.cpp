// Shardy's attributes as they stand in frontend attributes of modules: meshes, shardings, axes.
// Syntax: openxla.org/shardy/sdy_dialect.
#include <algorithm>

#include "text/text.h"

namespace hilo {
namespace {

class ShardyParser {
 public:
  ShardyParser(std::string_view text, const ShardyMeshes* meshes) : meshes_(meshes) {
    // A string within a string keeps its backslashes.
    std::ranges::copy_if(text, std::back_inserter(text_), [](char c) { return c != '\\'; });
  }

  Result<ShardyMeshes> meshes() {
    ShardyMeshes out;
    HILO_DO(expect("{"));
    while (!accept("}")) {
      HILO_TRY(const std::string name, this->name());
      HILO_DO(expect("="));
      HILO_DO(expect("#sdy.mesh"));
      HILO_TRY(Mesh one, mesh());
      HILO_TRY(out[name], make_mesh(std::move(one)));
      accept(",");
    }
    return end(std::move(out));
  }

  Result<std::vector<AxisSharding>> shardings() {
    std::vector<AxisSharding> out;
    if (accept("#sdy.sharding_per_value<[")) {
      while (!accept("]")) {
        HILO_TRY(AxisSharding one, sharding());
        out.push_back(std::move(one));
        accept(",");
      }
      HILO_DO(expect(">"));
      return end(std::move(out));
    }
    HILO_DO(expect("#sdy.sharding"));
    HILO_TRY(AxisSharding one, sharding());
    out.push_back(std::move(one));
    return end(std::move(out));
  }

  Result<std::vector<AxisRef>> manual_axes() {
    const bool bracketed = accept("#sdy<");
    if (!bracketed) HILO_DO(expect("#sdy."));
    HILO_DO(expect("manual_axes"));
    HILO_TRY(std::vector<AxisRef> out, axes());
    if (bracketed) HILO_DO(expect(">"));
    return end(std::move(out));
  }

 private:
  template <class T>
  Result<T> end(T value) {
    skip_space();
    if (at_ == text_.size()) return value;
    return fault("the end");
  }

  std::unexpected<Error> fault(std::string_view expected) const {
    return fail(ErrorKind::Syntax, "expected {} at '{}' of '{}'", expected, text_.substr(at_, 20),
                text_.substr(0, 200));
  }
  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool accept(std::string_view word) {
    if (!peek(word)) return false;
    at_ += word.size();
    return true;
  }
  bool peek(std::string_view word) {
    skip_space();
    return text_.compare(at_, word.size(), word) == 0;
  }
  Result<void> expect(std::string_view word) {
    if (accept(word)) return {};
    return fault(fmt::format("'{}'", word));
  }

  Result<std::string> quoted() {
    HILO_DO(expect("\""));
    const size_t close = text_.find('"', at_);
    if (close == std::string::npos) return fault("a closing quote");
    std::string out = text_.substr(at_, close - at_);
    at_ = close + 1;
    return out;
  }
  Result<std::string> name() {
    skip_space();
    if (at_ < text_.size() && text_[at_] == '"') return quoted();
    std::string out;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) ||
                                  std::string_view("_.-$").contains(text_[at_])))
      out += text_[at_++];
    if (out.empty()) return fault("a name");
    return out;
  }
  Result<int64_t> number() {
    skip_space();
    int64_t out = 0;
    const size_t begin = at_;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      out = out * 10 + (text_[at_] - '0');
      if (out > int64_t{1} << 40) return fault("a smaller number");
    }
    if (at_ == begin) return fault("a number");
    return out;
  }

  // <["x"=4, "y"=2], device_ids=[0, 1]>
  Result<Mesh> mesh() {
    Mesh out;
    HILO_DO(expect("<"));
    if (accept("maximal_device_id=")) {
      HILO_TRY(const int64_t device, number());
      out.device_ids = {device};
      HILO_DO(expect(">"));
      return out;
    }
    HILO_DO(expect("["));
    while (!accept("]")) {
      MeshAxis axis;
      HILO_TRY(axis.name, quoted());
      HILO_DO(expect("="));
      const bool is_negative = accept("-");  // which no mesh is: make_mesh says so
      HILO_TRY(axis.size, number());
      if (is_negative) axis.size = -axis.size;
      out.axes.push_back(std::move(axis));
      accept(",");
    }
    if (accept(",")) {
      HILO_DO(expect("device_ids=["));
      while (!accept("]")) {
        HILO_TRY(const int64_t device, number());
        out.device_ids.push_back(device);
        accept(",");
      }
    }
    HILO_DO(expect(">"));
    return out;
  }

  // "x" or "x":(2)4
  Result<AxisRef> axis() {
    AxisRef out;
    HILO_TRY(out.name, quoted());
    if (!accept(":(")) return out;
    std::pair<int64_t, int64_t> sub;
    HILO_TRY(sub.first, number());
    HILO_DO(expect(")"));
    HILO_TRY(sub.second, number());
    out.sub = sub;
    return out;
  }
  Result<std::vector<AxisRef>> axes() {
    std::vector<AxisRef> out;
    HILO_DO(expect("{"));
    while (!accept("}")) {
      HILO_TRY(AxisRef one, axis());
      out.push_back(std::move(one));
      accept(",");
    }
    return out;
  }

  // {"x", ?}p1
  Result<AxisSharding::Dim> dimension(const Mesh& mesh) {
    AxisSharding::Dim out;
    HILO_DO(expect("{"));
    while (!accept("}")) {
      if (accept("?")) {
        out.is_open = true;
      } else {
        HILO_TRY(const AxisRef one, axis());
        HILO_TRY(out.axes.emplace_back(), find_axis(mesh, one));
      }
      accept(",");
    }
    if (accept("p")) {
      HILO_TRY(out.priority, number());
    }
    return out;
  }

  Result<SharedMesh> mesh_reference() {
    if (accept("mesh")) {
      HILO_TRY(Mesh own, mesh());
      return make_mesh(std::move(own));
    }
    HILO_DO(expect("@"));
    HILO_TRY(const std::string name, this->name());
    const auto found = meshes_->find(name);
    if (found != meshes_->end()) return found->second;
    return fail(ErrorKind::Structure, "no mesh '{}' is known", name);
  }

  Result<void> other_axes(AxisSharding& out) {
    const bool is_replicated = accept("replicated=");
    if (!is_replicated) HILO_DO(expect("unreduced="));
    if (!is_replicated && !peek("{")) {
      HILO_TRY(out.unreduced_op, name());
    }
    HILO_TRY(const std::vector<AxisRef> references, axes());
    HILO_TRY((is_replicated ? out.replicated : out.unreduced), find_axes(*out.mesh, references));
    return {};
  }

  // <@mesh, [dimensions], replicated={axes}, unreduced={axes}>
  Result<AxisSharding> sharding() {
    AxisSharding out;
    HILO_DO(expect("<"));
    HILO_TRY(out.mesh, mesh_reference());
    HILO_DO(expect(","));
    HILO_DO(expect("["));
    while (!accept("]")) {
      HILO_TRY(out.dims.emplace_back(), dimension(*out.mesh));
      accept(",");
    }
    while (accept(",")) HILO_DO(other_axes(out));
    HILO_DO(expect(">"));
    return canonical_sharding(std::move(out));
  }

  std::string text_;
  const ShardyMeshes* meshes_;
  size_t at_ = 0;
};

}  // namespace

Result<ShardyMeshes> parse_shardy_meshes(std::string_view text) {
  return ShardyParser(text, nullptr).meshes();
}

Result<std::vector<AxisSharding>> parse_shardy_shardings(std::string_view text,
                                                         const ShardyMeshes& meshes) {
  return ShardyParser(text, &meshes).shardings();
}

Result<std::vector<AxisRef>> parse_shardy_manual_axes(std::string_view text) {
  return ShardyParser(text, nullptr).manual_axes();
}

}  // namespace hilo

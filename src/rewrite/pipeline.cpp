// Pipelines as text.
#include <algorithm>

#include "rewrite/runner.h"

namespace hilo {
namespace {

size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j)
      diagonal = std::exchange(row[j + 1],
                               std::min({row[j] + 1, row[j + 1] + 1, diagonal + (a[i] != b[j])}));
  }
  return row[b.size()];
}

class PipelineParser {
 public:
  PipelineParser(std::span<const Pass> passes, std::span<const NamedPipeline> pipelines)
      : passes_(passes), pipelines_(pipelines) {}

  Result<Pipeline> parse(std::string_view text, int depth) {
    if (depth > 8) return fail(ErrorKind::Usage, "pipelines nested deeper than 8");
    text_ = text, at_ = 0, depth_ = depth;
    HILO_TRY(Pipeline out, steps());
    if (at_ < text_.size())
      return fail(ErrorKind::Usage, "expected ',' in the pipeline, found \"{}\"",
                  text_.substr(at_));
    return out;
  }

 private:
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    skip();
    return true;
  }

  Result<Pipeline> steps() {
    Pipeline out;
    do HILO_DO(step(out));
    while (take(','));
    return out;
  }

  Result<void> step(Pipeline& out) {
    if (take('(')) {
      if (++depth_ > 8) return fail(ErrorKind::Usage, "pipelines nested deeper than 8");
      HILO_TRY(Pipeline inner, steps());
      --depth_;
      if (!take(')') || !take('*'))
        return fail(ErrorKind::Usage, "expected \")*\" after the repeated passes");
      out.push_back({nullptr, std::move(inner)});
      return {};
    }
    const size_t start = at_;
    while (at_ < text_.size() && std::string_view(",()* \n").find(text_[at_]) == std::string::npos)
      ++at_;
    const std::string_view name = text_.substr(start, at_ - start);
    skip();
    return named(name, out);
  }

  Result<void> named(std::string_view name, Pipeline& out) {
    for (const Pass& pass : passes_)
      if (pass.name == name) {
        out.push_back({&pass, {}});
        return {};
      }
    for (const NamedPipeline& pipeline : pipelines_)
      if (pipeline.name == name) {
        HILO_TRY(Pipeline inner,
                 PipelineParser(passes_, pipelines_).parse(pipeline.text, depth_ + 1));
        out.insert(out.end(), inner.begin(), inner.end());
        return {};
      }
    std::string_view nearest;
    for (const Pass& pass : passes_)
      if (nearest.empty() || distance(name, pass.name) < distance(name, nearest))
        nearest = pass.name;
    return fail(ErrorKind::Usage, "no pass or pipeline is called \"{}\"; the nearest is {}", name,
                nearest);
  }

  std::span<const Pass> passes_;
  std::span<const NamedPipeline> pipelines_;
  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<Pipeline> parse_pipeline(std::string_view text, std::span<const Pass> passes,
                                std::span<const NamedPipeline> pipelines) {
  return PipelineParser(passes, pipelines).parse(text, 0);
}

}  // namespace hilo

#include "eval/collective.h"

namespace hilo {

// (data, token): the next value of EvalOptions::infeed of this device.
Result<Literal> evaluate_Infeed(Call& call) {
  const Shape& stated = call.shape();
  const auto& feeds = call.options().infeed;
  size_t& position = call.device.traffic.infeed_position;
  const size_t device = static_cast<size_t>(call.device.program);
  if (device >= feeds.size() || position >= feeds[device].size())
    return call.error(ErrorKind::Input,
                      fmt::format("device {} wants infeed value {} and has {}; expected {}", device,
                                  position + 1, device < feeds.size() ? feeds[device].size() : 0,
                                  to_string_without_layout(stated.elements.at(0))));
  Literal data = to_held(feeds[device][position++], call.ideal());
  const Shape expected = call.held(stated.elements.at(0));
  if (!same_dims(data.shape(), expected))
    return call.error(
        ErrorKind::Input,
        fmt::format("infeed value {} of device {} is {}; expected {}", position, device,
                    to_string_without_layout(data.shape()), to_string_without_layout(expected)));
  return Literal::tuple({std::move(data), Literal::token()});
}

Result<Literal> evaluate_Outfeed(Call& call) {
  auto* feeds = call.options().outfeed;
  if (feeds && call.device.is_first)
    feeds->at(static_cast<size_t>(call.device.program))
        .push_back(std::move(kept(call, {std::move(call.operands[0])})[0]));
  return Literal::token();
}

}  // namespace hilo

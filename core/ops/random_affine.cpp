#include "core/ops/random_affine.h"

#include <fmt/format.h>

#include "core/base/enum_names.h"
#include "core/ops/check.h"

namespace gpubench {
namespace {

constexpr EnumNames<math::Fill, 4> fills{"unknown fill_mode", {"constant", "nearest", "reflect", "wrap"}};
constexpr EnumNames<math::Motion, 4> motions{"unknown motion", {"flip", "rotate", "translate", "zoom"}};

}  // namespace

std::string_view to_string(math::Fill fill) {
  return fills[fill];
}

math::Fill parse_fill(std::string_view name) {
  return fills.parse(name);
}

std::string RandomAffine::attributes() const {
  const math::MotionRange& range = options.range;
  return fmt::format("{} y=[{}, {}] x=[{}, {}] together={} fill={} {} bilinear={} seed={}", motions[range.motion],
                     range.low_y, range.high_y, range.low_x, range.high_x, range.together, to_string(options.fill),
                     options.fill_value, options.bilinear, seed);
}

std::vector<TensorType> RandomAffine::infer(TensorTypes inputs) const {
  // The same images as those of another random op.
  static_cast<void>(RandomBrightness(0, seed).infer(inputs));
  if (inputs[0].elements() > 0 || image_extents(inputs[0].shape).images == 0) return {inputs[0]};
  ops::refuse(name(), fmt::format("{} has no pixels", to_string(inputs[0])));
}

double RandomAffine::flops(TensorTypes, TensorTypes outputs) const {
  return options.bilinear ? 9.0 * static_cast<double>(outputs[0].elements()) : 0;
}

}  // namespace gpubench

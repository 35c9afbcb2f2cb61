#include "tests/support/case_inputs.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace gpubench::support {
namespace {

/// How far from 0 the values of an interval around 0 stay, as a share of the interval.
constexpr double gap = 0.01;

/// Values of all floating inputs of a case: the middles of equal parts of the interval, jittered and shuffled.
class Spread {
 public:
  Spread(std::size_t count, std::mt19937_64& random) : parts_(count) {
    std::uniform_real_distribution<double> jitter(0.25, 0.75);
    for (std::size_t i = 0; i < count; ++i) {
      parts_[i] = (static_cast<double>(i) + jitter(random)) / static_cast<double>(count);
    }
    std::shuffle(parts_.begin(), parts_.end(), random);
  }
  double next(double low, double high) {
    const double value = low + (high - low) * parts_[used_++];
    if (low >= 0 || high <= 0) return value;
    return value + std::copysign(gap * (high - low), value) * (1 - std::abs(value) / std::max(-low, high));
  }

 private:
  std::vector<double> parts_;
  std::size_t used_ = 0;
};

void draw_integers(const CaseInput& input, Array& array, std::mt19937_64& random) {
  std::uniform_int_distribution<std::int64_t> uniform(static_cast<std::int64_t>(input.low),
                                                      static_cast<std::int64_t>(input.high));
  std::bernoulli_distribution coin;
  for (double& value : array.values) {
    value =
        input.type.dtype == Dtype::boolean ? static_cast<double>(coin(random)) : static_cast<double>(uniform(random));
  }
}

std::vector<HostTensor> draw_inputs(const OpCase& op_case, std::mt19937_64& random) {
  std::size_t floating = 0;
  for (const CaseInput& input : op_case.inputs) {
    if (is_floating(input.type.dtype)) floating += static_cast<std::size_t>(input.type.elements());
  }
  Spread spread(floating, random);
  std::vector<HostTensor> tensors;
  for (const CaseInput& input : op_case.inputs) {
    Array array(input.type);
    if (is_floating(input.type.dtype)) {
      for (double& value : array.values) value = spread.next(input.low, input.high);
    } else {
      draw_integers(input, array, random);
    }
    if (input.fill) input.fill(array, random);
    tensors.push_back(to_tensor(array));
  }
  return tensors;
}

}  // namespace

std::uint64_t run_seed() {
  static const std::uint64_t seed = [] {
    const char* const given = std::getenv("GPUBENCH_TEST_SEED");
    return given != nullptr ? std::strtoull(given, nullptr, 10) : std::uint64_t{std::random_device{}()};
  }();
  return seed;
}

CaseInputs::CaseInputs(const OpCase& op_case, std::uint64_t draw)
    : random(run_seed() + draw), tensors(draw_inputs(op_case, random)) {
  for (const HostTensor& tensor : tensors) arrays.push_back(to_array(tensor));
}

void one_hot_rows(Array& array, std::mt19937_64& random) {
  const std::int64_t width = array.type.shape.back();
  std::uniform_int_distribution<std::int64_t> uniform(0, width - 1);
  std::fill(array.values.begin(), array.values.end(), 0.0);
  for (std::int64_t row = 0; row < array.size(); row += width) array[row + uniform(random)] = 1;
}

void probability_rows(Array& array, std::mt19937_64& random) {
  const std::int64_t width = array.type.shape.back();
  std::uniform_real_distribution<double> uniform(0.2, 1.0);
  for (std::int64_t row = 0; row < array.size(); row += width) {
    double sum = 0;
    for (std::int64_t i = 0; i < width; ++i) sum += array[row + i] = uniform(random);
    for (std::int64_t i = 0; i < width; ++i) array[row + i] /= sum;
  }
}

CaseInput floats(Shape shape, double low, double high) {
  return {.type = {std::move(shape), Dtype::f32}, .low = low, .high = high};
}

OpCase with_data_in(Dtype dtype, OpCase op_case) {
  const Shape data = op_case.inputs[0].type.shape;
  op_case.name += dtype == Dtype::bf16 ? "_bfloat16_data" : "_float16_data";
  for (CaseInput& input : op_case.inputs) {
    if (input.type.shape == data) input.type.dtype = dtype;
  }
  op_case.halves = false;
  return op_case;
}

void whole_numbers(Array& array, std::mt19937_64&) {
  for (double& value : array.values) value = std::round(value);
}

}  // namespace gpubench::support

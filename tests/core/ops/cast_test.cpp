#include "core/ops/cast.h"

#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <memory>

#include "tests/support/expect_error.h"
#include "tests/support/op_case.h"

namespace gpubench::cast_test {
namespace {

using support::Array;
using support::OpCase;

/// What the type stores of a value; the forward test then asks for exact equality.
double stored(double value, Dtype dtype) {
  if (dtype == Dtype::boolean) return value != 0 ? 1 : 0;
  if (!is_floating(dtype)) value = std::trunc(value);
  Array one({{}, dtype});
  one[0] = value;
  return support::to_array(support::to_tensor(one))[0];
}

OpCase cast_case(std::string name, Shape shape, Dtype from, Dtype to) {
  const bool narrow = from == Dtype::i8 || to == Dtype::i8;
  const bool positive = from == Dtype::u8 || to == Dtype::u8;
  return {.name = std::move(name),
          .op = std::make_shared<const Cast>(to),
          .inputs = {{{std::move(shape), from}, positive ? 0.0 : -100.0, narrow ? 100.0 : 200.0}},
          .reference =
              [to](std::span<const Array> in, std::span<Array> out) {
                // Gradients pass through in double precision: rounding would swallow their steps.
                const bool smooth = is_floating(in[0].type.dtype) && is_floating(to);
                for (std::int64_t i = 0; i < in[0].size(); ++i) {
                  out[0][i] = smooth ? in[0][i] : stored(in[0][i], to);
                }
              },
          .differentiable = is_floating(from) && is_floating(to)};
}

std::vector<OpCase> cast_cases() {
  std::vector<OpCase> cases{cast_case("cast_a_scalar", {}, Dtype::f32, Dtype::bf16)};
  const std::initializer_list<Dtype> all{Dtype::f32, Dtype::f16, Dtype::bf16, Dtype::i64,    Dtype::i32,
                                         Dtype::i16, Dtype::i8,  Dtype::u8,   Dtype::boolean};
  for (const Dtype from : all) {
    for (const Dtype to : all) {
      cases.push_back(cast_case(fmt::format("cast_{}_to_{}", to_string(from), to_string(to)), {7, 9}, from, to));
    }
  }
  return cases;
}

GPUBENCH_OP_CASES(CastTo, cast_cases);

/// Tensors with and without a rest behind packs of 8, an empty one, and more than one launch takes.
std::vector<OpCase> cast_all_cases() {
  std::vector<OpCase> cases;
  std::vector<Shape> shapes{{3, 7}, {64}, {}, {0, 4}, {1000, 5}};
  for (std::int64_t i = 0; i < 70; ++i) shapes.push_back({i});
  for (const Dtype to : {Dtype::f16, Dtype::bf16}) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{5}, shapes.size()}) {
      OpCase& added = cases.emplace_back();
      added.name = fmt::format("cast_{}_to_{}", count, to_string(to));
      added.op = std::make_shared<const CastAll>(to);
      for (std::size_t i = 0; i < count; ++i) {
        added.inputs.push_back({.type = {shapes[i], Dtype::f32}, .low = -100, .high = 100});
      }
      added.reference = [to](std::span<const Array> in, std::span<Array> out) {
        for (std::size_t i = 0; i < in.size(); ++i) {
          for (std::int64_t k = 0; k < in[i].size(); ++k) out[i][k] = stored(in[i][k], to);
        }
      };
      added.differentiable = false;
      added.halves = false;
      added.only_fused = true;
    }
  }
  return cases;
}

GPUBENCH_OP_CASES(CastAllTo, cast_all_cases);

TEST(CastAllTest, TakesFloat32AndGives16Bits) {
  EXPECT_ERROR("cast_all: float16 or bfloat16 is expected, got int8", const CastAll refused(Dtype::i8));
  const std::vector<TensorType> mixed{{{2}, Dtype::f32}, {{3}, Dtype::f16}};
  EXPECT_ERROR("cast_all: tensors of float32 are expected, got float16[3]", CastAll(Dtype::bf16).infer(mixed));
}

/// float32 values on both sides of rounding borders, held to exact equality.
std::vector<OpCase> edge_cases() {
  std::vector<OpCase> cases;
  for (const Dtype to : {Dtype::f16, Dtype::bf16}) {
    cases.push_back({.name = fmt::format("round_to_{}", to_string(to)),
                     .op = std::make_shared<const Cast>(to),
                     .inputs = {{.type = {{8192}, Dtype::f32},
                                 .fill =
                                     [](Array& array, std::mt19937_64& random) {
                                       std::uniform_real_distribution<double> exponent(-50, 18), mantissa(-2, 2);
                                       for (double& x : array.values)
                                         x = std::exp2(exponent(random)) * mantissa(random);
                                       const double special[] = {0,         -0.0,        INFINITY,   -INFINITY, NAN,
                                                                 65504,     65519,       65520,      0x1p-24,   0x1p-25,
                                                                 0x1.8p-25, 1 + 0x1p-11, 1 + 0x3p-11};
                                       std::copy(std::begin(special), std::end(special), array.values.begin());
                                     }}},
                     .reference =
                         [to](std::span<const Array> in, std::span<Array> out) {
                           for (std::int64_t i = 0; i < in[0].size(); ++i) out[0][i] = stored(in[0][i], to);
                         },
                     .tolerance = 1e-300});
  }
  return cases;
}

TEST(CastTest, RoundsToNearestEven) {
  for (const OpCase& op_case : edge_cases()) support::check_forward(op_case);
}

TEST(CastTest, EveryFloat16AndBfloat16BecomesItsFloat32) {
  for (const Dtype from : {Dtype::f16, Dtype::bf16}) {
    support::check_forward({.name = "all",
                            .op = std::make_shared<const Cast>(Dtype::f32),
                            .inputs = {{.type = {{65536}, from},
                                        .fill =
                                            [](Array& array, std::mt19937_64&) {
                                              HostTensor bits(array.type);
                                              auto* const words = reinterpret_cast<std::uint16_t*>(bits.data());
                                              for (int i = 0; i < 65536; ++i) words[i] = static_cast<std::uint16_t>(i);
                                              array = support::to_array(bits);
                                            }}},
                            .reference = [](auto in, auto out) { out[0].values = in[0].values; },
                            .tolerance = 1e-300});
  }
}

TEST(CastTest, KeepsWhatHasTheTypeAndRefusesBytes) {
  Graph graph;
  const Value x = graph.input({{2}, Dtype::f32}, "x"), text = graph.input({{2}, Dtype::bytes}, "text");
  EXPECT_EQ(ops::cast(graph, x, Dtype::f32), x);
  EXPECT_ERROR("cast: bytes[2] cannot become float32", ops::cast(graph, text, Dtype::f32));
  EXPECT_ERROR("cast: float32[2] cannot become bytes", ops::cast(graph, x, Dtype::bytes));
}

}  // namespace
}  // namespace gpubench::cast_test

#include "core/backend/cpu/matmul_panels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <string_view>

#include "core/backend/cpu/onednn.h"

namespace gpubench::cpu {
namespace {

using testing::ElementsAre;

constexpr MatmulAttributes plain{}, weights{.transpose_a = true}, input{.transpose_b = true};

TEST(MatmulPanels, WideProductsAreCutInColumns) {
  const Panels panels = matmul_panels(plain, 512, 4096, 2);
  EXPECT_THAT(panels.rows, ElementsAre(Panel{0, 512}));
  EXPECT_THAT(panels.columns, ElementsAre(Panel{0, 2048}, Panel{2048, 2048}));
}

TEST(MatmulPanels, TallGradientsOfWeightsAreCutInRows) {
  const Panels panels = matmul_panels(weights, 5000, 300, 2);
  EXPECT_THAT(panels.rows, ElementsAre(Panel{0, 1728}, Panel{1728, 1728}, Panel{3456, 1544}));
  EXPECT_THAT(panels.columns, ElementsAre(Panel{0, 300}));
}

TEST(MatmulPanels, WhatPartsDoNotSpeedUpStaysWhole) {
  const auto whole = [](const MatmulAttributes& options, std::int64_t rows, std::int64_t columns, int threads) {
    const Panels panels = matmul_panels(options, rows, columns, threads);
    return panels.rows == std::vector{Panel{0, rows}} && panels.columns == std::vector{Panel{0, columns}};
  };
  EXPECT_TRUE(whole(input, 4096, 4096, 2));
  EXPECT_TRUE(whole(plain, 512, 2047, 2));
  EXPECT_TRUE(whole(weights, 2047, 4096, 2));
  EXPECT_TRUE(whole(plain, 16, 4096, 2));
  EXPECT_FALSE(whole(plain, 128, 4096, 2));
  EXPECT_TRUE(whole(plain, 128, 4096, 32));
}

TEST(PackedMatmul, LargeWeightsArePacked) {
  EXPECT_TRUE(packing_is_faster(plain, 8, 3072, 768));
  EXPECT_TRUE(packing_is_faster(plain, 1024, 768, 3072));
  EXPECT_TRUE(packing_is_faster(plain, 128, 1024, 1024));
  EXPECT_FALSE(packing_is_faster(plain, 64, 1024, 1024)) << "rows in few sets of the cache";
  EXPECT_FALSE(packing_is_faster(plain, 1024, 512, 512));
}

TEST(PackedMatmul, WideGradientsOfWeightsArePacked) {
  EXPECT_TRUE(packing_is_faster(weights, 768, 3072, 1024));
  EXPECT_TRUE(packing_is_faster(weights, 3072, 768, 32));
  EXPECT_FALSE(packing_is_faster(weights, 768, 768, 1024));
}

TEST(PackedMatmul, GradientsOfInputsAreNot) {
  EXPECT_FALSE(packing_is_faster(input, 1024, 3072, 768));
  EXPECT_FALSE(packing_is_faster({.transpose_a = true, .transpose_b = true}, 1024, 3072, 768));
}

// Version 2 goes back to the description of the product for each implementation.
TEST(Implementations, OneIsChosenByItsNameWhereItIs) {
  const auto matrix = [](std::int64_t rows, std::int64_t columns) {
    return dnnl::memory::desc({rows, columns}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::ab);
  };
  const auto name_of = [&](std::string_view wanted) {
    return std::string(describe_matmul(matrix(64, 768), matrix(768, 3072), nullptr, matrix(64, 3072),
                                       attributes_with(Activation::gelu), wanted)
                           .impl_info_str());
  };
  EXPECT_THAT(name_of("ref"), testing::HasSubstr("ref"));
  EXPECT_EQ(name_of("none that there is"), name_of({}));
}

}  // namespace
}  // namespace gpubench::cpu

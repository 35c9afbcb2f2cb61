#include "core/backend/cpu/matmul_panels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpubench::cpu {
namespace {

using testing::ElementsAre;

constexpr MatmulAttributes plain{}, weights{.transpose_a = true}, input{.transpose_b = true};

TEST(MatmulPanels, WideProductsAreCutInColumns) {
  const Panels panels = matmul_panels(plain, 512, 4096, Onto::nothing, 2);
  EXPECT_THAT(panels.rows, ElementsAre(Panel{0, 512}));
  EXPECT_THAT(panels.columns, ElementsAre(Panel{0, 2048}, Panel{2048, 2048}));
}

TEST(MatmulPanels, TallGradientsOfWeightsAreCutInRows) {
  const Panels panels = matmul_panels(weights, 5000, 300, Onto::nothing, 2);
  EXPECT_THAT(panels.rows, ElementsAre(Panel{0, 1728}, Panel{1728, 1728}, Panel{3456, 1544}));
  EXPECT_THAT(panels.columns, ElementsAre(Panel{0, 300}));
}

TEST(MatmulPanels, SumsAreCutFiner) {
  EXPECT_THAT(matmul_panels(weights, 1024, 1024, Onto::nothing, 2).rows, ElementsAre(Panel{0, 1024}));
  EXPECT_THAT(matmul_panels(weights, 1024, 1024, Onto::result, 2).rows, ElementsAre(Panel{0, 512}, Panel{512, 512}));
}

TEST(MatmulPanels, WhatPartsDoNotSpeedUpStaysWhole) {
  const auto whole = [](const MatmulAttributes& options, std::int64_t rows, std::int64_t columns, int threads) {
    const Panels panels = matmul_panels(options, rows, columns, Onto::nothing, threads);
    return panels.rows == std::vector{Panel{0, rows}} && panels.columns == std::vector{Panel{0, columns}};
  };
  EXPECT_TRUE(whole(input, 4096, 4096, 2));
  EXPECT_TRUE(whole(plain, 512, 2047, 2));
  EXPECT_TRUE(whole(weights, 2047, 4096, 2));
  EXPECT_TRUE(whole(plain, 16, 4096, 2));
  EXPECT_FALSE(whole(plain, 128, 4096, 2));
  EXPECT_TRUE(whole(plain, 128, 4096, 32));
}

}  // namespace
}  // namespace gpubench::cpu

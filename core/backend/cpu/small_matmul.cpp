#include "core/backend/cpu/small_matmul.h"

#include <algorithm>

#include "core/backend/cpu/loop_kernel.h"
#include "core/backend/cpu/onednn.h"
#include "core/backend/cpu/parallel.h"
#include "core/base/error.h"
#include "core/device/device.h"

namespace gpubench::cpu {
namespace {

// Measured on a Sapphire Rapids core pair with tests/bench (matmul_small): below this many multiplications sgemm takes
// 0.3 to 2.8 us where the primitive takes 0.6 to 3.2; the gradients of narrow layers (10 classes) gain up to a third.
constexpr std::int64_t few_multiplications = 64 * 64 * 64;
constexpr std::int64_t narrow_result = 32;
constexpr std::int64_t short_sum = 16;

struct Sizes {
  std::int64_t m, n, k;
};

Sizes sizes_of(const Matmul& op, const TensorType& a, const TensorType& c) {
  return {c.shape[0], c.shape[1], op.options.transpose_a ? a.shape[0] : a.shape[1]};
}

class SmallMatmulKernel final : public Kernel {
 public:
  SmallMatmulKernel(const MatmulAttributes& options, Sizes sizes, Onto onto)
      : options_(options), sizes_(sizes), beta_(onto == Onto::result ? 1.0F : 0.0F) {}

  std::string_view implementation() const override { return "onednn:sgemm"; }

  void run(Stream&, std::span<const TensorView> inputs, std::span<const TensorView> outputs,
           std::span<std::byte>) override {
    const auto [m, n, k] = sizes_;
    float* const c = outputs[0].as<float>();
    const dnnl_status_t status = dnnl_sgemm(options_.transpose_a ? 'T' : 'N', options_.transpose_b ? 'T' : 'N', m, n, k,
                                            1.0F, inputs[0].as<float>(), options_.transpose_a ? m : k,
                                            inputs[1].as<float>(), options_.transpose_b ? k : n, beta_, c, n);
    if (status != dnnl_success) throw DeviceError("oneDNN", "dnnl_sgemm", "failed at run time");
    if (options_.bias) add_bias(c, inputs[2].as<float>());
    if (options_.activation == Activation::relu) {
      for (std::int64_t i = 0; i < m * n; ++i) c[i] = c[i] > 0.0F ? c[i] : 0.0F;
    }
  }

 private:
  void add_bias(float* c, const float* bias) const {
    for (std::int64_t row = 0; row < sizes_.m; ++row, c += sizes_.n) {
      for (std::int64_t i = 0; i < sizes_.n; ++i) c[i] += bias[i];
    }
  }

  const MatmulAttributes options_;
  const Sizes sizes_;
  const float beta_;
};

// Measured against oneDNN's sgemm for 784 x 128 results (Zen 3, 2 threads): 8 against 41 us for 2 rows, 27 against 53
// for 16, 54 against 80 for 32; on one thread equal up to 16, and 1.4 times as slow for 32.
constexpr std::int64_t most_rows = 16;
// 2 rows of 4 vectors of sums, 4 vectors of b; 4 rows where there are registers for them.
constexpr std::int64_t row_block = vector_registers >= 32 ? 4 : 2;
constexpr std::int64_t vector_block = 4;

bool whole_vectors(const TensorType& a, const TensorType& b) {
  return a.shape[0] <= most_rows && b.shape[1] % lane_count == 0;
}

// Measured against sgemm (Zen 4, 2 threads): 128 x 10 results take 0.35 against 2.9 us for 1 row of a, 2.0 against 3.7
// for 32; 1024 x 10 take 29 against 41 for 128, and as long for 256. Two vectors are equal at 32 rows, and one column
// alone is a product of a matrix and a vector, where sgemm is faster.
bool narrow(const TensorType& a, const TensorType& b) {
  const std::int64_t columns = b.shape[1];
  return columns > 1 &&
         ((columns <= lane_count && a.shape[0] <= 128) || (columns <= 2 * lane_count && a.shape[0] <= 32));
}

template <Onto onto>
struct OuterProduct {
  std::int64_t terms, rows, columns;

  template <std::int64_t Rows>
  void rows_of_products(const float* a, const float* b, float* c) const {
    std::int64_t column = 0;
    for (; column + vector_block * lane_count <= columns; column += vector_block * lane_count)
      block_of_products<onto, Rows, vector_block>(terms, {a, 1, rows}, b + column, columns, c + column, columns);
    for (; column < columns; column += lane_count)
      block_of_products<onto, Rows, 1>(terms, {a, 1, rows}, b + column, columns, c + column, columns);
  }

  void operator()(std::int64_t first, std::int64_t last, const float* a, const float* b, float* c) const {
    std::int64_t row = first;
    for (; row + row_block <= last; row += row_block)
      this->template rows_of_products<row_block>(a + row, b, c + row * columns);
    for (; row < last; ++row) this->template rows_of_products<1>(a + row, b, c + row * columns);
  }
};

template <Onto onto>
std::unique_ptr<Kernel> plan_products(const TensorType& a, const TensorType& b) {
  const OuterProduct<onto> product{a.shape[0], a.shape[1], b.shape[1]};
  const std::int64_t results = product.rows * product.columns;
  const int threads = threads_for_stream(product.rows, 4 * results, 2 * results * product.terms);
  return loop_kernel([product, threads](Views inputs, Views outputs) {
    parallel_ranges(threads, product.rows, [&](int, std::int64_t first, std::int64_t last) {
      product(first, last, inputs[0].as<float>(), inputs[1].as<float>(), outputs[0].as<float>());
    });
  });
}

/// c = a^T b of few columns: rows of b are padded to whole vectors.
template <Onto onto, std::int64_t Vectors>
struct NarrowProduct {
  static constexpr std::int64_t width = Vectors * lane_count;
  static constexpr std::int64_t rows_at_once = (vector_registers >= 32 ? 16 : 8) / Vectors;
  std::int64_t terms, rows, columns;

  void pad(const float* b, float* padded) const {
    for (std::int64_t term = 0; term < terms; ++term, b += columns, padded += width)
      std::fill_n(std::copy_n(b, columns, padded), width - columns, 0.0F);
  }

  /// Rows [first, last) of c. A row is stored with its padding, which the next one overwrites; where none follows, or
  /// where the product is added, through a buffer.
  void operator()(std::int64_t first, std::int64_t last, const float* a, const float* padded, float* c) const {
    const auto take = [&]<std::int64_t Rows>(std::int64_t row) {
      float* const to = c + row * columns;
      if (onto == Onto::nothing && (last - row - Rows) * columns >= width - columns)
        return block_of_products<Onto::nothing, Rows, Vectors>(terms, {a + row, 1, rows}, padded, width, to, columns);
      float results[Rows * width];
      block_of_products<Onto::nothing, Rows, Vectors>(terms, {a + row, 1, rows}, padded, width, results, width);
      for (std::int64_t i = 0; i < Rows; ++i) {
        for (std::int64_t column = 0; column < columns; ++column) {
          float& result = to[i * columns + column];
          result = results[i * width + column] + (onto == Onto::result ? result : 0.0F);
        }
      }
    };
    std::int64_t row = first;
    for (; row + rows_at_once <= last; row += rows_at_once) take.template operator()<rows_at_once>(row);
    for (; row < last; ++row) take.template operator()<1>(row);
  }
};

template <class Product>
std::unique_ptr<Kernel> plan_narrow(const TensorType& a, const TensorType& b) {
  const Product product{a.shape[0], a.shape[1], b.shape[1]};
  const std::int64_t results = product.rows * Product::width;
  const int threads = threads_for_stream(product.rows, 4 * (results + a.elements()), 2 * results * product.terms);
  const auto run = [product, threads](Views inputs, Views outputs, std::span<std::byte> workspace) {
    float* const padded = reinterpret_cast<float*>(workspace.data());
    product.pad(inputs[1].as<float>(), padded);
    parallel_ranges(threads, product.rows, [&](int, std::int64_t first, std::int64_t last) {
      product(first, last, inputs[0].as<float>(), padded, outputs[0].as<float>());
    });
  };
  return loop_kernel(run, sizeof(float) * static_cast<std::size_t>(product.terms * Product::width));
}

template <Onto onto>
std::unique_ptr<Kernel> plan_outer_product(const TensorType& a, const TensorType& b) {
  if (whole_vectors(a, b)) return plan_products<onto>(a, b);
  if (b.shape[1] <= lane_count) return plan_narrow<NarrowProduct<onto, 1>>(a, b);
  return plan_narrow<NarrowProduct<onto, 2>>(a, b);
}

}  // namespace

bool small_matmul_is_faster(const Matmul& op, const TensorType& a, const TensorType& c) {
  if (a.dtype != Dtype::f32 || a.rank() != 2 || c.rank() != 2) return false;
  const bool simple_epilogue = op.options.activation == Activation::none || op.options.activation == Activation::relu;
  const auto [m, n, k] = sizes_of(op, a, c);
  if (!simple_epilogue || m * n * k == 0) return false;
  if (m * n * k <= few_multiplications) return k > 1 || m * n <= few_multiplications / 64;
  const bool plain = !op.options.bias && op.options.activation == Activation::none;
  return plain && k > 1 && ((op.options.transpose_a && n <= narrow_result) || k <= short_sum);
}

std::unique_ptr<Kernel> plan_small_matmul(const Matmul& op, const TensorType& a, const TensorType& c, Onto onto,
                                          Device& device) {
  device.bind_to_thread();
  return std::make_unique<SmallMatmulKernel>(op.options, sizes_of(op, a, c), onto);
}

bool outer_product_applies(const MatmulAttributes& options, const TensorType& a, const TensorType& b) {
  return a.dtype == Dtype::f32 && a.rank() == 2 && b.rank() == 2 && options.transpose_a && !options.transpose_b &&
         !options.bias && options.activation == Activation::none && (whole_vectors(a, b) || narrow(a, b));
}

std::unique_ptr<Kernel> plan_outer_product(const TensorType& a, const TensorType& b, Onto onto, Device& device) {
  device.bind_to_thread();
  return onto == Onto::result ? plan_outer_product<Onto::result>(a, b) : plan_outer_product<Onto::nothing>(a, b);
}

}  // namespace gpubench::cpu

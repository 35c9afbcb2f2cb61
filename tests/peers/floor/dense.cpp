#include "tests/peers/floor/dense.h"

#include <oneapi/dnnl/dnnl.hpp>

#include "tests/peers/floor/primitive.h"

namespace gpubench::peers {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Pieces = std::vector<PieceFactory>;

memory::desc plain(const memory::dims& dims, Tag tag) {
  return {dims, memory::data_type::f32, tag};
}

dnnl::primitive_attr relu_after(bool relu) {
  dnnl::primitive_attr attributes;
  if (!relu) return attributes;
  dnnl::post_ops after;
  after.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
  attributes.set_post_ops(after);
  return attributes;
}

/// c[m, n] = a[m, k] b[k, n] (+ bias[n]); the tags say whether an operand lies transposed in memory.
PieceFactory product(memory::dims mkn, Tag a, Tag b, bool bias, bool relu) {
  return [=](int) {
    const auto m = mkn[0], k = mkn[1], n = mkn[2];
    const auto attributes = relu_after(relu);
    const auto description =
        bias ? dnnl::matmul::desc(plain({m, k}, a), plain({k, n}, b), plain({1, n}, Tag::ab), plain({m, n}, Tag::ab))
             : dnnl::matmul::desc(plain({m, k}, a), plain({k, n}, b), plain({m, n}, Tag::ab));
    const dnnl::matmul::primitive_desc planned(description, attributes, engine());
    Arguments arguments = {{DNNL_ARG_SRC, planned.src_desc()},
                           {DNNL_ARG_WEIGHTS, planned.weights_desc()},
                           {DNNL_ARG_DST, planned.dst_desc()}};
    if (bias) arguments.emplace_back(DNNL_ARG_BIAS, planned.bias_desc());
    return primitive_piece("matmul", dnnl::matmul(planned), arguments);
  };
}

dnnl::inner_product_forward::primitive_desc plan_forward(const DenseSize& size) {
  return {{dnnl::prop_kind::forward_training, plain({size.batch, size.in}, Tag::nc),
           plain({size.out, size.in}, Tag::any), plain({size.out}, Tag::a), plain({size.batch, size.out}, Tag::nc)},
          relu_after(size.relu),
          engine()};
}

Piece inner_product(const DenseSize& size) {
  const auto planned = plan_forward(size);
  return primitive_piece("inner product", dnnl::inner_product_forward(planned),
                         {{DNNL_ARG_SRC, planned.src_desc()},
                          {DNNL_ARG_WEIGHTS, planned.weights_desc()},
                          {DNNL_ARG_BIAS, planned.bias_desc()},
                          {DNNL_ARG_DST, planned.dst_desc()}});
}

Piece inner_product_input_gradient(const DenseSize& size) {
  const dnnl::inner_product_backward_data::desc description(plain({size.batch, size.in}, Tag::nc),
                                                            plain({size.out, size.in}, Tag::any),
                                                            plain({size.batch, size.out}, Tag::nc));
  const dnnl::inner_product_backward_data::primitive_desc planned(description, engine(), plan_forward(size));
  return primitive_piece("inner product", dnnl::inner_product_backward_data(planned),
                         {{DNNL_ARG_DIFF_DST, planned.diff_dst_desc()},
                          {DNNL_ARG_WEIGHTS, planned.weights_desc()},
                          {DNNL_ARG_DIFF_SRC, planned.diff_src_desc()}});
}

Piece inner_product_kernel_gradient(const DenseSize& size) {
  const dnnl::inner_product_backward_weights::desc description(
      plain({size.batch, size.in}, Tag::nc), plain({size.out, size.in}, Tag::any), plain({size.out}, Tag::a),
      plain({size.batch, size.out}, Tag::nc));
  const dnnl::inner_product_backward_weights::primitive_desc planned(description, engine(), plan_forward(size));
  return primitive_piece("inner product", dnnl::inner_product_backward_weights(planned),
                         {{DNNL_ARG_SRC, planned.src_desc()},
                          {DNNL_ARG_DIFF_DST, planned.diff_dst_desc()},
                          {DNNL_ARG_DIFF_WEIGHTS, planned.diff_weights_desc()},
                          {DNNL_ARG_DIFF_BIAS, planned.diff_bias_desc()}});
}

}  // namespace

std::vector<Piece> dense_pieces(const std::string& layer, const DenseSize& size, bool first, const Teams& teams,
                                Seconds budget) {
  const auto batch = size.batch, in = size.in, out = size.out;
  std::vector<Piece> pieces;
  pieces.push_back(
      fastest(layer + " forward",
              {product({batch, in, out}, Tag::ab, Tag::ab, true, size.relu),
               product({batch, in, out}, Tag::ab, Tag::any, true, size.relu), [=](int) { return inner_product(size); }},
              teams, budget));
  pieces.push_back(fastest(layer + " kernel gradient",
                           {product({in, batch, out}, Tag::ba, Tag::ab, false, false),
                            product({out, batch, in}, Tag::ba, Tag::ab, false, false),
                            [=](int) { return inner_product_kernel_gradient(size); }},
                           teams, budget));
  if (first) return pieces;
  pieces.push_back(fastest(layer + " input gradient",
                           {product({batch, out, in}, Tag::ab, Tag::ba, false, false),
                            product({batch, out, in}, Tag::ab, Tag::any, false, false),
                            [=](int) { return inner_product_input_gradient(size); }},
                           teams, budget));
  return pieces;
}

}  // namespace gpubench::peers

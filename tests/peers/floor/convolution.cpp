#include "tests/peers/floor/convolution.h"

#include <oneapi/dnnl/dnnl.hpp>

#include "tests/peers/floor/primitive.h"

namespace gpubench::peers {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

memory::desc described(const memory::dims& dims, Tag tag) {
  return {dims, memory::data_type::f32, tag};
}

dnnl::convolution_forward::primitive_desc plan_convolution(const ConvolutionSize& size, bool blocked) {
  dnnl::post_ops after;
  after.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(after);
  const auto out = size.out_side();
  const dnnl::convolution_forward::desc description(
      dnnl::prop_kind::forward_training, dnnl::algorithm::convolution_direct,
      described({size.batch, size.channels, size.side, size.side}, Tag::nhwc),
      described({size.filters, size.channels, size.kernel, size.kernel}, Tag::any), described({size.filters}, Tag::a),
      described({size.batch, size.filters, out, out}, blocked ? Tag::any : Tag::nhwc), {1, 1}, {0, 0}, {0, 0});
  return {description, attributes, engine()};
}

dnnl::pooling_forward::primitive_desc plan_pooling(const ConvolutionSize& size, const memory::desc& activations) {
  const auto pooled = size.pooled_side();
  const dnnl::pooling_forward::desc description(
      dnnl::prop_kind::forward_training, dnnl::algorithm::pooling_max, activations,
      described({size.batch, size.filters, pooled, pooled}, Tag::any), {2, 2}, {2, 2}, {0, 0}, {0, 0});
  return {description, engine()};
}

}  // namespace

std::vector<Piece> convolution_pieces(const ConvolutionSize& size, bool blocked, const Teams& teams, Seconds budget) {
  const std::string format = blocked ? "own format" : "nhwc";
  const auto convolution = plan_convolution(size, blocked);
  const auto activations = convolution.dst_desc();
  const auto pooling = plan_pooling(size, activations);

  const PieceFactory forward = [=](int) {
    const auto planned = plan_convolution(size, blocked);
    return primitive_piece("convolution, " + format, dnnl::convolution_forward(planned),
                           Arguments{{DNNL_ARG_SRC, planned.src_desc()},
                                     {DNNL_ARG_WEIGHTS, planned.weights_desc()},
                                     {DNNL_ARG_BIAS, planned.bias_desc()},
                                     {DNNL_ARG_DST, planned.dst_desc()}});
  };
  // The workspace of the forward pooling tells the backward one where each maximum was, so they share memory.
  auto pooled = allocate({{DNNL_ARG_SRC, activations},
                          {DNNL_ARG_DST, pooling.dst_desc()},
                          {DNNL_ARG_WORKSPACE, pooling.workspace_desc()},
                          {DNNL_ARG_DIFF_DST, pooling.dst_desc()},
                          {DNNL_ARG_DIFF_SRC, activations}});
  const PieceFactory pool = [=](int) {
    const auto planned = plan_pooling(size, activations);
    return primitive_piece("pooling, " + format, dnnl::pooling_forward(planned),
                           {{DNNL_ARG_SRC, pooled.at(DNNL_ARG_SRC)},
                            {DNNL_ARG_DST, pooled.at(DNNL_ARG_DST)},
                            {DNNL_ARG_WORKSPACE, pooled.at(DNNL_ARG_WORKSPACE)}});
  };
  const PieceFactory pool_gradient = [=](int) {
    const auto ahead = plan_pooling(size, activations);
    const dnnl::pooling_backward::desc description(dnnl::algorithm::pooling_max, activations, ahead.dst_desc(), {2, 2},
                                                   {2, 2}, {0, 0}, {0, 0});
    const dnnl::pooling_backward::primitive_desc planned(description, engine(), ahead);
    return primitive_piece("pooling, " + format, dnnl::pooling_backward(planned),
                           {{DNNL_ARG_DIFF_DST, pooled.at(DNNL_ARG_DIFF_DST)},
                            {DNNL_ARG_WORKSPACE, pooled.at(DNNL_ARG_WORKSPACE)},
                            {DNNL_ARG_DIFF_SRC, pooled.at(DNNL_ARG_DIFF_SRC)}});
  };
  const PieceFactory filter_gradient = [=](int) {
    const auto ahead = plan_convolution(size, blocked);
    const dnnl::convolution_backward_weights::desc description(
        dnnl::algorithm::convolution_direct, ahead.src_desc(),
        described({size.filters, size.channels, size.kernel, size.kernel}, Tag::any), described({size.filters}, Tag::a),
        activations, {1, 1}, {0, 0}, {0, 0});
    const dnnl::convolution_backward_weights::primitive_desc planned(description, engine(), ahead);
    return primitive_piece("convolution, " + format, dnnl::convolution_backward_weights(planned),
                           Arguments{{DNNL_ARG_SRC, planned.src_desc()},
                                     {DNNL_ARG_DIFF_DST, planned.diff_dst_desc()},
                                     {DNNL_ARG_DIFF_WEIGHTS, planned.diff_weights_desc()},
                                     {DNNL_ARG_DIFF_BIAS, planned.diff_bias_desc()}});
  };
  return {fastest("convolution forward", {forward}, teams, budget), fastest("pooling forward", {pool}, teams, budget),
          fastest("pooling gradient", {pool_gradient}, teams, budget),
          fastest("convolution filter gradient", {filter_gradient}, teams, budget)};
}

}  // namespace gpubench::peers

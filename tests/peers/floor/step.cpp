#include "tests/peers/floor/step.h"

#include <iterator>
#include <numeric>
#include <stdexcept>

#include "tests/peers/floor/adam.h"
#include "tests/peers/floor/convolution.h"
#include "tests/peers/floor/dense.h"

namespace gpubench::peers {
namespace {

constexpr std::int64_t pixels = 784;
constexpr std::int64_t classes = 10;

void append(std::vector<Piece>& pieces, std::vector<Piece> more) {
  pieces.insert(pieces.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::vector<Piece> perceptron(std::int64_t batch, const std::vector<std::int64_t>& hidden, const Teams& teams,
                              Seconds budget) {
  std::vector<Piece> pieces;
  std::int64_t in = pixels;
  std::int64_t parameters = 0;
  for (std::size_t layer = 0; layer <= hidden.size(); ++layer) {
    const bool last = layer == hidden.size();
    const auto out = last ? classes : hidden[layer];
    append(pieces,
           dense_pieces("dense_" + std::to_string(layer + 1), {batch, in, out, !last}, layer == 0, teams, budget));
    parameters += (in + 1) * out;
    in = out;
  }
  pieces.push_back(adam_piece(parameters, teams, budget));
  return pieces;
}

Seconds total(const std::vector<Piece>& pieces) {
  return std::accumulate(pieces.begin(), pieces.end(), Seconds{0},
                         [](Seconds sum, const Piece& piece) { return sum + piece.alone.minimum; });
}

std::vector<Piece> small_convolutional(std::int64_t batch, const Teams& teams, Seconds budget) {
  const ConvolutionSize size{batch, 28, 1, 32, 3};
  auto pieces = convolution_pieces(size, true, teams, budget);
  auto plain = convolution_pieces(size, false, teams, budget);
  if (total(plain) < total(pieces)) pieces = std::move(plain);
  const auto flat = size.pooled_side() * size.pooled_side() * size.filters;
  append(pieces, dense_pieces("dense", {batch, flat, classes, false}, false, teams, budget));
  const auto filter = size.kernel * size.kernel * size.channels * size.filters + size.filters;
  pieces.push_back(adam_piece(filter + (flat + 1) * classes, teams, budget));
  return pieces;
}

}  // namespace

Step fastest_step(const std::string& model, std::int64_t batch, int threads, Seconds budget) {
  std::vector<Teams> choices{{1}};
  if (threads > 1) choices.insert(choices.end(), {{threads}, {1, threads}});
  Step best;
  for (const Teams& teams : choices) {
    Step step{step_pieces(model, batch, teams, budget), {}};
    step.time = time_sequence(step.pieces, 5 * budget);
    if (best.pieces.empty() || step.time.median < best.time.median) best = std::move(step);
  }
  return best;
}

std::vector<Piece> step_pieces(const std::string& model, std::int64_t batch, const Teams& teams, Seconds budget) {
  if (model == "M1") return perceptron(batch, {128}, teams, budget);
  if (model == "M2") return perceptron(batch, {1024, 1024, 1024}, teams, budget);
  if (model == "M3") return small_convolutional(batch, teams, budget);
  throw std::invalid_argument("floor: model '" + model + "' is not one of M1, M2, M3");
}

}  // namespace gpubench::peers

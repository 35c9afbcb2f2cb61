#include "tests/peers/floor/piece.h"

#include <algorithm>
#include <omp.h>
#include <stdexcept>
#include <utility>

namespace gpubench::peers {
namespace {

constexpr std::size_t minimum_samples = 20;

void run_piece(const Piece& piece) {
  omp_set_num_threads(piece.threads);
  piece.run();
}

}  // namespace

Timing time_repeated(const std::function<void()>& run, Seconds budget) {
  for (Stopwatch warm; warm.elapsed() < budget / 5;) run();
  std::vector<Seconds> samples;
  Stopwatch total;
  while (samples.size() < minimum_samples || total.elapsed() < budget) {
    Stopwatch one;
    run();
    samples.push_back(one.elapsed());
  }
  std::sort(samples.begin(), samples.end());
  return {samples.front(), samples[samples.size() / 2]};
}

Piece fastest(const std::string& name, const std::vector<PieceFactory>& ways, const Teams& teams, Seconds budget) {
  Piece best;
  const auto attempt = [&](const PieceFactory& make, int team) {
    omp_set_num_threads(team);
    Piece piece = make(team);
    if (!piece.run) return;
    piece.name = name;
    piece.threads = team;
    piece.alone = time_repeated([&] { run_piece(piece); }, budget);
    if (!best.run || piece.alone.minimum < best.alone.minimum) best = std::move(piece);
  };
  for (const auto& make : ways) {
    for (const int team : teams) attempt(make, team);
  }
  if (!best.run) throw std::runtime_error("floor: oneDNN has no primitive for " + name);
  return best;
}

Timing time_sequence(const std::vector<Piece>& pieces, Seconds budget) {
  return time_repeated([&] { std::for_each(pieces.begin(), pieces.end(), run_piece); }, budget);
}

}  // namespace gpubench::peers

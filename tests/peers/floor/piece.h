// One call of a training step that can be timed alone. What can be done in several ways (formats, thread counts) is
// tried in all of them and the fastest stays: a floor that a better choice could undercut would be no floor.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "core/base/clock.h"

namespace gpubench::peers {

struct Timing {
  Seconds minimum{0};
  Seconds median{0};
};

struct Piece {
  std::string name;  ///< "dense_1 forward"
  std::string how;   ///< "inner product, 2 threads"
  int threads = 1;
  std::function<void()> run;  ///< everything is planned and allocated; may be called any number of times
  Timing alone;
};

/// Runs `run` for at least `budget` and 20 times, after a warm-up of a fifth of it.
Timing time_repeated(const std::function<void()>& run, Seconds budget);

/// Makes a piece for a number of threads; empty when the library has no such primitive.
using PieceFactory = std::function<Piece(int threads)>;

/// Numbers of threads that a piece may have.
using Teams = std::vector<int>;

/// Times every way with each of `teams`, and returns the one with the smallest minimum, which a busy machine disturbs
/// least.
Piece fastest(const std::string& name, const std::vector<PieceFactory>& ways, const Teams& teams, Seconds budget);

/// The pieces one after the other, as a step runs them.
Timing time_sequence(const std::vector<Piece>& pieces, Seconds budget);

}  // namespace gpubench::peers

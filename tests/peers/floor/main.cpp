// peers_floor --model M1 --batch 32: what a step's vendor calls and its update cost alone, as one line of JSON.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/peers/floor/step.h"

namespace {

using gpubench::Seconds;
using gpubench::peers::Piece;
using gpubench::peers::Timing;

struct Arguments {
  std::string model = "M1";
  std::int64_t batch = 32;
  int threads = 2;
  double seconds = 0.2;
  bool table = false;
};

void print_table(const std::vector<Piece>& pieces, const Timing& step) {
  constexpr double micro = 1e6;
  const auto row = [](const std::string& name, const std::string& how, const Timing& time) {
    fmt::print("{:<28} {:<32} {:>12.1f} {:>12.1f}\n", name, how, time.minimum.count() * micro,
               time.median.count() * micro);
  };
  fmt::print("{:<28} {:<32} {:>12} {:>12}\n", "piece", "how", "min us", "median us");
  for (const auto& piece : pieces)
    row(piece.name, fmt::format("{}, {} threads", piece.how, piece.threads), piece.alone);
  row("all in turn", "", step);
}

nlohmann::json as_json(const Arguments& arguments, const std::vector<Piece>& pieces, const Timing& step) {
  auto list = nlohmann::json::array();
  for (const auto& piece : pieces) {
    list.push_back({{"name", piece.name},
                    {"how", piece.how},
                    {"threads", piece.threads},
                    {"minimum_s", piece.alone.minimum.count()},
                    {"median_s", piece.alone.median.count()}});
  }
  return {{"system", "floor"},
          {"model", arguments.model},
          {"batch_size", arguments.batch},
          {"threads", arguments.threads},
          {"step_time_min_s", step.minimum.count()},
          {"step_time_s", step.median.count()},
          {"pieces", list}};
}

int run(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("The bare floor of a training step: oneDNN's calls and the update, each in its fastest form");
  app.add_option("--model", arguments.model, "M1, M2 or M3");
  app.add_option("--batch", arguments.batch, "examples a step")->check(CLI::PositiveNumber);
  app.add_option("--threads", arguments.threads, "most threads a call may use")->check(CLI::PositiveNumber);
  app.add_option("--seconds", arguments.seconds, "time for each form of each call")->check(CLI::PositiveNumber);
  app.add_flag("--table", arguments.table, "print a table instead of JSON");
  CLI11_PARSE(app, argc, argv);

  const Seconds budget(arguments.seconds);
  const auto step = gpubench::peers::fastest_step(arguments.model, arguments.batch, arguments.threads, budget);
  if (arguments.table) {
    print_table(step.pieces, step.time);
  } else {
    fmt::print("{}\n", as_json(arguments, step.pieces, step.time).dump());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "peers_floor: %s\n", error.what());
    return 2;
  }
}

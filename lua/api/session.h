// The state of a running script besides Lua: the command line's options, its devices, seeds and types, and how long it
// may measure.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/split_mix.h"
#include "core/experiment/kernels/copy_peak.h"
#include "core/experiment/kernels/matmul_peak.h"
#include "core/measure/activity.h"
#include "core/measure/stopping_rule.h"
#include "core/report/text/progress_line.h"
#include "core/run/unfinished_runs.h"
#include "lua/api/open_iterators.h"
#include "lua/api/placement.h"

namespace gpubench::lua {

struct SessionOptions {
  int threads = 0;                  ///< --threads, over all processes on this machine; 0: one per core
  std::uint64_t seed = 42;          ///< --seed
  std::optional<DeviceId> device;   ///< --device: the device outside of device scopes
  double budget_s = 2.0;            ///< --budget: seconds of measuring per point
  std::optional<double> timeout_s;  ///< --timeout: limit in seconds for a point
  bool quick = false;               ///< --quick
  std::string out = ".";            ///< --out: location of results/ and plots/
  std::string
      restart_from;  ///< --restart-from: file from which trainings with `resume` continue; empty: their own file
  std::vector<std::string> arguments;  ///< the command line, for run.json
  std::string script;                  ///< path of the script
  std::string script_text;             ///< what it holds
};

/// The steps of one strategy in strategy:run.
struct ReplicaSteps {
  ReplicasPtr replicas;
  /// For the latest step: rows over all processes divided by this process's rows.
  double rows_of_all = 1;
};

/// How long measurements and points may take, in seconds.
struct Budgets {
  double point_s = 2.0;             ///< of measuring per point
  std::optional<double> timeout_s;  ///< limit for a point
  /// A point's share in one of its several rounds; none where it is measured once.
  std::optional<double> round_s = std::nullopt;

  /// For a call of the script's `run`.
  double measuring_s() const { return round_s.value_or(point_s); }
  /// In rounds a point is measured several times, and their scatter tells how far its figures can be relied on.
  Scatter scatter() const { return round_s ? Scatter::of_rounds : Scatter::judged; }
};

/// The seeds of a script's initializers, random ops and shuffles: a sequence that one number determines.
class RandomState {
 public:
  explicit RandomState(std::uint64_t seed) : seed_(seed), kept_(seed) {}

  /// Set by gb.config.set_seed, and per point.
  std::uint64_t seed() const { return seed_; }
  void set_seed(std::uint64_t seed) { seed_ = seed, given_ = 0; }
  /// A separate seed for each layer or random op; the same sequence after every set_seed().
  std::uint64_t next_seed() { return split_mix(seed_ + split_mix_step * ++given_); }
  /// For functions that are called twice and compared: next_seed() repeats from the remembered position.
  std::uint64_t seeds_given() const { return given_; }
  void give_seeds_again(std::uint64_t from) { given_ = from; }

  void restart() { given_ = 0; }
  /// From now on reset() restores the current seed.
  void keep() { kept_ = seed_; }
  void reset() { set_seed(kept_); }

 private:
  std::uint64_t seed_, kept_;
  std::uint64_t given_ = 0;
};

/// The types of layers created from now on, set by gb.config; reset per point.
struct LayerTypes {
  Dtype floatx = Dtype::f32;
  std::optional<std::string> policy = std::nullopt;  ///< none: that of floatx

  std::string dtype_policy() const { return policy.value_or(std::string(to_string(floatx))); }
};

class Session {
 public:
  /// `group`: the processes that run the script together; nullptr for a single process.
  explicit Session(SessionOptions options, std::unique_ptr<ProcessGroup> group = nullptr);

  const SessionOptions& options() const { return options_; }
  ProcessGroup* group() const { return group_.get(); }
  /// The argument of --restart-from, for a training that continues from it.
  const std::string& take_restart_from() {
    restart_taken_ = true;
    return options_.restart_from;
  }
  /// Whether --restart-from is given but unused.
  bool ignores_restart() const { return !options_.restart_from.empty() && !restart_taken_; }

  /// From now on reset() restores the current settings instead of the command line's.
  void keep_configuration();
  /// Between a script's top level and the `run` of its experiment: releases the devices, so that `run` may configure
  /// them, and restarts the seed; all settings stay.
  void begin_run();
  /// Ends a point: resets seed and types, and releases the devices with their configuration unless a living object was
  /// made for them. Does nothing while memory is in use.
  void reset();

 private:
  SessionOptions options_;
  bool restart_taken_ = false;
  std::unique_ptr<ProcessGroup> group_;
  LayerTypes kept_types_;

 public:
  OpenIterators open_iterators;
  /// The runs that this process writes.
  UnfinishedRuns unfinished_runs;
  /// What the point that runs is doing, which the line shows.
  Activity activity;
  ProgressLine progress_line;
  Placement placement;
  RandomState random;
  LayerTypes types;
  Budgets budgets;
  /// The reference for rates, measured at its first use; kept over all points.
  MatmulPeak matmul_peak;
  CopyPeak copy_peak;
  /// Where strategy:run records each step, one entry per strategy; null outside of gb.measure.loop. Only that
  /// measurement reads the entries: no step depends on them.
  std::vector<ReplicaSteps>* replica_steps = nullptr;
  /// Whether the script lets Lua collect garbage; known while the program's own code runs, in which it does not.
  bool script_collects = true;
};

/// The session must outlive the Lua state.
void set_session(lua_State* L, Session& session);
/// Before the state is closed: finalizers that run then find no session, since what they make would outlive its
/// devices.
void end_session(lua_State* L);
Session& session_of(lua_State* L);
/// For as long as no script's function is called: an experiment that it declares may replace the world, so that what
/// goes on in this one afterwards holds its pointer.
inline World& world_of(lua_State* L) {
  return *session_of(L).placement.world();
}

}  // namespace gpubench::lua

// gb.measure.scaling_model: step times on many replicas, predicted from what few have shown.
#include "core/experiment/collectives/scaling_model.h"
#include "lua/api/openers.h"
#include "lua/api/results_values.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

/// Reads one column, because a row of results has many more columns than needed.
double number_in_row(lua_State* L, int row, const char* column) {
  const int type = lua_getfield(L, row, column);
  const double value = lua_tonumber(L, -1);
  lua_pop(L, 1);
  if (type != LUA_TNUMBER) throw ArgumentError(std::string("a row needs the number '") + column + "'");
  return value;
}

int replicas_in_row(lua_State* L, int row) {
  lua_getfield(L, row, "replicas");
  if (!Value<int>::matches(L, -1)) throw ArgumentError("a row needs the whole number 'replicas'");
  const int replicas = Value<int>::read(L, -1);
  lua_pop(L, 1);
  return replicas;
}

}  // namespace

template <>
struct Value<ExchangePattern> : TextValue<ExchangePattern, &parse_exchange_pattern> {};

/// A row of gb.measure.collective.
template <>
struct Value<MeasuredAllReduce> {
  static std::string expected() { return "row with replicas, message_bytes and collective_time_s"; }
  static bool matches(lua_State* L, int index) { return lua_istable(L, index); }
  static MeasuredAllReduce read(lua_State* L, int index) {
    if (!matches(L, index)) mismatch(L, index, expected());
    const int row = lua_absindex(L, index);
    if (lua_getfield(L, row, "op") == LUA_TSTRING && Value<std::string>::read(L, -1) != "all_reduce")
      throw ArgumentError("rows of all_reduce are expected, got one of " + Value<std::string>::read(L, -1));
    lua_pop(L, 1);
    return {replicas_in_row(L, row),
            {number_in_row(L, row, "message_bytes"), number_in_row(L, row, "collective_time_s")}};
  }
};

/// A row of gb.measure.training.
template <>
struct Value<MeasuredStep> {
  static std::string expected() { return "row with replicas and step_time_s"; }
  static bool matches(lua_State* L, int index) { return lua_istable(L, index); }
  static MeasuredStep read(lua_State* L, int index) {
    if (!matches(L, index)) mismatch(L, index, expected());
    const int row = lua_absindex(L, index);
    return {replicas_in_row(L, row), number_in_row(L, row, "step_time_s")};
  }
};

namespace {

struct ScalingTable {
  std::vector<MeasuredAllReduce> collectives;
  double step_time_s = 0, gradient_bytes = 0;
  std::optional<int> fit_up_to;
  ExchangePattern pattern = ExchangePattern::ring;
  std::optional<double> bucket_bytes, overlap, backward_share;
  std::optional<std::vector<int>> replicas;
  std::vector<MeasuredStep> measured;
  static constexpr auto fields = std::tuple{required("collectives", &ScalingTable::collectives),
                                            required("step_time_s", &ScalingTable::step_time_s),
                                            required("gradient_bytes", &ScalingTable::gradient_bytes),
                                            field("fit_up_to", &ScalingTable::fit_up_to),
                                            field("pattern", &ScalingTable::pattern),
                                            field("bucket_bytes", &ScalingTable::bucket_bytes),
                                            field("overlap", &ScalingTable::overlap),
                                            field("backward_share", &ScalingTable::backward_share),
                                            field("replicas", &ScalingTable::replicas),
                                            field("measured", &ScalingTable::measured)};
};

constexpr int most_replicas = 4096;

ScalingInputs inputs_from(ScalingTable table) {
  ScalingInputs inputs{.all_reduces = std::move(table.collectives),
                       .fit_up_to = table.fit_up_to,
                       .pattern = table.pattern,
                       .step_seconds = table.step_time_s,
                       .gradient_bytes = table.gradient_bytes,
                       .bucket_bytes = table.bucket_bytes,
                       .steps = std::move(table.measured)};
  if (table.overlap) inputs.overlap = *table.overlap;
  if (table.backward_share) inputs.backward_share = *table.backward_share;
  if (table.replicas)
    inputs.replicas = std::move(*table.replicas);
  else
    for (int replicas = 2; replicas <= most_replicas; replicas *= 2) inputs.replicas.push_back(replicas);
  return inputs;
}

Record to_record(const PredictedStep& step) {
  Record record{{"replicas", std::int64_t{step.replicas}},
                {"all_reduce_s", step.all_reduce},
                {"hidden_s", step.hidden},
                {"predicted_step_time_s", step.weak_step},
                {"weak_efficiency", step.weak_efficiency},
                {"strong_step_time_s", step.strong_step},
                {"strong_efficiency", step.strong_efficiency},
                {"detail", "no shares: the step is predicted"}};
  if (step.measured_step) {
    record.set("measured_step_time_s", *step.measured_step);
    record.set("prediction_error_share", prediction_error(step.weak_step, *step.measured_step));
  }
  return record;
}

Record to_record(const PredictedAllReduce& one) {
  const auto& [replicas, time] = one.measured;
  return {{"replicas", std::int64_t{replicas}},
          {"message_bytes", time.bytes},
          {"collective_time_s", time.seconds},
          {"predicted_time_s", one.seconds},
          {"prediction_error_share", prediction_error(one.seconds, time.seconds)},
          {"detail", "no shares: one collective is predicted, not a step"}};
}

Record to_record(const AllReduceCurve& curve) {
  Record record{{"replicas", std::int64_t{curve.ranks()}}, {"latency_s", curve.latency()}};
  if (curve.seconds_per_byte() > 0) record.set("bytes_per_s", 1 / curve.seconds_per_byte());
  return record;
}

/// Sets a field of the table on top to an array of rows.
template <class T>
void set_rows(lua_State* L, const char* name, const std::vector<T>& values) {
  std::vector<Record> records;
  for (const T& value : values) records.push_back(to_record(value));
  Value<std::vector<Record>>::push(L, records);
  lua_setfield(L, -2, name);
}

int scaling_model(lua_State* L) {
  const ScalingModel model(inputs_from(Value<ScalingTable>::read(L, 1)));
  lua_newtable(L);
  set_rows(L, "rows", model.steps());
  set_rows(L, "collectives", model.all_reduces());
  set_rows(L, "curves", model.curves());
  Value<std::vector<std::string>>::push(L, model.assumptions());
  lua_setfield(L, -2, "assumptions");
  return 1;
}

}  // namespace

void open_measure_scaling(lua_State* L) {
  const Module gb = Module::root(L);
  gb.submodule("measure").function<&scaling_model, 1>("scaling_model");
}

}  // namespace gpubench::lua

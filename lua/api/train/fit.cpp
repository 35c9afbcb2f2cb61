// The methods of a model that train and use it: fit, evaluate, predict.
#include "core/train/fit/fit.h"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/data/stage/batch.h"
#include "core/data/stage/by_position.h"
#include "core/train/batch_size_search.h"
#include "core/train/fit/callbacks.h"
#include "lua/api/data/dataset.h"
#include "lua/api/output_path.h"
#include "lua/api/tensor/tensor.h"
#include "lua/api/train/by_name.h"
#include "lua/api/train/callbacks.h"
#include "lua/api/train/fit_data.h"
#include "lua/api/train/model.h"
#include "lua/api/train/strategy.h"

namespace gpubench::lua {
namespace {

struct FitTable {
  std::int64_t epochs = 1, initial_epoch = 0, steps_per_epoch = 0, batch_size = 32;
  bool shuffle = true;
  std::optional<Reference> validation_data, sample_weight, class_weight;
  std::optional<double> validation_split;
  std::optional<std::int64_t> validation_steps, validation_batch_size;
  std::variant<std::int64_t, std::vector<std::int64_t>> validation_freq = std::int64_t{1};
  std::optional<std::vector<Reference>> callbacks;
  std::variant<std::int64_t, std::string> verbose = std::string("auto");
  std::optional<std::string> resume;
  std::int64_t save_steps = 0;
  static constexpr auto fields = std::tuple{field("epochs", &FitTable::epochs),
                                            field("initial_epoch", &FitTable::initial_epoch),
                                            field("steps_per_epoch", &FitTable::steps_per_epoch),
                                            field("batch_size", &FitTable::batch_size),
                                            field("shuffle", &FitTable::shuffle),
                                            field("validation_data", &FitTable::validation_data),
                                            field("validation_split", &FitTable::validation_split),
                                            field("validation_steps", &FitTable::validation_steps),
                                            field("validation_batch_size", &FitTable::validation_batch_size),
                                            field("validation_freq", &FitTable::validation_freq),
                                            field("sample_weight", &FitTable::sample_weight),
                                            field("class_weight", &FitTable::class_weight),
                                            field("callbacks", &FitTable::callbacks),
                                            field("verbose", &FitTable::verbose),
                                            field("resume", &FitTable::resume),
                                            field("save_steps", &FitTable::save_steps)};
};

Verbosity verbosity_of(const std::variant<std::int64_t, std::string>& verbose) {
  if (const auto* number = std::get_if<std::int64_t>(&verbose); number != nullptr && *number >= 0 && *number <= 2) {
    return static_cast<Verbosity>(*number);
  }
  if (const auto* text = std::get_if<std::string>(&verbose); text != nullptr && *text == "auto") return Verbosity::line;
  throw ArgumentError(
      "option 'verbose': 0 (silent), 1 (a line on a terminal), 2 (a line per epoch) or 'auto' expected");
}

/// gb.AUTOTUNE: the largest batch that fits the device's limit.
std::int64_t resolve_batch_size(lua_State* L, Trainer& trainer, std::int64_t asked, const FitData& data) {
  if (asked != autotune) return asked;
  if (data.dataset) {
    throw ArgumentError(
        "option 'batch_size': gb.AUTOTUNE chooses it for tensors; a Dataset is batched already, as "
        "dataset:batch(gb.find_batch_size(model, dataset))");
  }
  require_rows(data.arrays);
  lua_gc(L, LUA_GCCOLLECT);
  const std::int64_t rows = data.arrays[0].shape()[0];
  const BatchSource whole_batches = [&](std::int64_t batch_size) {
    return take(batches_of(data.arrays, batch_size), std::max<std::int64_t>(rows / batch_size, 1));
  };
  return find_batch_size(trainer, whole_batches, {.largest = rows}).batch_size;
}

/// Before the first step, not after an epoch of them.
void require_parts(const Trainer& trainer, const FitData& data, std::int64_t batch_size) {
  const std::int64_t parts = trainer.config().gradient_accumulation_steps;
  if (data.dataset || data.arrays[0].shape().empty()) return;
  const std::int64_t rows = data.arrays[0].shape()[0], rest = rows % batch_size;
  if (rest % parts == 0 && std::min(rows, batch_size) % parts == 0) return;
  throw ArgumentError(
      fmt::format("{} rows in batches of {}{} cannot be cut into gradient_accumulation_steps = {} equal parts; leave "
                  "rows out, or take "
                  "a batch size that is a multiple of {} and divides the rows",
                  rows, batch_size, rest == 0 ? "" : fmt::format(", the last one of {},", rest), parts, parts));
}

std::vector<CallbackPtr> read_callbacks(lua_State* L, const std::optional<std::vector<Reference>>& given) {
  std::vector<CallbackPtr> callbacks;
  for (const Reference& callback : given.value_or(std::vector<Reference>{})) {
    callback.push(L);
    callbacks.push_back(read_callback(L, -1));
    lua_pop(L, 1);
  }
  return callbacks;
}

/// A number that is given is at least 1; none: 0.
std::int64_t number_given(const std::optional<std::int64_t>& given, const char* option) {
  if (given.value_or(1) >= 1) return given.value_or(0);
  throw ArgumentError(fmt::format("option '{}': at least 1 is expected, got {}", option, *given));
}

/// What is validated, and when.
void read_validation_options(lua_State* L, const ScriptModel& model, const FitTable& table, FitData& data,
                             FitOptions& options) {
  const std::int64_t own_size = number_given(table.validation_batch_size, "validation_batch_size");
  const std::int64_t batch_size = own_size > 0 ? own_size : table.batch_size;
  if (table.validation_data) options.validation = read_validation(L, model, *table.validation_data, batch_size);
  if (table.validation_split) {
    if (data.dataset)
      throw ArgumentError("option 'validation_split': takes rows of tensors; split a Dataset by take and skip");
    options.validation = batches_of(split_off(data.arrays, *table.validation_split), batch_size);
  }
  options.validation_steps = number_given(table.validation_steps, "validation_steps");
  options.validation_freq = table.validation_freq;
  if (options.validation) return;
  if (table.validation_steps) throw ArgumentError("option 'validation_steps': there is no validation_data");
}

FitOptions fit_options(lua_State* L, const ScriptModel& model, const FitTable& table, FitData& data) {
  FitOptions options;
  options.epochs = table.epochs;
  options.initial_epoch = table.initial_epoch;
  options.steps_per_epoch = table.steps_per_epoch;
  if (table.resume) options.resume = output_path(L, *table.resume, "fit");
  Session& session = session_of(L);
  options.restart_from = session.take_restart_from();
  if (!options.restart_from.empty() && !table.resume) {
    throw ArgumentError("--restart-from goes on from a saved training, and this one has no option 'resume'");
  }
  options.saves = session.group() == nullptr || session.group()->rank() == 0;
  options.save_steps = table.save_steps;
  if (table.batch_size < 1)
    throw ArgumentError(fmt::format("option 'batch_size': at least 1 is expected, got {}", table.batch_size));
  read_validation_options(L, model, table, data, options);
  options.callbacks = read_callbacks(L, table.callbacks);
  const Verbosity verbosity = verbosity_of(table.verbose);
  if (verbosity != Verbosity::silent) session.progress_line.hide();
  options.callbacks.push_back(std::make_shared<Progress>(verbosity, stdout));
  return options;
}

void push_history(lua_State* L, const History& history) {
  lua_createtable(L, 0, 2);
  lua_createtable(L, 0, static_cast<int>(history.figures.size()));
  for (const auto& [name, values] : history.figures) {
    Value<std::vector<double>>::push(L, values);
    lua_setfield(L, -2, name.c_str());
  }
  lua_setfield(L, -2, "history");
  std::vector<std::int64_t> epochs = history.epochs;
  for (std::int64_t& epoch : epochs) ++epoch;
  Value<std::vector<std::int64_t>>::push(L, epochs);
  lua_setfield(L, -2, "epoch");
}

void refuse_autotune(std::int64_t batch_size, std::string_view function) {
  if (batch_size != autotune) return;
  throw ArgumentError(fmt::format(
      "option 'batch_size': gb.AUTOTUNE is found for training, by fit; {} takes a number of examples", function));
}

int push_logs(lua_State* L, const Logs& logs) {
  Value<std::map<std::string, double>>::push(L, {logs.begin(), logs.end()});
  return 1;
}

void push_predictions(lua_State* L, const ScriptModel& model, const Dataset& dataset,
                      const EvaluationOptions& options = {}) {
  Dispatcher& dispatcher = model.world->dispatcher;
  std::vector<Tensor> results;
  for (const HostTensor& output : predict(*model.trainer(), dataset, options)) {
    results.push_back(dispatcher.eager().upload(output, dispatcher.device(), "prediction"));
  }
  push_outputs(L, model.model->given_names(), std::move(results));
}

struct EvaluationTable {
  std::int64_t batch_size = 32;
  std::variant<std::int64_t, std::string> verbose = std::int64_t{0};
  std::optional<Reference> sample_weight;
  std::optional<std::int64_t> steps;
  std::optional<std::vector<Reference>> callbacks;
  static constexpr auto fields =
      std::tuple{field("batch_size", &EvaluationTable::batch_size), field("verbose", &EvaluationTable::verbose),
                 field("sample_weight", &EvaluationTable::sample_weight), field("steps", &EvaluationTable::steps),
                 field("callbacks", &EvaluationTable::callbacks)};

  EvaluationOptions inference(lua_State* L) const {
    return {number_given(steps, "steps"), read_callbacks(L, callbacks)};
  }
};

}  // namespace

/// model:fit(dataset, options) or model:fit(x, y, options): the history.
int fit_model(lua_State* L) {
  const auto self = Value<ModelHandle>::read(L, 1);
  FitData data = FitData::read(L, 2, *self, true);
  auto table = data.options<FitTable>(L);
  data.append_weights(L, *self, table.sample_weight);
  self->trainer()->set_class_weights(read_class_weights(L, table.class_weight));
  table.batch_size = resolve_batch_size(L, *self->trainer(), table.batch_size, data);
  FitOptions options = fit_options(L, *self, table, data);
  require_parts(*self->trainer(), data, table.batch_size);
  std::optional<std::uint64_t> shuffle;
  if (table.shuffle && !data.dataset) shuffle = self->variables.next_seed();
  const auto part = [&](const DatasetPtr& whole) { return part_of_process(self->replicas.get(), whole); };
  if (options.validation) options.validation = part(options.validation);
  Activity& activity = session_of(L).activity;
  const ActivityScope outer(&activity);
  activity.begin(Phase::training);
  push_history(L, fit(*self->trainer(), *part(data.batches(table.batch_size, shuffle)), options));
  return 1;
}

/// model:evaluate(dataset) or model:evaluate(x, y, options): a table of figures by name.
int evaluate_model(lua_State* L) {
  const auto self = Value<ModelHandle>::read(L, 1);
  FitData data = FitData::read(L, 2, *self, true);
  const auto table = data.options<EvaluationTable>(L);
  data.append_weights(L, *self, table.sample_weight);
  const Verbosity verbosity = verbosity_of(table.verbose);
  refuse_autotune(table.batch_size, "evaluate");
  const DatasetPtr part = part_of_process(self->replicas.get(), data.batches(table.batch_size));
  const Logs logs = evaluate(*self->trainer(), *part, table.inference(L));
  if (verbosity != Verbosity::silent) {
    session_of(L).progress_line.hide();
    print_figures(logs, stdout);
  }
  return push_logs(L, logs);
}

/// model:predict(dataset or x, options): a tensor; for several outputs a list, or a table by names.
int predict_model(lua_State* L) {
  const auto self = Value<ModelHandle>::read(L, 1);
  const FitData data = FitData::read(L, 2, *self, false);
  const auto table = data.options<EvaluationTable>(L);
  verbosity_of(table.verbose);  // predictions have no figures to print
  if (table.sample_weight) throw ArgumentError("option 'sample_weight': predictions have no loss to weigh");
  refuse_autotune(table.batch_size, "predict");
  push_predictions(L, *self, *data.batches(table.batch_size), table.inference(L));
  return 1;
}

namespace {

/// The tensors of one batch, as a dataset with one element.
DatasetPtr one_batch(lua_State* L, const ScriptModel& model, bool labelled) {
  const FitData data = FitData::read(L, 2, model, labelled);
  if (data.dataset) throw ArgumentError("tensors of one batch are expected, got a Dataset; fit and evaluate take one");
  reject_surplus(L, data.next - 1, 1);
  require_rows(data.arrays);
  return part_of_process(model.replicas.get(), data.batches(std::max<std::int64_t>(1, data.arrays[0].shape()[0])));
}

}  // namespace

/// model:train_on_batch(x, y): takes one step; its figures by name.
int train_model_on_batch(lua_State* L) {
  const auto self = Value<ModelHandle>::read(L, 1);
  return push_logs(L, train_steps(*self->trainer(), *one_batch(L, *self, true)));
}

/// model:test_on_batch(x, y): the figures of one batch by name.
int test_model_on_batch(lua_State* L) {
  const auto self = Value<ModelHandle>::read(L, 1);
  return push_logs(L, self->trainer()->evaluate(*one_batch(L, *self, true)));
}

/// model:predict_on_batch(x): as predict.
int predict_model_on_batch(lua_State* L) {
  const auto self = Value<ModelHandle>::read(L, 1);
  push_predictions(L, *self, *one_batch(L, *self, false));
  return 1;
}

}  // namespace gpubench::lua

#include "lua/api/train/callbacks.h"

#include <array>
#include <cstdio>
#include <fmt/format.h>
#include <optional>

#include "core/base/terminal.h"
#include "core/experiment/steps/profiler.h"
#include "core/train/fit/tensorboard.h"
#include "core/train/trainer.h"
#include "lua/api/openers.h"
#include "lua/api/output_path.h"
#include "lua/api/tensor/tensor.h"
#include "lua/api/train/by_name.h"
#include "lua/bind/machine.h"

namespace gpubench::lua {
namespace {

using Named = std::map<std::string, double>;

Named named(const Logs& logs) {
  return {logs.begin(), logs.end()};
}

/// The functions of a script's table. Keras has two names for those of batches.
struct Functions {
  std::optional<LuaFunction> on_train_begin, on_epoch_begin, on_batch_begin, on_batch_end, on_train_batch_begin,
      on_train_batch_end, on_epoch_end, on_train_end;
  std::optional<LuaFunction> on_test_begin, on_test_batch_begin, on_test_batch_end, on_test_end, on_predict_begin,
      on_predict_batch_begin, on_predict_batch_end, on_predict_end;
  static constexpr auto fields = std::tuple{field("on_train_begin", &Functions::on_train_begin),
                                            field("on_epoch_begin", &Functions::on_epoch_begin),
                                            field("on_batch_begin", &Functions::on_batch_begin),
                                            field("on_batch_end", &Functions::on_batch_end),
                                            field("on_train_batch_begin", &Functions::on_train_batch_begin),
                                            field("on_train_batch_end", &Functions::on_train_batch_end),
                                            field("on_epoch_end", &Functions::on_epoch_end),
                                            field("on_train_end", &Functions::on_train_end),
                                            field("on_test_begin", &Functions::on_test_begin),
                                            field("on_test_batch_begin", &Functions::on_test_batch_begin),
                                            field("on_test_batch_end", &Functions::on_test_batch_end),
                                            field("on_test_end", &Functions::on_test_end),
                                            field("on_predict_begin", &Functions::on_predict_begin),
                                            field("on_predict_batch_begin", &Functions::on_predict_batch_begin),
                                            field("on_predict_batch_end", &Functions::on_predict_batch_end),
                                            field("on_predict_end", &Functions::on_predict_end)};
};

std::optional<LuaFunction> one_of(std::optional<LuaFunction> a, std::optional<LuaFunction> b, std::string_view names) {
  if (a && b) throw ArgumentError(fmt::format("option 'callbacks': {} are two names of one function", names));
  return a ? std::move(a) : std::move(b);
}

/// Whether the function has a parameter for the figures of a batch, which are read for it.
bool takes_logs(const LuaFunction& function) {
  lua_State* const L = function.reference().machine().running();
  function.reference().push(L);
  if (!lua_isfunction(L, -1)) {
    lua_pop(L, 1);
    return true;
  }
  lua_Debug facts{};
  lua_getinfo(L, ">u", &facts);
  return facts.nparams > 1 || facts.isvararg != 0;
}

using AnyFunction = std::optional<LuaFunction>;

/// Calls the function of a batch of predictions with { outputs = what predict gives }.
std::optional<bool> call_with_outputs(const LuaFunction& function, const ModelNames& names,
                                      const InferenceBatch& batch) {
  Dispatcher& dispatcher = world_of(function.reference().machine().running()).dispatcher;
  std::vector<Tensor> outputs;
  for (const HostTensor& output : batch.outputs)
    outputs.push_back(dispatcher.eager().upload(output, dispatcher.device(), "prediction"));
  using Outputs = decltype(outputs_for_script(names, outputs));
  return function.call<std::optional<bool>>(
      batch.batch + 1, std::map<std::string, Outputs>{{"outputs", outputs_for_script(names, std::move(outputs))}});
}

class FunctionsCallback final : public Callback {
 public:
  explicit FunctionsCallback(Functions functions)
      : functions_(std::move(functions)),
        batch_begin_(one_of(std::move(functions_.on_batch_begin), std::move(functions_.on_train_batch_begin),
                            "on_batch_begin and on_train_batch_begin")),
        batch_end_(one_of(std::move(functions_.on_batch_end), std::move(functions_.on_train_batch_end),
                          "on_batch_end and on_train_batch_end")),
        wants_logs_(batch_end_ && takes_logs(*batch_end_)) {}

  void on_train_begin(Training& training) override {
    training_ = &training;
    if (functions_.on_train_begin) functions_.on_train_begin->call();
  }
  void on_epoch_begin(Training&, std::int64_t epoch) override {
    if (functions_.on_epoch_begin) functions_.on_epoch_begin->call(epoch + 1);
  }
  void on_batch_begin(Training& training, std::int64_t batch) override {
    stop_if_asked(training, batch_begin_->call<std::optional<bool>>(batch + 1));
  }
  bool wants_batch_begins() const override { return batch_begin_.has_value(); }
  void on_batch_end(Training& training, std::int64_t batch, const Logs& logs) override {
    stop_if_asked(training, batch_end_->call<std::optional<bool>>(batch + 1, named(logs)));
  }
  bool wants_batches() const override { return wants_logs_; }
  /// A function without a parameter for figures needs no waiting for the device.
  void on_step(std::int64_t step) override {
    stop_if_asked(*training_, batch_end_->call<std::optional<bool>>(step + 1));
  }
  bool wants_steps() const override { return batch_end_ && !wants_logs_; }
  void on_epoch_end(Training& training, std::int64_t epoch, Logs& logs) override {
    if (!functions_.on_epoch_end) return;
    stop_if_asked(training, functions_.on_epoch_end->call<std::optional<bool>>(epoch + 1, named(logs)));
  }
  void on_train_end(Training&) override {
    if (functions_.on_train_end) functions_.on_train_end->call();
  }
  void on_inference_begin(Trainer& trainer, StepPhase phase) override {
    names_ = trainer.model().given_names();
    const AnyFunction& function = of(phase, functions_.on_test_begin, functions_.on_predict_begin);
    if (function) function->call();
  }
  void on_inference_batch_begin(StepPhase phase, std::int64_t batch) override {
    const AnyFunction& function = of(phase, functions_.on_test_batch_begin, functions_.on_predict_batch_begin);
    if (function) function->call(batch + 1);
  }
  bool on_inference_batch_end(const InferenceBatch& batch) override {
    const AnyFunction& function = of(batch.phase, functions_.on_test_batch_end, functions_.on_predict_batch_end);
    if (!function) return true;
    if (!takes_logs(*function)) return function->call<std::optional<bool>>(batch.batch + 1).value_or(true);
    if (batch.phase == StepPhase::prediction) return call_with_outputs(*function, names_, batch).value_or(true);
    return function->call<std::optional<bool>>(batch.batch + 1, named(batch.logs())).value_or(true);
  }
  void on_inference_end(Trainer&, StepPhase phase, const Logs& logs) override {
    const AnyFunction& function = of(phase, functions_.on_test_end, functions_.on_predict_end);
    if (function && phase == StepPhase::evaluation) function->call(named(logs));
    if (function && phase == StepPhase::prediction) function->call();
  }

 private:
  static const AnyFunction& of(StepPhase phase, const AnyFunction& test, const AnyFunction& predict) {
    return phase == StepPhase::prediction ? predict : test;
  }
  static void stop_if_asked(Training& training, std::optional<bool> go_on) {
    if (go_on && !*go_on) training.stop = true;
  }

  Functions functions_;
  std::optional<LuaFunction> batch_begin_, batch_end_;
  bool wants_logs_;
  ModelNames names_{};  // of the model that is evaluated or predicts
  Training* training_ = nullptr;
};

struct EarlyStoppingTable : EarlyStoppingOptions {
  static constexpr auto fields = std::tuple{field("monitor", &EarlyStoppingTable::monitor),
                                            field("min_delta", &EarlyStoppingTable::min_delta),
                                            field("patience", &EarlyStoppingTable::patience),
                                            field("mode", &EarlyStoppingTable::mode),
                                            field("baseline", &EarlyStoppingTable::baseline),
                                            field("restore_best_weights", &EarlyStoppingTable::restore_best_weights),
                                            field("start_from_epoch", &EarlyStoppingTable::start_from_epoch)};
};

constexpr std::array early_stopping_positions{
    "monitor", "min_delta", "patience", "verbose", "mode", "baseline", "restore_best_weights", "start_from_epoch"};

ScriptCallback early_stopping(const EarlyStoppingTable& options) {
  return {std::make_shared<EarlyStopping>(options)};
}

struct CheckpointOptions {
  std::string filepath;
  std::string monitor = "val_loss";
  bool save_best_only = false, save_weights_only = false;
  std::string mode = "auto";
  static constexpr auto fields = std::tuple{
      required("filepath", &CheckpointOptions::filepath), field("monitor", &CheckpointOptions::monitor),
      field("save_best_only", &CheckpointOptions::save_best_only),
      field("save_weights_only", &CheckpointOptions::save_weights_only), field("mode", &CheckpointOptions::mode)};
};

constexpr std::array checkpoint_positions{"filepath",          "monitor", "verbose",   "save_best_only",
                                          "save_weights_only", "mode",    "save_freq", "initial_value_threshold"};

ScriptCallback model_checkpoint(lua_State* L, const CheckpointOptions& options) {
  const auto place = [main = Machine::of(L).main(), file = options.save_weights_only](const std::string& filled) {
    return file ? output_path(main, filled, "ModelCheckpoint") : output_folder(main, filled, "ModelCheckpoint");
  };
  place(options.filepath);  // rather now than after an epoch
  return {std::make_shared<ModelCheckpoint>(ModelCheckpointOptions{.path = options.filepath,
                                                                   .monitor = options.monitor,
                                                                   .save_best_only = options.save_best_only,
                                                                   .save_weights_only = options.save_weights_only,
                                                                   .mode = options.mode,
                                                                   .place = place})};
}

struct ReduceTable : ReduceLearningRateOptions {
  static constexpr auto fields =
      std::tuple{field("monitor", &ReduceTable::monitor),     field("factor", &ReduceTable::factor),
                 field("patience", &ReduceTable::patience),   field("mode", &ReduceTable::mode),
                 field("min_delta", &ReduceTable::min_delta), field("cooldown", &ReduceTable::cooldown),
                 field("min_lr", &ReduceTable::min_lr)};
};

constexpr std::array reduce_positions{"monitor", "factor",    "patience", "verbose",
                                      "mode",    "min_delta", "cooldown", "min_lr"};

ScriptCallback reduce_on_plateau(const ReduceTable& options) {
  return {std::make_shared<ReduceLearningRateOnPlateau>(options)};
}

ScriptCallback terminate_on_nan() {
  return {std::make_shared<TerminateOnNan>()};
}

/// gb.callbacks.LearningRateScheduler(function(epoch, rate) return rate end)
ScriptCallback learning_rate_scheduler(const LuaFunction& function) {
  return {std::make_shared<LearningRateScheduler>(
      [function](std::int64_t epoch, double rate) { return function.call<double>(epoch + 1, rate); })};
}

struct CsvLoggerTable {
  std::string filename;
  std::string separator = ",";
  bool append = false;
  static constexpr auto fields =
      std::tuple{required("filename", &CsvLoggerTable::filename), field("separator", &CsvLoggerTable::separator),
                 field("append", &CsvLoggerTable::append)};
};

constexpr std::array csv_logger_positions{"filename", "separator", "append"};

ScriptCallback csv_logger(lua_State* L, const CsvLoggerTable& options) {
  if (options.separator.size() != 1) throw ArgumentError("option 'separator': one character is expected");
  return {std::make_shared<CsvLogger>(
      CsvLoggerOptions{output_path(L, options.filename, "CSVLogger"), options.separator[0], options.append})};
}

/// gb.callbacks.LambdaCallback { on_epoch_end = function(epoch, logs) ... end }: Keras' name for a table of functions.
constexpr std::array lambda_positions{"on_epoch_begin", "on_epoch_end",         "on_train_begin",
                                      "on_train_end",   "on_train_batch_begin", "on_train_batch_end"};

ScriptCallback lambda_callback(const Functions& functions) {
  return {std::make_shared<FunctionsCallback>(functions)};
}

struct TensorBoardTable {
  std::string log_dir = "logs";
  std::variant<std::int64_t, std::string> update_freq = std::string("epoch");
  bool write_steps_per_second = false;
  bool write_graph = false, write_images = false;
  std::int64_t histogram_freq = 0, embeddings_freq = 0;
  std::optional<Reference> profile_batch, embeddings_metadata;
  static constexpr auto fields = std::tuple{field("log_dir", &TensorBoardTable::log_dir),
                                            field("histogram_freq", &TensorBoardTable::histogram_freq),
                                            field("write_graph", &TensorBoardTable::write_graph),
                                            field("write_images", &TensorBoardTable::write_images),
                                            field("write_steps_per_second", &TensorBoardTable::write_steps_per_second),
                                            field("update_freq", &TensorBoardTable::update_freq),
                                            field("profile_batch", &TensorBoardTable::profile_batch),
                                            field("embeddings_freq", &TensorBoardTable::embeddings_freq),
                                            field("embeddings_metadata", &TensorBoardTable::embeddings_metadata)};
};

/// Scalars are what is written; other parts are off in scripts that name them, or an error.
void require_scalars_alone(lua_State* L, const TensorBoardTable& table) {
  const auto refuse = [](bool asked, const char* option, const char* instead) {
    if (!asked) return;
    throw ArgumentError(
        fmt::format("option '{}': TensorBoard gets scalars here; {}, or leave it out", option, instead));
  };
  bool profiles = false;
  if (table.profile_batch) {
    table.profile_batch->push(L);
    profiles = lua_isinteger(L, -1) == 0 || lua_tointeger(L, -1) != 0;
    lua_pop(L, 1);
  }
  refuse(profiles, "profile_batch", "gb.callbacks.Profiler traces steps");
  refuse(table.histogram_freq != 0, "histogram_freq", "read weights by model:get_weights()");
  refuse(table.write_graph, "write_graph", "print model:summary()");
  refuse(table.write_images, "write_images", "read weights by model:get_weights()");
  refuse(table.embeddings_freq != 0, "embeddings_freq", "save them by model:save_weights()");
  refuse(table.embeddings_metadata.has_value(), "embeddings_metadata", "save them by model:save_weights()");
}

std::int64_t update_freq_of(const std::variant<std::int64_t, std::string>& given) {
  const auto* const name = std::get_if<std::string>(&given);
  if (name != nullptr && *name == "epoch") return 0;
  if (name != nullptr && *name == "batch") return 1;
  if (name == nullptr && std::get<std::int64_t>(given) >= 1) return std::get<std::int64_t>(given);
  throw ArgumentError(
      fmt::format("option 'update_freq': 'epoch', 'batch' or a number of batches from 1 is expected, "
                  "got {}",
                  name != nullptr ? "'" + *name + "'" : std::to_string(std::get<0>(given))));
}

constexpr std::array tensor_board_positions{"log_dir",       "histogram_freq",         "write_graph",
                                            "write_images",  "write_steps_per_second", "update_freq",
                                            "profile_batch", "embeddings_freq",        "embeddings_metadata"};

ScriptCallback tensor_board(lua_State* L, const TensorBoardTable& table) {
  require_scalars_alone(L, table);
  const auto place = [main = Machine::of(L).main()](const std::string& folder) {
    return output_folder(main, folder, "TensorBoard");
  };
  place(table.log_dir);  // rather now than after an epoch
  return {std::make_shared<TensorBoard>(TensorBoardOptions{.log_dir = table.log_dir,
                                                           .update_freq = update_freq_of(table.update_freq),
                                                           .write_steps_per_second = table.write_steps_per_second,
                                                           .place = place})};
}

struct ProfilerTable {
  std::vector<std::int64_t> steps{10, 15};
  std::string path;
  static constexpr auto fields =
      std::tuple{field("steps", &ProfilerTable::steps), required("path", &ProfilerTable::path)};
};

/// gb.callbacks.Profiler { steps = { first, last }, path = folder }
ScriptCallback profiler(lua_State* L, const ProfilerTable& options) {
  if (options.steps.size() != 2)
    throw ArgumentError(
        fmt::format("option 'steps': {{ first, last }} is expected, got {} numbers", options.steps.size()));
  const auto place = [main = Machine::of(L).main()](const std::string& path) {
    return output_folder(main, path, "Profiler");
  };
  place(options.path);  // rather now than when training begins
  const auto warn = [](const std::string& reason) { print_message(reason); };
  return {std::make_shared<Profiler>(ProfilerOptions{options.steps[0], options.steps[1], options.path, place, warn})};
}

std::string text(const ScriptCallback&) {
  return "Callback";
}

}  // namespace

CallbackPtr read_callback(lua_State* L, int index) {
  if (Value<ScriptCallback>::matches(L, index)) return Value<ScriptCallback>::read(L, index).callback;
  if (Value<std::shared_ptr<ScriptPruning>>::matches(L, index)) {
    const auto pruning = Value<std::shared_ptr<ScriptPruning>>::read(L, index);
    return {pruning, pruning->pruning.get()};
  }
  if (!lua_istable(L, index))
    mismatch(L, index, "option 'callbacks': gb.callbacks.EarlyStopping or another, or table of functions");
  return std::make_shared<FunctionsCallback>(Value<Functions>::read(L, index));
}

void open_callbacks(lua_State* L) {
  Class<ScriptCallback>(L).meta<&text>("__tostring");
  const Module gb = Module::root(L);
  gb.submodule("callbacks")
      .constructor<&early_stopping, early_stopping_positions>("EarlyStopping")
      .constructor<&model_checkpoint, checkpoint_positions>("ModelCheckpoint")
      .function<&learning_rate_scheduler>("LearningRateScheduler")
      .constructor<&csv_logger, csv_logger_positions>("CSVLogger")
      .constructor<&lambda_callback, lambda_positions>("LambdaCallback")
      .constructor<&tensor_board, tensor_board_positions>("TensorBoard")
      .constructor<&reduce_on_plateau, reduce_positions>("ReduceLROnPlateau")
      .function<&terminate_on_nan>("TerminateOnNaN")
      .function<&profiler>("Profiler");
}

}  // namespace gpubench::lua

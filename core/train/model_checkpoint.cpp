#include "core/train/model_checkpoint.h"

#include <fmt/format.h>

#include "core/train/model_files.h"
#include "core/train/trainer.h"

namespace gpubench {
namespace {

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

ModelCheckpoint::ModelCheckpoint(ModelCheckpointOptions options)
    : options_(std::move(options)), monitor_("ModelCheckpoint", options_.monitor, options_.mode) {}

void ModelCheckpoint::on_train_begin(Training&) {
  monitor_.reset();
}

void ModelCheckpoint::on_epoch_end(Training& training, std::int64_t epoch, Logs& logs) {
  if (options_.save_best_only && !monitor_.improves(logs)) return;
  std::string path = options_.path;
  replace_all(path, "{epoch}", fmt::format("{:02}", epoch + 1));
  for (const auto& [name, value] : logs) replace_all(path, "{" + name + "}", fmt::format("{:.4f}", value));
  save_model(training.trainer.runtime(), training.trainer.model(), options_.place(path));
}

}  // namespace gpubench

// A path in which figures of an epoch are filled in, as in Keras: "model-{epoch:02d}-{val_loss:.2f}.safetensors".
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/train/metric_states.h"

namespace gpubench {

class FilledPath {
 public:
  /// {NAME} or {NAME:FORMAT}; NAME is "epoch" or a figure of the logs. FORMAT is Python's for numbers: 0 in front of a
  /// width, a precision, and d, e, f or g. Without it, the epoch has two digits or more, and a figure four behind the
  /// point. "{{" and "}}" are braces. Throws Error that begins with `owner` for anything else in braces.
  FilledPath(std::string owner, const std::string& text);

  /// `epoch` counts from 1. Throws Error listing the figures for a name that is none of them.
  std::string filled(std::int64_t epoch, const Logs& logs) const;

 private:
  struct Part {
    std::string text;  ///< or the name of a figure
    bool is_name = false;
    std::string format = {};  ///< of the figure, for fmt
    bool is_integer = false;  ///< the format is for the epoch as a whole number
  };
  /// Of "epoch:02d", which stands in braces.
  Part part_of(const std::string& field) const;

  std::string owner_, text_;
  std::vector<Part> parts_;
};

}  // namespace gpubench

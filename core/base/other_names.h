// Names of Keras, tf.data and PyTorch that gpubench has in another form or not at all, by the place where they are
// looked up. The table is in core/base/other_names, compiled in: sections of places, and in them lines
//   MaxPool2D MaxPool2d: gb.layers.MaxPooling2D(2)    these names have this form here
//   Conv3D: - images have two dimensions              gpubench does not have it: why, or what else does it
//   nn: > gb.layers Tensor                            a module, whose members stand at these places here
// and indented lines that continue them.
// "{name}" in a text is the name itself. A section holds for its places ("gb.layers", "Tensor", "loss") and what lies
// in them: [gb] also for gb.layers, where that says nothing else; [option] also for "option Dense".
#pragma once
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gpubench {

struct OtherName {
  enum class Kind : unsigned char { here, absent, folder };
  Kind kind;
  std::string text;
  std::string section;  ///< the place that it stands under

  /// Of a folder.
  std::vector<std::string> places() const;
  /// The places of a folder that are part of gb, as a text: "gb.layers, methods of tensors".
  std::string members() const;
};

/// Whether a place is a section of the table alone, and no part of gb: "nn", "option".
bool is_section_alone(std::string_view place);

std::optional<OtherName> find_other_name(std::string_view place, std::string_view name);

/// The same where only the parts of a place have the name, as gb.layers has for "gb".
std::optional<OtherName> find_other_name_within(std::string_view place, std::string_view name);

/// The same of all places that have the name.
std::vector<OtherName> find_other_names(std::string_view name);

/// The names of a section.
std::set<std::string, std::less<>> other_names_at(std::string_view place);

std::set<std::string, std::less<>> all_other_names();

}  // namespace gpubench

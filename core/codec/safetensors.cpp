#include "core/codec/safetensors.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/error.h"
#include "core/base/json_limits.h"
#include "core/codec/output_file.h"
#include "core/codec/tensor_bytes.h"

namespace gpubench {
namespace {

using Json = nlohmann::json;

constexpr std::string_view metadata_key = "__metadata__";
/// The format's own limit.
constexpr std::uint64_t longest_header = 100'000'000;
/// Tensors are looked for in a sorted table.
constexpr std::size_t most_tensors = 1'000'000;
/// Tensors start at a multiple of this, as long as larger element types come first.
constexpr std::size_t alignment = 8;

struct TypeName {
  std::string_view name;
  Dtype dtype;
};
constexpr std::array type_names{
    TypeName{"F32", Dtype::f32}, TypeName{"F16", Dtype::f16}, TypeName{"BF16", Dtype::bf16},
    TypeName{"I64", Dtype::i64}, TypeName{"I32", Dtype::i32}, TypeName{"I16", Dtype::i16},
    TypeName{"I8", Dtype::i8},   TypeName{"U8", Dtype::u8},   TypeName{"BOOL", Dtype::boolean}};

/// One tensor's place among the bytes after the header.
struct Place {
  std::string name;
  TensorType type;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

[[noreturn]] void damaged_header(const std::string& file, std::string_view what) {
  throw Error(fmt::format("{}: the safetensors header is damaged: {}", file, what));
}

Dtype dtype_of_name(const std::string& file, const std::string& tensor, const std::string& name) {
  std::string known;
  for (const TypeName& type : type_names) {
    if (type.name == name) return type.dtype;
    known += known.empty() ? "" : ", ";
    known += type.name;
  }
  throw Error(
      fmt::format("{}: tensor '{}' has type '{}', which is not supported (known: {})", file, tensor, name, known));
}

std::string_view name_of_dtype(const std::string& file, const NamedTensor& tensor) {
  for (const TypeName& type : type_names) {
    if (type.dtype == tensor.tensor.dtype()) return type.name;
  }
  throw Error(fmt::format("{}: tensor '{}' is {}, which safetensors cannot hold", file, tensor.name,
                          to_string(tensor.tensor.dtype())));
}

/// Of no object twice the same key.
Json parse_header(const std::string& file, const std::string& text) {
  std::vector<std::set<std::string>> keys;
  const auto check_keys = [&](int, Json::parse_event_t event, const Json& parsed) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second)
      damaged_header(file, fmt::format("'{}' occurs twice", parsed.get<std::string>()));
    return true;
  };
  try {
    return Json::parse(text, check_keys);
  } catch (const Json::parse_error& error) {
    damaged_header(file, fmt::format("it is no JSON from its byte {} on", error.byte));
  } catch (const Json::out_of_range&) {
    damaged_header(file, "it has a number that is out of range");
  }
}

const Json& field_of(const std::string& file, const std::string& tensor, const Json& description, const char* name,
                     Json::value_t kind, std::string_view expected) {
  const auto found = description.find(name);
  if (found == description.end()) damaged_header(file, fmt::format("tensor '{}' has no '{}'", tensor, name));
  if (found->type() != kind) damaged_header(file, fmt::format("tensor '{}': '{}' is {}", tensor, name, expected));
  return *found;
}

std::uint64_t unsigned_number(const std::string& file, const Json& value) {
  if (!value.is_number_unsigned()) damaged_header(file, fmt::format("'{}' where a count is expected", value.dump()));
  return value.get<std::uint64_t>();
}

Place read_place(const std::string& file, const std::string& name, const Json& description) {
  if (!description.is_object())
    damaged_header(file, fmt::format("tensor '{}' is no object with dtype, shape and data_offsets", name));
  const auto field = [&](const char* key, Json::value_t kind, std::string_view expected) -> const Json& {
    return field_of(file, name, description, key, kind, expected);
  };
  Place place{.name = name, .type = {}};
  place.type.dtype = dtype_of_name(file, name, field("dtype", Json::value_t::string, "a text").get<std::string>());
  for (const Json& extent : field("shape", Json::value_t::array, "a list of counts")) {
    const std::uint64_t value = unsigned_number(file, extent);
    if (value > static_cast<std::uint64_t>(INT64_MAX)) damaged_header(file, fmt::format("an extent of {}", value));
    place.type.shape.push_back(static_cast<std::int64_t>(value));
  }
  const Json& offsets = field("data_offsets", Json::value_t::array, "two numbers");
  if (offsets.size() != 2) damaged_header(file, "data_offsets are two numbers");
  place.begin = unsigned_number(file, offsets[0]);
  place.end = unsigned_number(file, offsets[1]);
  check_size(place.type, fmt::format("{}: tensor '{}'", file, name));
  if (place.end < place.begin || place.type.bytes() != place.end - place.begin) {
    damaged_header(file, fmt::format("tensor '{}' is {} but has bytes {} to {}", name, to_string(place.type),
                                     place.begin, place.end));
  }
  return place;
}

std::map<std::string, std::string> read_metadata(const std::string& file, const Json& description) {
  const bool is_table =
      description.is_object() && std::ranges::all_of(description, [](const Json& value) { return value.is_string(); });
  if (!is_table) damaged_header(file, fmt::format("'{}' is no object of texts", metadata_key));
  return description.get<std::map<std::string, std::string>>();
}

Json read_header(ByteSource& source) {
  const std::uint64_t length = source.read_u64_little("the safetensors header's length");
  if (length > longest_header || length > source.left_at_most()) {
    throw Error(fmt::format("{}: no safetensors file: its header would have {} bytes of {}", source.name(), length,
                            source.left_at_most()));
  }
  std::string text(static_cast<std::size_t>(length), '\0');
  source.read(std::as_writable_bytes(std::span(text)), "the safetensors header");
  check_json_limits(text, source.name(), most_tensors);
  Json header = parse_header(source.name(), text);
  if (!header.is_object()) damaged_header(source.name(), "it is no JSON object");
  return header;
}

std::string dump(const std::string& file, const Json& header) {
  try {
    return header.dump();
  } catch (const Json::exception&) {
    throw Error(fmt::format("{}: names and metadata of tensors must be UTF-8", file));
  }
}

/// Every byte belongs to exactly one tensor, or something was lost or is being hidden.
void check_cover(const std::string& file, const std::vector<Place>& places, std::uint64_t bytes) {
  std::uint64_t end = 0;
  for (const Place& place : places) {
    if (place.begin != end) {
      damaged_header(file,
                     fmt::format("tensor '{}' starts at byte {} where {} is expected", place.name, place.begin, end));
    }
    end = place.end;
  }
  if (end > bytes) {
    throw Error(fmt::format("{}: the file is cut short: its tensors need {} bytes, {} are there", file, end, bytes));
  }
  if (end < bytes) throw Error(fmt::format("{}: {} bytes follow after the last tensor", file, bytes - end));
}

}  // namespace

Safetensors read_safetensors(const std::filesystem::path& path) {
  FileSource source(path);
  return decode_safetensors(source);
}

Safetensors decode_safetensors(ByteSource& source) {
  const Json header = read_header(source);
  Safetensors contents;
  std::vector<Place> places;
  for (const auto& [name, description] : header.items()) {
    if (name == metadata_key) {
      contents.metadata = read_metadata(source.name(), description);
    } else {
      places.push_back(read_place(source.name(), name, description));
    }
  }
  const auto order = [](const Place& a, const Place& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  };
  std::sort(places.begin(), places.end(), order);
  check_cover(source.name(), places, source.left_at_most());
  for (Place& place : places) {
    contents.tensors.push_back({std::move(place.name), read_tensor(source, std::move(place.type))});
  }
  return contents;
}

void write_safetensors(const std::filesystem::path& path, const Safetensors& contents) {
  std::vector<const NamedTensor*> ordered;
  for (const NamedTensor& tensor : contents.tensors) ordered.push_back(&tensor);
  std::stable_sort(ordered.begin(), ordered.end(), [](const NamedTensor* a, const NamedTensor* b) {
    return size_of(a->tensor.dtype()) > size_of(b->tensor.dtype());
  });

  Json header = Json::object();
  if (!contents.metadata.empty()) header[std::string(metadata_key)] = contents.metadata;
  std::uint64_t offset = 0;
  for (const NamedTensor* tensor : ordered) {
    if (tensor->name == metadata_key || header.contains(tensor->name)) {
      throw Error(fmt::format("{}: tensor name '{}' {}", path.string(), tensor->name,
                              tensor->name == metadata_key ? "is reserved" : "occurs twice"));
    }
    const std::uint64_t end = offset + tensor->tensor.bytes();
    header[tensor->name] = {{"dtype", name_of_dtype(path.string(), *tensor)},
                            {"shape", tensor->tensor.shape()},
                            {"data_offsets", {offset, end}}};
    offset = end;
  }

  std::string text = dump(path.string(), header);
  text.append((alignment - text.size() % alignment) % alignment, ' ');
  const std::uint64_t length = text.size();
  OutputFile file(path);
  file.write(std::as_bytes(std::span(&length, 1)));
  file.write(std::as_bytes(std::span(text)));
  for (const NamedTensor* tensor : ordered) file.write({tensor->tensor.data(), tensor->tensor.bytes()});
  file.commit();
}

}  // namespace gpubench

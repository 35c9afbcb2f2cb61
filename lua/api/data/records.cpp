// gb.data: TFRecord files and tf.train.Example, written and read.
#include <algorithm>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/codec/example.h"
#include "core/data/function/parse_example.h"
#include "core/data/source/tfrecord.h"
#include "core/data/stage/ignore_errors.h"
#include "lua/api/data/dataset.h"
#include "lua/api/data/element_function.h"
#include "lua/api/data/file_names.h"
#include "lua/api/openers.h"
#include "lua/api/output_path.h"
#include "lua/api/tensor/tensor.h"
#include "lua/api/types.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

/// A writer that is closed once, by the script or by leaving the scope of a `local writer <close>`.
struct TfrecordFileWriter {
  std::optional<TfrecordWriter> writer;
};

/// The description of one feature of an example.
struct Feature {
  FeatureValues values;
};

}  // namespace

template <>
inline constexpr const char* class_name<TfrecordFileWriter> = "TfrecordWriter";

template <>
struct Value<Feature> {
  static std::string expected() { return "number, string, Tensor or list of numbers or strings"; }
  static bool matches(lua_State* L, int index) {
    return lua_istable(L, index) || Value<Tensor>::matches(L, index) || lua_type(L, index) == LUA_TSTRING ||
           lua_type(L, index) == LUA_TNUMBER;
  }
  static Feature read(lua_State* L, int index);
};

namespace {

template <class T>
std::vector<T> one_or_list(lua_State* L, int index) {
  if (lua_istable(L, index)) return Value<std::vector<T>>::read(L, index);
  return {Value<T>::read(L, index)};
}

/// The type of a list's first value that is not an integer, or of the integers.
int type_of_values(lua_State* L, int index, bool& whole) {
  index = lua_absindex(L, index);
  const bool list = lua_istable(L, index);
  const auto count = list ? static_cast<lua_Integer>(sequence_length(L, index)) : 1;
  int type = LUA_TNUMBER;
  whole = true;
  for (lua_Integer i = 1; i <= count && whole; ++i) {
    list ? static_cast<void>(lua_rawgeti(L, index, i)) : lua_pushvalue(L, index);
    type = lua_type(L, -1);
    whole = lua_isinteger(L, -1) != 0;
    lua_pop(L, 1);
  }
  return type;
}

FeatureValues values_of(const HostTensor& tensor) {
  if (tensor.dtype() == Dtype::u8) {
    return std::vector{std::string(reinterpret_cast<const char*>(tensor.data()), tensor.bytes())};
  }
  const auto count = static_cast<std::size_t>(tensor.elements());
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = element_as_double(tensor, static_cast<std::int64_t>(i));
  if (is_floating(tensor.dtype())) return std::vector<float>(values.begin(), values.end());
  if (tensor.dtype() == Dtype::i64) {
    const std::span<const std::int64_t> exact = tensor.values<std::int64_t>();
    return std::vector<std::int64_t>(exact.begin(), exact.end());
  }
  return std::vector<std::int64_t>(values.begin(), values.end());
}

std::string example(const std::map<std::string, Feature>& features) {
  std::map<std::string, FeatureValues> values;
  for (const auto& [name, feature] : features) values.emplace(name, feature.values);
  return encode_example(values);
}

/// A feature as a script asks for it.
struct FeatureTable {
  std::string name;
  std::vector<std::int64_t> shape;
  Dtype dtype = Dtype::f32;
  Reference default_value;
  static constexpr auto fields =
      std::tuple{required("name", &FeatureTable::name), field("shape", &FeatureTable::shape),
                 field("dtype", &FeatureTable::dtype), field("default", &FeatureTable::default_value)};
};

HostTensor bytes_tensor(const std::string& text) {
  HostTensor tensor(TensorType{{static_cast<std::int64_t>(text.size())}, Dtype::u8});
  std::copy_n(reinterpret_cast<const std::byte*>(text.data()), text.size(), tensor.data());
  return tensor;
}

/// A single number is repeated for all of a feature's values.
HostTensor filled(const HostTensor& value, const Shape& shape) {
  if (value.type().rank() != 0 || shape.empty() || std::count(shape.begin(), shape.end(), varying) > 0) return value;
  HostTensor tensor(TensorType{shape, value.dtype()});
  const std::size_t size = value.bytes();
  for (std::size_t at = 0; at < tensor.bytes(); at += size) std::copy_n(value.data(), size, tensor.data() + at);
  return tensor;
}

FeatureSpec feature_spec(lua_State* L, const FeatureTable& table) {
  FeatureSpec spec{.name = table.name, .shape = table.shape, .dtype = table.dtype};
  if (!table.default_value) return spec;
  table.default_value.push(L);
  if (spec.dtype == Dtype::bytes) {
    spec.default_value = bytes_tensor(Value<std::string>::read(L, -1));
  } else {
    spec.default_value = filled(read_host_tensor(L, -1, spec.dtype), spec.shape);
  }
  lua_pop(L, 1);
  return spec;
}

std::shared_ptr<const ElementFunction> example_parser(lua_State* L, const std::vector<FeatureTable>& features) {
  std::vector<FeatureSpec> specs;
  for (const FeatureTable& feature : features) specs.push_back(feature_spec(L, feature));
  return parse_example(std::move(specs));
}

struct TfrecordTable {
  std::string compression = "none";
  bool ignore_errors = false;
  static constexpr auto fields = std::tuple{field("compression", &TfrecordTable::compression),
                                            field("ignore_errors", &TfrecordTable::ignore_errors)};
};

DatasetPtr records(lua_State* L, const FileNames& files, const TfrecordTable& options) {
  const DatasetPtr dataset = tfrecord(listed(L, files), parse_tfrecord_compression(options.compression));
  return options.ignore_errors ? ignore_errors(dataset) : dataset;
}

struct WriterTable {
  std::string compression = "none";
  static constexpr auto fields = std::tuple{field("compression", &WriterTable::compression)};
};

std::shared_ptr<TfrecordFileWriter> open_writer(lua_State* L, const std::string& path, const WriterTable& options) {
  const TfrecordCompression compression = parse_tfrecord_compression(options.compression);
  auto file = std::make_shared<TfrecordFileWriter>();
  file->writer.emplace(output_path(L, path, "tfrecord_writer"), compression);
  return file;
}

void write_record(lua_State* L, TfrecordFileWriter& file, const std::variant<std::string, Tensor>& record) {
  if (!file.writer) throw Error("tfrecord_writer: the file is closed already");
  if (const auto* text = std::get_if<std::string>(&record)) return file.writer->write(std::as_bytes(std::span(*text)));
  const HostTensor bytes = download(L, std::get<Tensor>(record));
  if (bytes.dtype() != Dtype::u8) {
    throw Error(fmt::format("tfrecord_writer: a record is bytes, a string or a uint8 tensor; this is {}",
                            to_string(bytes.type())));
  }
  file.writer->write({bytes.data(), bytes.bytes()});
}

void close_writer(TfrecordFileWriter& file) {
  if (!file.writer) return;
  file.writer->close();
  file.writer.reset();
}

/// An error that leaves the scope leaves no half-written file.
void leave_writer(const std::shared_ptr<TfrecordFileWriter>& file, const std::optional<Reference>& error) {
  if (error) return file->writer.reset();
  close_writer(*file);
}

}  // namespace

Feature Value<Feature>::read(lua_State* L, int index) {
  if (!matches(L, index)) mismatch(L, index, expected());
  if (Value<Tensor>::matches(L, index)) return {values_of(download(L, Value<Tensor>::read(L, index)))};
  bool whole = false;
  const int type = type_of_values(L, index, whole);
  if (type == LUA_TSTRING) return {one_or_list<std::string>(L, index)};
  if (whole) return {one_or_list<std::int64_t>(L, index)};
  return {one_or_list<float>(L, index)};
}

void open_data_records(lua_State* L) {
  Class<TfrecordFileWriter>(L).method<&write_record>("write").method<&close_writer>("close").meta<&leave_writer>(
      "__close");
  const Module gb = Module::root(L);
  const Module data = gb.submodule("data");
  data.function<&open_writer>("tfrecord_writer")
      .function<&example>("example")
      .function<&example_parser>("parse_example");
  const Module constructors = data.submodule("Dataset");
  constructors.function<&records>("tfrecord");
}

}  // namespace gpubench::lua

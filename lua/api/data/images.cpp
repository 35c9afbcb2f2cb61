// gb.image.decode, gb.image.encode_jpeg and gb.data.Dataset.image_folder: images from files and to them.
#include <cstring>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/codec/jpeg.h"
#include "core/data/function/decode_image.h"
#include "core/data/source/image_folder.h"
#include "lua/api/data/dataset.h"
#include "lua/api/data/element_function.h"
#include "lua/api/data/pipeline.h"
#include "lua/api/openers.h"
#include "lua/api/session.h"
#include "lua/api/tensor/tensor.h"
#include "lua/api/types.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {

template <>
inline constexpr std::array enum_names<ResizeFilter> = {std::pair{std::string_view("bilinear"), ResizeFilter::bilinear},
                                                        std::pair{std::string_view("nearest"), ResizeFilter::nearest}};

namespace {

using Size = std::array<std::int64_t, 2>;

struct DecodeTable {
  int channels = 0;
  std::optional<Size> size;
  ResizeFilter method = ResizeFilter::bilinear;
  Dtype dtype = Dtype::u8;
  std::optional<int> ratio;
  static constexpr auto fields = std::tuple{field("channels", &DecodeTable::channels),
                                            field("size", &DecodeTable::size), field("method", &DecodeTable::method),
                                            field("dtype", &DecodeTable::dtype), field("ratio", &DecodeTable::ratio)};
};

std::shared_ptr<const ElementFunction> decoder(const DecodeTable& options) {
  return decode_image({options.channels, options.size, options.method, options.dtype, options.ratio});
}

struct EncodeJpegTable {
  int quality = 95;
  static constexpr auto fields = std::tuple{field("quality", &EncodeJpegTable::quality)};
};

Tensor jpeg_of(lua_State* L, const Tensor& image, const EncodeJpegTable& options) {
  const HostTensor pixels = download(L, image);
  if (pixels.dtype() != Dtype::u8 || pixels.type().rank() != 3) {
    throw Error(fmt::format("encode_jpeg: expects uint8[height, width, channels], got {}", to_string(pixels.type())));
  }
  const Shape& shape = pixels.shape();
  const std::vector<std::byte> bytes =
      encode_jpeg(pixels.values<std::uint8_t>(), shape[0], shape[1], shape[2], options.quality);
  HostTensor file({{std::ssize(bytes)}, Dtype::u8});
  std::memcpy(file.data(), bytes.data(), bytes.size());
  return world_of(L).dispatcher.constant(file);
}

struct ImageFolderTable {
  int channels = 3;
  std::optional<Size> size;
  ResizeFilter method = ResizeFilter::bilinear;
  Dtype dtype = Dtype::u8;
  bool shuffle = false;
  std::optional<std::uint64_t> seed;
  std::optional<std::int64_t> num_parallel_calls;
  std::optional<bool> deterministic;
  static constexpr auto fields = std::tuple{field("channels", &ImageFolderTable::channels),
                                            field("size", &ImageFolderTable::size),
                                            field("method", &ImageFolderTable::method),
                                            field("dtype", &ImageFolderTable::dtype),
                                            field("shuffle", &ImageFolderTable::shuffle),
                                            field("seed", &ImageFolderTable::seed),
                                            field("num_parallel_calls", &ImageFolderTable::num_parallel_calls),
                                            field("deterministic", &ImageFolderTable::deterministic)};
};

std::tuple<DatasetPtr, std::vector<std::string>> images_in_folders(lua_State* L, const std::string& root,
                                                                   const ImageFolderTable& options) {
  const LabelledImages images = find_images(root);
  FileOrder order{.shuffle = options.shuffle};
  if (order.shuffle) order.seed = options.seed ? *options.seed : session_of(L).random.next_seed();
  const DecodeOptions decode{options.channels, options.size, options.method, options.dtype};
  const MapTable calls{options.num_parallel_calls, options.deterministic, {}};
  return {image_folder(images, order, decode, calls.native(L)), images.class_names};
}

}  // namespace

void open_data_images(lua_State* L) {
  const Module gb = Module::root(L);
  {
    const Module image = gb.submodule("image");
    image.function<&decoder>("decode").function<&jpeg_of>("encode_jpeg");
  }
  const Module data = gb.submodule("data");
  const Module constructors = data.submodule("Dataset");
  constructors.function<&images_in_folders>("image_folder");
}

}  // namespace gpubench::lua

#include "core/data/source/image_set.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/resources.h"
#include "tests/support/expect_error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

class Digits : public TemporaryFolder {
 protected:
  static std::vector<ImageSetFolder> sample() { return {{"sample", resource("data/mnist"), true}}; }

  static std::string idx(const std::vector<std::uint32_t>& extents, const std::string& data) {
    std::string bytes = big(0x0800U | static_cast<std::uint32_t>(extents.size()));
    for (const std::uint32_t extent : extents) bytes += big(extent);
    return bytes + data;
  }
  static std::string images(std::uint32_t count) {
    return idx({count, 28, 28}, std::string(std::size_t{count} * 784, '\xff'));
  }
  std::vector<ImageSetFolder> here() const { return {{"here", file("")}}; }

  /// Where the full digits lie on machines that have them.
  static std::vector<ImageSetFolder> full() {
    std::vector<ImageSetFolder> folders{{"shared", "../shared/data/mnist"}};
    if (const char* const data = std::getenv("GPUBENCH_DATA")) folders.insert(folders.begin(), {"GPUBENCH_DATA", data});
    std::erase_if(folders, [](const ImageSetFolder& folder) {
      return !std::filesystem::exists(folder.directory / "train-images-idx3-ubyte.gz");
    });
    return folders;
  }
};

TEST_F(Digits, TheSampleIsSplitInTwo) {
  const ImageSet train = load_images(mnist(), "train", {}, sample());
  const ImageSet test = load_images(mnist(), "test", {}, sample());
  EXPECT_EQ(to_string(train.images.type()), "float32[8000, 784]");
  EXPECT_EQ(to_string(train.labels.type()), "float32[8000, 10]");
  EXPECT_EQ(to_string(test.images.type()), "float32[2000, 784]");
  EXPECT_EQ(train.origin.kind, "sample");
  EXPECT_EQ(train.origin.examples, 8000);
  EXPECT_EQ(test.origin.examples, 2000);
  EXPECT_EQ(train.origin.checksum, "crc32:096b2c0a");
  EXPECT_EQ(test.origin.checksum, "crc32:c65584f2");
}

TEST_F(Digits, ImagesAndLabelsAreScaledAndOneHot) {
  const ImageSet test = load_images(mnist(), "test", {}, sample());
  const auto images = test.images.values<float>();
  EXPECT_EQ(*std::min_element(images.begin(), images.end()), 0.0F);
  EXPECT_EQ(*std::max_element(images.begin(), images.end()), 1.0F);
  for (std::int64_t row = 0; row < 2000; ++row) {
    const auto label = test.labels.rows(row, row + 1).values<float>();
    ASSERT_EQ(std::count(label.begin(), label.end(), 1.0F), 1);
    ASSERT_EQ(std::count(label.begin(), label.end(), 0.0F), 9);
  }
}

TEST_F(Digits, OptionsChangeShapeLabelsAndScale) {
  const ImageSet plain = load_images(mnist(), "test", {}, sample());
  const ImageSet raw = load_images(mnist(), "test", {.flatten = false, .one_hot = false, .scaled = false}, sample());
  EXPECT_EQ(to_string(raw.images.type()), "uint8[2000, 28, 28, 1]");
  EXPECT_EQ(to_string(raw.labels.type()), "int64[2000]");
  const auto pixels = raw.images.values<std::uint8_t>();
  const auto floats = plain.images.values<float>();
  for (std::size_t i = 0; i < pixels.size(); ++i) ASSERT_EQ(floats[i], static_cast<float>(pixels[i]) / 255.0F);
  const auto labels = raw.labels.values<std::int64_t>();
  for (std::size_t i = 0; i < labels.size(); ++i) {
    ASSERT_EQ(plain.labels.values<float>()[10 * i + static_cast<std::size_t>(labels[i])], 1.0F);
  }
}

TEST_F(Digits, TheFullDigitsAreTheOnesPublished) {
  const std::vector<ImageSetFolder> folders = full();
  if (folders.empty()) GTEST_SKIP() << "no full digits in $GPUBENCH_DATA or ../shared/data/mnist";
  const ImageSet train = load_images(mnist(), "train", {.one_hot = false, .scaled = false}, folders);
  EXPECT_EQ(to_string(train.images.type()), "uint8[60000, 784]");
  EXPECT_THAT(train.labels.rows(0, 5).values<std::int64_t>(), ElementsAre(5, 0, 4, 1, 9));
  EXPECT_EQ(load_images(mnist(), "test", {}, folders).origin.examples, 10000);
}

TEST_F(Digits, TheFirstFolderWithDigitsIsUsed) {
  write("train-images-idx3-ubyte", images(2));
  write("train-labels-idx1-ubyte", idx({2}, "\3\7"));
  std::vector<ImageSetFolder> folders = here();
  folders.insert(folders.begin(), {"empty", file("empty")});
  folders.push_back(sample().front());
  const ImageSet train = load_images(mnist(), "train", {}, folders);
  EXPECT_EQ(train.origin.kind, "here");
  EXPECT_EQ(train.origin.directory, file(""));
  EXPECT_EQ(train.origin.examples, 2);
  EXPECT_THAT(train.images.values<float>(), Each(1.0F));
  EXPECT_THAT(train.labels.rows(1, 2).values<float>(), ElementsAre(0, 0, 0, 0, 0, 0, 0, 1, 0, 0));
}

TEST_F(Digits, AnIncompleteFolderIsAnErrorAndNoReasonToGoOn) {
  write("train-images-idx3-ubyte", images(2));
  std::vector<ImageSetFolder> folders = here();
  folders.push_back(sample().front());
  EXPECT_ERROR("mnist: " + file("").string() + " has neither train-labels-idx1-ubyte nor train-labels-idx1-ubyte.gz",
               load_images(mnist(), "train", {}, folders));
}

TEST_F(Digits, DamagedFilesAreNamed) {
  const auto images_file = write("train-images-idx3-ubyte", images(2));
  const auto labels_file = write("train-labels-idx1-ubyte", idx({2}, "\3\12"));
  EXPECT_ERROR(labels_file.string() + ": label 10 of example 1 is out of range; labels are 0 to 9",
               load_images(mnist(), "train", {}, here()));
  write("train-labels-idx1-ubyte", idx({3}, "\3\4\5"));
  EXPECT_ERROR("mnist: " + images_file.string() + " has 2 images, but " + labels_file.string() + " has 3 labels",
               load_images(mnist(), "train", {}, here()));
  write("train-images-idx3-ubyte", idx({2, 20, 28}, std::string(1120, 'x')));
  EXPECT_ERROR(images_file.string() + ": holds uint8[2, 20, 28]; uint8[any, 28, 28] is expected",
               load_images(mnist(), "train", {}, here()));
  write("train-images-idx3-ubyte", images(2).substr(0, 1000));
  EXPECT_ERROR(HasSubstr("the file is cut short"), load_images(mnist(), "train", {}, here()));
  write("train-images-idx3-ubyte", images(0));
  write("train-labels-idx1-ubyte", idx({0}, ""));
  EXPECT_ERROR("mnist: " + images_file.string() + " has no images", load_images(mnist(), "train", {}, here()));
}

TEST_F(Digits, UnknownSplitsAndFoldersAreNamed) {
  EXPECT_ERROR("mnist: unknown split 'valid' (known: train, test)", load_images(mnist(), "valid", {}, sample()));
  EXPECT_ERROR("mnist: no images found; looked in " + file("").string() + " (here)",
               load_images(mnist(), "train", {}, here()));
}

/// Sets a variable of the environment for a test.
class EnvironmentVariable {
 public:
  EnvironmentVariable(const char* name, const std::string& value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  ~EnvironmentVariable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }
  EnvironmentVariable(const EnvironmentVariable&) = delete;
  EnvironmentVariable& operator=(const EnvironmentVariable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST_F(Digits, FoldersComeFromTheEnvironmentTheCacheAndTheProgram) {
  const EnvironmentVariable data("GPUBENCH_DATA", "");
  const EnvironmentVariable cache("XDG_CACHE_HOME", "/xdg");
  const std::vector<ImageSetFolder> folders = image_folders(mnist());
  ASSERT_EQ(folders.size(), 2U);
  EXPECT_EQ(folders[0].directory, "/xdg/gpubench/mnist");
  EXPECT_EQ(folders[0].kind, "user cache");
  EXPECT_TRUE(folders[1].is_sample);
}

TEST_F(Digits, AFolderThatIsSetIsTheOnlyOne) {
  const EnvironmentVariable data("GPUBENCH_DATA", file("").string());
  const std::vector<ImageSetFolder> folders = image_folders(mnist());
  ASSERT_EQ(folders.size(), 2U);
  EXPECT_EQ(folders[0].directory, file("") / "mnist");
  EXPECT_EQ(folders[1].directory, file(""));
  EXPECT_THROW(load_images(mnist(), "train"), Error);
}

TEST_F(Digits, AFolderThatIsSetMustExist) {
  const EnvironmentVariable data("GPUBENCH_DATA", "/no/such/folder");
  EXPECT_ERROR("mnist: GPUBENCH_DATA is /no/such/folder, which is no folder", image_folders(mnist()));
}

TEST_F(Digits, ArraysAreDecodedOncePerProcess) {
  const EnvironmentVariable data("GPUBENCH_DATA", "");
  const EnvironmentVariable cache("XDG_CACHE_HOME", file("").string());
  const ImageSet first = load_images(mnist(), "test");
  const ImageSet second = load_images(mnist(), "test", {.flatten = false});
  EXPECT_EQ(first.images.data(), second.images.data());
  EXPECT_EQ(to_string(first.images.type()), "float32[2000, 784]");
  EXPECT_EQ(to_string(first.labels.type()), "float32[2000, 10]");
}

TEST_F(Digits, AFolderOfTheUserIsUsedOrAnError) {
  const EnvironmentVariable data("GPUBENCH_DATA", "/no/such/folder");
  write("t10k-images-idx3-ubyte", images(3));
  write("t10k-labels-idx1-ubyte", idx({3}, "\1\2\3"));
  const ImageSet test = load_images(mnist(), "test", {}, file(""));
  EXPECT_EQ(test.origin.kind, "directory");
  EXPECT_EQ(test.origin.examples, 3);
  const std::filesystem::path missing = file("missing");
  EXPECT_ERROR("mnist: " + missing.string() + " is no folder", load_images(mnist(), "test", {}, missing));
}

TEST_F(Digits, FashionHasTheFormatButNeitherTheFolderNorTheSample) {
  const EnvironmentVariable data("GPUBENCH_DATA", file("").string());
  write("t10k-images-idx3-ubyte", images(2));
  write("t10k-labels-idx1-ubyte", idx({2}, "\1\2"));
  EXPECT_ERROR(
      "fashion_mnist: no images found; looked in " + (file("") / "fashion_mnist").string() + " (GPUBENCH_DATA)",
      load_images(fashion_mnist(), "test"));
  std::filesystem::create_directory(file("fashion_mnist"));
  write("fashion_mnist/t10k-images-idx3-ubyte", images(1));
  write("fashion_mnist/t10k-labels-idx1-ubyte", idx({1}, "\5"));
  const ImageSet test = load_images(fashion_mnist(), "test", {.flatten = false, .one_hot = false});
  EXPECT_EQ(to_string(test.images.type()), "float32[1, 28, 28, 1]");
  EXPECT_THAT(test.labels.values<std::int64_t>(), ElementsAre(5));
}

class Cifar10 : public TemporaryFolder {
 protected:
  /// A record whose pixel p has the values p, p + 1 and p + 2 (modulo 256).
  static std::string record(char label) {
    std::string bytes(1, label);
    for (int channel = 0; channel < 3; ++channel) {
      for (int pixel = 0; pixel < 1024; ++pixel) bytes += static_cast<char>(pixel + channel);
    }
    return bytes;
  }
  ImageSet load(std::string_view split) const {
    const std::vector<ImageSetFolder> folders{{"here", file("")}};
    return load_images(cifar10(), split, {.flatten = false, .one_hot = false, .scaled = false}, folders);
  }
};

TEST_F(Cifar10, PlanesBecomeChannels) {
  write("test_batch.bin", record(3) + record(9));
  const ImageSet test = load("test");
  EXPECT_EQ(to_string(test.images.type()), "uint8[2, 32, 32, 3]");
  EXPECT_THAT(test.labels.values<std::int64_t>(), ElementsAre(3, 9));
  const auto pixels = test.images.values<std::uint8_t>();
  for (std::size_t i = 0; i < pixels.size(); ++i) ASSERT_EQ(pixels[i], (i % 3072 / 3 + i % 3) % 256) << i;
}

TEST_F(Cifar10, TrainingImagesAreOfFiveFilesInTheirOrder) {
  for (int i = 1; i <= 5; ++i) write("data_batch_" + std::to_string(i) + ".bin", record(static_cast<char>(i)));
  EXPECT_THAT(load("train").labels.values<std::int64_t>(), ElementsAre(1, 2, 3, 4, 5));
}

TEST_F(Cifar10, RecordsOfAHundredClassesHaveTwoLabels) {
  write("test.bin", std::string(1, 3) + record(77) + std::string(1, 19) + record(99));
  const std::vector<ImageSetFolder> folders{{"here", file("")}};
  const ImageSetOptions options{.flatten = false, .one_hot = false};
  const ImageSet fine = load_images(cifar100_fine(), "test", options, folders);
  EXPECT_THAT(fine.labels.values<std::int64_t>(), ElementsAre(77, 99));
  EXPECT_EQ(to_string(fine.images.type()), "float32[2, 32, 32, 3]");
  EXPECT_EQ(fine.images.values<float>()[3], 1.0F / 255);
  const ImageSet coarse = load_images(cifar100_coarse(), "test", {}, folders);
  EXPECT_EQ(to_string(coarse.labels.type()), "float32[2, 20]");
  EXPECT_EQ(coarse.labels.values<float>()[20 + 19], 1.0F);
  write("test.bin", std::string(1, 20) + record(77));
  EXPECT_ERROR(HasSubstr("label 20 of example 0 is out of range; labels are 0 to 19"),
               load_images(cifar100_coarse(), "test", options, folders));
  EXPECT_ERROR("cifar100: " + file("").string() + " has neither train.bin nor train.bin.gz",
               load_images(cifar100_fine(), "train", options, folders));
}

TEST_F(Cifar10, DamagedFilesAreNamed) {
  EXPECT_ERROR("cifar10: no images found; looked in " + file("").string() + " (here)", load("test"));
  const auto path = write("test_batch.bin", record(3) + record(4).substr(0, 100));
  EXPECT_ERROR(HasSubstr(path.string() + ": "), load("test"));
  EXPECT_ERROR(HasSubstr("record 2 of 3073 bytes"), load("test"));
  write("test_batch.bin", record(3) + record(10));
  EXPECT_ERROR(path.string() + ": label 10 of example 1 is out of range; labels are 0 to 9", load("test"));
  write("test_batch.bin", "");
  EXPECT_ERROR("cifar10: " + path.string() + " has no images", load("test"));
  EXPECT_ERROR("cifar10: " + file("").string() + " has neither data_batch_1.bin nor data_batch_1.bin.gz",
               load("train"));
}

}  // namespace
}  // namespace gpubench

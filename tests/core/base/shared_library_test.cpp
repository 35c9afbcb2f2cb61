#include "core/base/shared_library.h"

#include <array>
#include <cmath>
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(SharedLibraryTest, BindsFunctionsOfTheFirstLibraryThatOpens) {
  const std::array<std::string_view, 2> names{"libno_such_library.so.1", "libm.so.6"};
  const SharedLibrary library(names, {});
  EXPECT_EQ(library.name(), "libm.so.6");
  double (*cosine)(double) = nullptr;
  library.bind(cosine, "cos");
  EXPECT_EQ(cosine(0.0), 1.0);
  double (*missing)(double) = cosine;
  library.bind_if_there(missing, "no_such_function");
  EXPECT_EQ(missing, nullptr);
  EXPECT_THAT([&] { library.bind(missing, "no_such_function"); },
              ThrowsMessage<Error>("libm.so.6 has no function no_such_function: it is too old"));
}

TEST(SharedLibraryTest, SaysWhyNothingCouldBeOpened) {
  const std::array<std::string_view, 1> names{"libno_such_library.so.1"};
  EXPECT_THAT([&] { SharedLibrary(names, {}); },
              ThrowsMessage<Error>(AllOf(HasSubstr("libno_such_library.so.1 cannot be opened: "),
                                         HasSubstr("No such file or directory"))));
}

using LibraryFolderTest = TemporaryFolder;

TEST_F(LibraryFolderTest, AFileThatIsNoLibraryIsTheReason) {
  write("libno_such_library.so.1", "no library");
  const std::array<std::string_view, 1> names{"libno_such_library.so.1"};
  const std::array<fs::path, 1> folders{file("")};
  EXPECT_THAT([&] { SharedLibrary(names, folders); }, ThrowsMessage<Error>(HasSubstr("file too short")));
}

TEST_F(LibraryFolderTest, FindsTheLibrariesOfPythonWheels) {
  const fs::path packages = file("lib/python3.12/site-packages");
  fs::create_directories(packages / "nvidia/cudnn/lib");
  fs::create_directories(packages / "nvidia/no_libraries");
  ASSERT_EQ(::setenv("VIRTUAL_ENV", file("").parent_path().c_str(), 1), 0);
  const std::vector<fs::path> python = python_package_folders();
  ::unsetenv("VIRTUAL_ENV");
  EXPECT_THAT(python, Contains(packages));
  EXPECT_THAT(cuda_library_folders(python), Contains(packages / "nvidia/cudnn/lib"));
  EXPECT_THAT(cuda_library_folders(python), testing::Not(Contains(packages / "nvidia/no_libraries/lib")));
}

}  // namespace
}  // namespace gpubench

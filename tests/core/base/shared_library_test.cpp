#include "core/base/shared_library.h"

#include <array>
#include <cmath>
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>

#include "core/base/error.h"
#include "tests/support/expect_error.h"
#include "tests/support/files.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

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
  EXPECT_ERROR("libm.so.6 has no function no_such_function: it is too old", library.bind(missing, "no_such_function"));
}

TEST(SharedLibraryTest, SaysWhyNothingCouldBeOpened) {
  const std::array<std::string_view, 1> names{"libno_such_library.so.1"};
  EXPECT_ERROR(AllOf(HasSubstr("libno_such_library.so.1 cannot be opened: "), HasSubstr("No such file or directory")),
               SharedLibrary(names, {}));
}

using LibraryFolderTest = TemporaryFolder;

TEST_F(LibraryFolderTest, AFileThatIsNoLibraryIsTheReason) {
  write("libno_such_library.so.1", "no library");
  const std::array<std::string_view, 1> names{"libno_such_library.so.1"};
  const std::array<fs::path, 1> folders{file("")};
  EXPECT_ERROR(HasSubstr("file too short"), SharedLibrary(names, folders));
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

/// Sets a variable of the environment until it ends.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST_F(LibraryFolderTest, CuptiStandsBesideTheToolkitsLibraries) {
  fs::create_directories(file("toolkit/lib64"));
  fs::create_directories(file("toolkit/extras/CUPTI/lib64"));
  const Variable home("CUDA_HOME", file("toolkit"));
  EXPECT_THAT(cuda_library_folders({}),
              testing::IsSupersetOf({file("toolkit/lib64"), file("toolkit/extras/CUPTI/lib64")}));
}

TEST_F(LibraryFolderTest, OpensLibrariesOfWheelsOfTheUserOfPyenvAndOfAChosenInterpreter) {
  constexpr std::array<std::string_view, 1> names{"libgpubench_of_a_wheel.so.1"};
  const fs::path real = SharedLibrary(std::array<std::string_view, 1>{"libm.so.6"}, {}).path();
  const fs::path root = file("").parent_path();
  fs::create_directories(root / "shims");
  write("shims/python3", "");
  const auto opened_from = [&](const std::string& prefix) {
    const fs::path folder = root / prefix / "lib/python3.12/site-packages/nvidia/cudnn/lib";
    fs::create_directories(folder);
    fs::create_symlink(real, folder / names[0]);
    const SharedLibrary library(names, cuda_library_folders(python_package_folders()));
    fs::remove(folder / names[0]);
    return library.name() == folder / names[0];
  };
  const Variable no_python("PYTHON", "");
  {
    const Variable home("HOME", root);
    EXPECT_TRUE(opened_from(".local"));
  }
  {
    const Variable base("PYTHONUSERBASE", root / "base");
    EXPECT_TRUE(opened_from("base"));
  }
  {
    const Variable path("PATH", "/usr/bin:" + (root / "shims").string());
    EXPECT_TRUE(opened_from("versions/3.12.1"));
  }
  {
    const Variable python("PYTHON", root / "venv/bin/python3.12");
    EXPECT_TRUE(opened_from("venv"));
  }
  {
    fs::create_directories(root / "named/bin");
    write("named/bin/python3.12", "");
    const Variable path("PATH", root / "named/bin"), python("PYTHON", "python3.12");
    EXPECT_TRUE(opened_from("named"));
  }
  EXPECT_THROW(opened_from("versions/3.12.1"), Error) << "nothing names it";
}

}  // namespace
}  // namespace gpubench

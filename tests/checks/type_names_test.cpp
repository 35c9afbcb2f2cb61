#include "tests/checks/type_names.h"

#include <fstream>
#include <gmock/gmock.h>
#include <sstream>

#include "tests/support/files.h"

namespace gpubench::checks {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(TypeNames, AreThoseOfNamespacesThatOtherFilesSee) {
  std::istringstream source(
      "namespace gpubench {\n"
      "struct Declared;\n"
      "struct Launch {\n"
      "  struct Inner {\n"
      "  };\n"
      "};\n"
      "class Device final : public Base {\n"
      "struct Launch::State {\n"
      "struct Special<int> {\n"
      "namespace {\n"
      "struct Own {\n"
      "}  // namespace\n"
      "namespace cpu {\n"
      "enum class Kind { a };\n"
      "enum class Wide {\n"
      "}  // namespace cpu\n"
      "}  // namespace gpubench\n");
  EXPECT_THAT(types_of(source), ElementsAre("gpubench::Launch", "gpubench::Device", "gpubench::cpu::Wide"));
}

using TypeNamesOfFiles = TemporaryFolder;

TEST_F(TypeNamesOfFiles, OfTwoFilesAreFound) {
  const std::filesystem::path root = file("");
  std::filesystem::create_directories(root / "core/a");
  std::filesystem::create_directories(root / "lua");
  for (const char* name : {"core/a/one.h", "lua/other.h"}) {
    std::ofstream(root / name) << "namespace gpubench {\nstruct Launch {\n};\n}  // namespace gpubench\n";
  }
  EXPECT_THAT(types_of_two_files(root), ElementsAre("gpubench::Launch: core/a/one.h and lua/other.h"));
}

TEST(TypeNames, OfTheSourcesAreOfOneFileEach) {
  EXPECT_THAT(types_of_two_files(GPUBENCH_SOURCE_DIR), IsEmpty());
}

}  // namespace
}  // namespace gpubench::checks

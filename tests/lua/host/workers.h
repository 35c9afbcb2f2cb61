// A test that runs scripts in several processes.
#pragma once
#include <cstdlib>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "tests/lua/host/folder.h"

namespace gpubench {

/// mpirun's own limit is the test's.
class Workers : public FolderTest {
 protected:
  void SetUp() override {
    if (std::system("mpirun --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "there is no mpirun";
    // Of the processes that the tests start: Open MPI keeps memory to the end, in modules that are closed by then, so
    // that a leak checker cannot tell whose it is.
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
  }
  Ended run_with(int workers, const std::string& script, std::vector<std::string> options = {}) const {
    options.insert(options.end(), {"--workers", std::to_string(workers), "--quick"});
    return run(script, std::move(options));
  }
};

}  // namespace gpubench

// Faults of NVIDIA's driver and libraries, and the reasons why a GPU that is there is not used.
#include <array>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <unistd.h>

#include "core/nvidia/gpu_fault.h"
#include "core/nvidia/gpu_library.h"
#include "tests/core/doctor/fake_machine.h"
#include "tests/support/expect_error.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class DoctorOfNvidia : public DoctorTest {
 protected:
  /// The card is there, and the program uses none.
  void use_none(const std::string& reason) {
    sources_.gpus = {};
    sources_.gpu_absence = DeviceFault{reason, "see nvidia-smi"};
  }
};

TEST_F(DoctorOfNvidia, WithoutACardNothingIsMissing) {
  take_gpu_away();
  EXPECT_EQ(state_of("devices"), "ok: no GPU in this machine");
  EXPECT_EQ(state_of("driver"), "ok: none, and none is needed");
  EXPECT_EQ(state_of("libraries"), "ok: oneDNN 2.6.2, strict; NVIDIA's are not needed without a GPU");
}

TEST_F(DoctorOfNvidia, ACardWithoutADriver) {
  use_none("?");
  remove("proc/driver");
  sources_.open_nvml = [] { return NvmlAccess{nullptr, "no such file"}; };
  EXPECT_EQ(state_of("devices"),
            "costs speed: 1 GPU in this machine, none used: no NVIDIA driver is loaded "
            "(/proc/driver/nvidia/version is missing)");
  EXPECT_EQ(result("devices").consequence, "training runs on the CPU");
  EXPECT_THAT(state_of("driver"), StartsWith("wrong: no NVIDIA driver is loaded"));
}

TEST_F(DoctorOfNvidia, AProgramWithoutCuda) {
  use_none("this gpubench was built without the CUDA toolkit");
  sources_.cuda_version = 0;
  EXPECT_EQ(state_of("devices"),
            "costs speed: 1 GPU in this machine, none used: this gpubench was built without the CUDA toolkit");
}

TEST_F(DoctorOfNvidia, AContainerWithoutTheRuntime) {
  use_none("the NVIDIA driver finds no GPU");
  remove("dev/nvidiactl");
  EXPECT_THAT(state_of("devices"), HasSubstr("the device node /dev/nvidiactl is missing"));
  put(".dockerenv", "");
  EXPECT_THAT(state_of("devices"),
              HasSubstr("this container has no /dev/nvidiactl: it was started without the NVIDIA runtime"));
  EXPECT_THAT(result("devices").remedy, HasSubstr("docker run --gpus all"));
  put("dev/nvidiactl", "");
  remove("dev/nvidia0");
  EXPECT_THAT(state_of("devices"), HasSubstr("this container has no /dev/nvidia0"));
}

TEST_F(DoctorOfNvidia, ANodeThatMayNotBeOpened) {
  use_none("the NVIDIA driver finds no GPU");
  std::filesystem::permissions(file("dev/nvidia0"), std::filesystem::perms::none);
  const bool root = ::geteuid() == 0;
  if (root) {
    std::filesystem::permissions(file(""), std::filesystem::perms::all);
    std::filesystem::permissions(file("dev/nvidiactl"), std::filesystem::perms::all);
    ASSERT_EQ(::seteuid(65534), 0);
  }
  const std::string state = state_of("devices"), remedy = result("devices").remedy;
  if (root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  EXPECT_THAT(state, HasSubstr("/dev/nvidia0 may not be opened by this user (Permission denied; it belongs to group "));
  EXPECT_THAT(remedy, StartsWith("add the user to group "));
}

TEST_F(DoctorOfNvidia, VariablesThatHideGpus) {
  use_none("?");
  environment_["CUDA_VISIBLE_DEVICES"] = "";
  EXPECT_THAT(state_of("devices"), HasSubstr("CUDA_VISIBLE_DEVICES is empty, which hides every GPU"));
  environment_["CUDA_VISIBLE_DEVICES"] = "-1";
  EXPECT_THAT(state_of("devices"), HasSubstr("CUDA_VISIBLE_DEVICES=-1 hides every GPU"));
  environment_["CUDA_VISIBLE_DEVICES"] = "7";
  use_none("CUDA_VISIBLE_DEVICES=7 names no GPU of this machine");
  EXPECT_THAT(state_of("devices"), HasSubstr("none used: CUDA_VISIBLE_DEVICES=7 names no GPU of this machine"));
  EXPECT_FALSE(hidden_gpus("0,1"));
  EXPECT_FALSE(hidden_gpus(std::nullopt));
}

TEST_F(DoctorOfNvidia, SomeOfTheGpus) {
  nvml_.device_count = 8;
  EXPECT_EQ(state_of("devices"), "ok: 1 of 8 GPUs");
  environment_["CUDA_VISIBLE_DEVICES"] = "3";
  EXPECT_EQ(state_of("devices"), "ok: 1 of 8 GPUs (CUDA_VISIBLE_DEVICES=3)");
  sources_.unusable_gpus = {{"GPU 1 cannot be used: it is broken", "replace it"},
                            {"GPU 2 cannot be used: it is hot", "cool it"},
                            {"GPU 3 cannot be used: it is hot", "cool it"}};
  EXPECT_EQ(
      state_of("devices"),
      "wrong: GPU 1 cannot be used: it is broken; GPU 2 cannot be used: it is hot; GPU 3 cannot be used: it is hot");
  EXPECT_EQ(result("devices").remedy, "replace it; cool it");
}

TEST_F(DoctorOfNvidia, HalvesOfTheDriverOfTwoVersions) {
  put("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  575.57.08  Release\n");
  EXPECT_EQ(state_of("driver"),
            "wrong: the kernel's module is of version 575.57.08, the libraries are of version 580.65.06");
  sources_.open_nvml = [] { return NvmlAccess{nullptr, "Driver/library version mismatch"}; };
  EXPECT_EQ(state_of("driver"), "unknown: the driver's library NVML cannot be used: Driver/library version mismatch")
      << "the program computes on the GPU";
  use_none("?");
  EXPECT_EQ(state_of("driver"),
            "wrong: version 575.57.08 is loaded, and its library cannot be used: Driver/library version mismatch");
}

TEST_F(DoctorOfNvidia, ADriverThatIsTooOld) {
  nvml_.cuda_version = 12080;
  EXPECT_EQ(state_of("driver"), "wrong: the NVIDIA driver is for CUDA 12.8, this program needs one for CUDA 13.0");
  EXPECT_EQ(result("driver").remedy,
            "install an NVIDIA driver for CUDA 13 or later (nvidia-smi shows its CUDA version)");
  nvml_.cuda_version = 13010;
  EXPECT_EQ(state_of("driver"), "ok: 580.65.06, for CUDA 13.1");
  put("proc/driver/nvidia/version", "NVRM version:");
  EXPECT_EQ(state_of("driver"), "ok: 580.65.06, for CUDA 13.1") << "a file that is cut tells nothing";
  sources_.open_nvml = [] { return NvmlAccess{nullptr, "no such file"}; };
  sources_.driver_cuda_version = 12080;
  EXPECT_EQ(state_of("driver"), "wrong: the NVIDIA driver is for CUDA 12.8, this program needs one for CUDA 13.0")
      << "CUDA's runtime reports it where NVML is missing";
}

TEST_F(DoctorOfNvidia, LibrariesTellTheirVersions) {
  sources_.gpus.push_back({"gpu:1", "0000:2c:00.0"});
  EXPECT_EQ(state_of("libraries"), "ok: oneDNN 2.6.2, strict; CUDA 13.0; cuBLASLt 13.1.1; cuDNN 9.12.0; NCCL 2.27.3");
}

TEST_F(DoctorOfNvidia, LibrariesThatDoNotFit) {
  set_library_version("FAKE_CUDNN_VERSION", 80907);
  EXPECT_THAT(state_of("libraries"), StartsWith("wrong: cuDNN 8.9.7 is older than 9"));
  set_library_version("FAKE_CUDNN_VERSION", 91200);
  set_library_version("FAKE_BUILT_FOR_CUDA", 12090);
  EXPECT_EQ(state_of("libraries"), "wrong: cuBLASLt 13.1.1 was built for CUDA 12, this program for CUDA 13");
}

/// cuDNN with its parts in a folder, as a package of wheels has them; cuBLASLt lies elsewhere.
class DoctorOfCudnn : public DoctorOfNvidia {
 protected:
  DoctorOfCudnn() {
    std::filesystem::create_directories(folder_);
    std::filesystem::copy_file(FAKE_NVIDIA_LIBRARIES, folder_ / "libcudnn.so.9.12.0");
    std::filesystem::create_symlink("libcudnn.so.9.12.0", folder_ / "libcudnn.so.9");
    for (const std::string_view part : cudnn_library.parts) put_part(part, "9.12.0");
    sources_.open_library = [this, open = sources_.open_library](std::span<const std::string_view> names) {
      const std::string file =
          names.front() == cudnn_library.file ? (folder_ / names.front()).string() : std::string(names.front());
      if (!std::filesystem::exists(file)) return open(names);
      // The other copy of cuBLASLt.
      if (file.ends_with(cublaslt_library.file)) set_library_version("FAKE_CUBLASLT_VERSION", 130200);
      const std::array<std::string_view, 1> one{file};
      return SharedLibrary(one, {});
    };
  }
  void put_part(std::string_view part, const std::string& version) const {
    const std::string file = std::string(part.substr(0, part.rfind('.'))) + "." + version;
    std::ofstream(folder_ / file) << "a part";
    std::filesystem::remove(folder_ / part);
    std::filesystem::create_symlink(file, folder_ / part);
  }
  /// Doctor and the program say the same.
  void expect_fault(const std::string& reason) const {
    const std::string remedy = "install cudnn9-cuda-13, or nvidia-cudnn-cu13 with pip, complete and in one version";
    EXPECT_EQ(state_of("libraries"), "wrong: " + reason);
    EXPECT_EQ(result("libraries").consequence, "convolutions and softmax on a GPU fail");
    EXPECT_EQ(result("libraries").remedy, remedy);
    EXPECT_ERROR("convolutions and softmax on a GPU fail: " + reason + "; " + remedy,
                 require_gpu_library(cudnn_library, 13000, sources_.open_library));
  }
  const std::filesystem::path folder_ = file("nvidia/cudnn/lib");
};

TEST_F(DoctorOfCudnn, AllPartsAreThereInOneVersion) {
  EXPECT_EQ(state_of("libraries"), "ok: oneDNN 2.6.2, strict; CUDA 13.0; cuBLASLt 13.1.1; cuDNN 9.12.0");
}

TEST_F(DoctorOfCudnn, WithoutItsEngines) {
  std::filesystem::remove(folder_ / "libcudnn_engines_precompiled.so.9");
  missing_libraries_ = {"libcudnn_engines_precompiled.so.9"};
  expect_fault("cuDNN 9.12.0 in " + folder_.string() + " lacks its part libcudnn_engines_precompiled.so.9");
  missing_libraries_ = {};
  EXPECT_THAT(state_of("libraries"), StartsWith("ok: ")) << "the loader finds the part elsewhere";
}

TEST_F(DoctorOfCudnn, WithAPartOfAnotherVersion) {
  put_part("libcudnn_ops.so.9", "9.10.2");
  expect_fault("cuDNN in " + folder_.string() +
               " is of two versions: 9.12.0, and its part libcudnn_ops.so.9 of 9.10.2");
  put_part("libcudnn_ops.so.9", "9.12.0");
  set_library_version("FAKE_CUDNN_PARTS_STATUS", 1002);
  expect_fault("cuDNN 9.12.0 in " + folder_.string() +
               " has parts of another version (cudnnOpsVersionCheck returns 1002)");
}

TEST_F(DoctorOfCudnn, BesideAnotherCublaslt) {
  const auto other = file("nvidia/cu13/lib/libcublasLt.so.13");
  std::filesystem::create_directories(other.parent_path());
  std::filesystem::copy_file(FAKE_NVIDIA_LIBRARIES, other);
  const CheckResult two = result("libraries");
  EXPECT_EQ(two.state, CheckState::costs_speed);
  EXPECT_EQ(two.found, "cuBLASLt 13.1.1 (" FAKE_NVIDIA_LIBRARIES
                       ") is used, and beside cuDNN 9.12.0 lies cuBLASLt 13.2.0 (" +
                           other.string() + ")");
  EXPECT_EQ(two.consequence, "cuDNN leaves out engines that need its own version of cuBLASLt");
  EXPECT_EQ(two.remedy, "install one version only, or set LD_LIBRARY_PATH to the folder of the one for cuDNN");
}

TEST_F(DoctorOfNvidia, TheProgramRefusesALibraryForTheReasonThatDoctorGives) {
  set_library_version("FAKE_CUBLASLT_VERSION", 120804);
  const std::string reason = "cuBLASLt 12.8.4 is older than 13";
  EXPECT_EQ(state_of("libraries"), "wrong: " + reason);
  EXPECT_ERROR("matrix products on a GPU fail: " + reason + "; install libcublas-13-0, or nvidia-cublas with pip",
               require_gpu_library(cublaslt_library, 13000, sources_.open_library));
}

TEST_F(DoctorOfNvidia, LibrariesThatAreMissing) {
  missing_libraries_ = {"libnccl.so.2"};
  EXPECT_THAT(state_of("libraries"), StartsWith("ok: ")) << "one GPU exchanges nothing";
  sources_.gpus.push_back({"gpu:1", "0000:2c:00.0"});
  EXPECT_EQ(state_of("libraries"), "wrong: NCCL cannot be used: libnccl.so.2: no such file");
  set_library_version("FAKE_NCCL_VERSION", 0);
  missing_libraries_ = {};
  EXPECT_EQ(state_of("libraries"), "wrong: NCCL cannot be used: NCCL does not tell its version");
  missing_libraries_ = {"libcudnn.so.9"};
  EXPECT_EQ(result("libraries").consequence, "convolutions and softmax on a GPU fail");
  EXPECT_THAT(result("libraries").remedy, HasSubstr("cudnn9-cuda-13"));
}

}  // namespace
}  // namespace gpubench

// Faults of NVIDIA's driver and libraries, and the reasons why a GPU that is there is not used.
#include <gmock/gmock.h>
#include <unistd.h>

#include "core/device/gpu_fault.h"
#include "tests/core/doctor/fake_machine.h"

namespace gpubench {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class DoctorOfNvidia : public DoctorTest {
 protected:
  /// The card is there, and the program uses none.
  void use_none(const std::string& reason) {
    sources_.gpus = {};
    sources_.gpu_absence = reason;
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
  sources_.gpu_absence = "CUDA_VISIBLE_DEVICES=7 names no GPU of this machine";
  EXPECT_THAT(state_of("devices"), HasSubstr("none used: CUDA_VISIBLE_DEVICES=7 names no GPU of this machine"));
  EXPECT_FALSE(hidden_gpus("0,1"));
  EXPECT_FALSE(hidden_gpus(std::nullopt));
}

TEST_F(DoctorOfNvidia, SomeOfTheGpus) {
  nvml_.device_count = 8;
  EXPECT_EQ(state_of("devices"), "ok: 1 of 8 GPUs");
  environment_["CUDA_VISIBLE_DEVICES"] = "3";
  EXPECT_EQ(state_of("devices"), "ok: 1 of 8 GPUs (CUDA_VISIBLE_DEVICES=3)");
  sources_.unusable_gpus = {"GPU 1: out of memory"};
  EXPECT_EQ(state_of("devices"), "wrong: not usable: GPU 1: out of memory");
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
            "wrong: version 575.57.08 is loaded, and its library cannot be used: Driver/library "
            "version mismatch");
}

TEST_F(DoctorOfNvidia, ADriverThatIsTooOld) {
  nvml_.cuda_version = 12080;
  EXPECT_EQ(state_of("driver"), "wrong: version 580.65.06 is for CUDA 12.8, this program needs CUDA 13.0");
  nvml_.cuda_version = 13010;
  EXPECT_EQ(state_of("driver"), "ok: 580.65.06, for CUDA 13.1");
  put("proc/driver/nvidia/version", "NVRM version:");
  EXPECT_EQ(state_of("driver"), "ok: 580.65.06, for CUDA 13.1") << "a file that is cut tells nothing";
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

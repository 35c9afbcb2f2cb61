product: NVIDIA H100 80GB HBM3
checked: products, in float32
memory_bytes = 80e9  # nvidia.com/en-us/data-center/h100
memory_bytes_per_s = 2.93e12  # 87 % of the 3.35 TB/s of nvidia.com/en-us/data-center/h100, as the A100 reaches of its own
float32_flops_per_s = 5.313e13  # fitted to times measured by NeuSight with PyTorch 2.1 (sitar-lab/NeuSight 6945927d)
float16_flops_per_s = 690e12  # 70 % of the 989 TFLOP/s of nvidia.com/en-us/data-center/h100
kernel_s = 4e-6  # assumed: a kernel that does nothing, from its start to its end
ramp_s = 5.52e-5  # fitted to times measured by NeuSight with PyTorch 2.1 (sitar-lab/NeuSight 6945927d)
row_bytes = 66e3  # as the A100, by the size of the L1 cache: 256 KB in place of 192 KB
launch_s = 3.8e-6  # NVIDIA's blog "Getting Started with CUDA Graphs": time per launch on a V100
latency_s = 5e-6  # assumed
pinned_bytes_per_s = 55e9  # PCIe 5.0, 16 lanes: 63 GB/s less protocol
pageable_bytes_per_s = 10e9  # assumed: one host thread copies into page-locked memory first
peer_bytes_per_s = 360e9  # NVLink 4: 450 GB/s a direction, of which NCCL's rings reach 80 %

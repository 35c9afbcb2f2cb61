product: NVIDIA A100-PCIE-40GB
checked: products, element-wise kernels, softmax and layer norm, in float32
memory_bytes = 40e9  # datasheet "NVIDIA A100 Tensor Core GPU", June 2021
memory_bytes_per_s = 1.359e12  # fitted to times measured by NeuSight with PyTorch 2.1 (sitar-lab/NeuSight 6945927d)
float32_flops_per_s = 1.649e13  # fitted to times measured by NeuSight with PyTorch 2.1 (sitar-lab/NeuSight 6945927d)
float16_flops_per_s = 250e12  # 80 % of the 312 TFLOP/s of the datasheet
kernel_s = 4e-6  # assumed: a kernel that does nothing, from its start to its end
ramp_s = 3.19e-5  # fitted to times measured by NeuSight with PyTorch 2.1 (sitar-lab/NeuSight 6945927d)
row_bytes = 49.6e3  # fitted to times measured by NeuSight with PyTorch 2.1 (sitar-lab/NeuSight 6945927d)
launch_s = 3.8e-6  # NVIDIA's blog "Getting Started with CUDA Graphs": time per launch on a V100
latency_s = 5e-6  # assumed
pinned_bytes_per_s = 26e9  # PCIe 4.0, 16 lanes: 31.5 GB/s less protocol
pageable_bytes_per_s = 8e9  # assumed: one host thread copies into page-locked memory first
peer_bytes_per_s = 20e9  # assumed: between cards through PCIe 4.0

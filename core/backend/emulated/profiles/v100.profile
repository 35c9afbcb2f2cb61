product: NVIDIA V100-PCIE-32GB
checked: products, element-wise kernels, softmax and layer norm, in float32
memory_bytes = 32e9  # datasheet "NVIDIA V100 Tensor Core GPU"
memory_bytes_per_s = 8.16e11  # fitted to times measured by NeuSight with PyTorch 2.1 (sitar-lab/NeuSight 6945927d)
float32_flops_per_s = 1.404e13  # fitted to times measured by NeuSight with PyTorch 2.1 (sitar-lab/NeuSight 6945927d)
float16_flops_per_s = 90e12  # 80 % of the 112 TFLOP/s of the datasheet
kernel_s = 4e-6  # assumed: a kernel that does nothing, from its start to its end
ramp_s = 2.66e-5  # fitted to times measured by NeuSight with PyTorch 2.1 (sitar-lab/NeuSight 6945927d)
row_bytes = 12.6e3  # fitted to times measured by NeuSight with PyTorch 2.1 (sitar-lab/NeuSight 6945927d)
launch_s = 3.8e-6  # NVIDIA's blog "Getting Started with CUDA Graphs": time per launch on a V100
latency_s = 5e-6  # assumed
pinned_bytes_per_s = 12.5e9  # PCIe 3.0, 16 lanes: 15.8 GB/s less protocol
pageable_bytes_per_s = 6e9  # assumed: one host thread copies into page-locked memory first
peer_bytes_per_s = 10e9  # assumed: between cards through PCIe 3.0

product: NVIDIA T4
checked: products, element-wise kernels, softmax and layer norm, in float32
memory_bytes = 15e9  # datasheet "NVIDIA T4": 16 GB, of which 15 GB are free with error correction
memory_bytes_per_s = 2.364e11  # fitted to times measured by NeuSight with PyTorch 2.1 (sitar-lab/NeuSight 6945927d)
float32_flops_per_s = 3.961e12  # fitted to times measured by NeuSight with PyTorch 2.1 (sitar-lab/NeuSight 6945927d)
float16_flops_per_s = 26e12  # 40 % of the 65 TFLOP/s of the datasheet, which its 70 W do not sustain
kernel_s = 4e-6  # assumed: a kernel that does nothing, from its start to its end
ramp_s = 2.07e-6  # fitted to times measured by NeuSight with PyTorch 2.1 (sitar-lab/NeuSight 6945927d)
row_bytes = 33.5e3  # fitted to times measured by NeuSight with PyTorch 2.1 (sitar-lab/NeuSight 6945927d)
launch_s = 3.8e-6  # NVIDIA's blog "Getting Started with CUDA Graphs": time per launch on a V100
latency_s = 5e-6  # assumed
pinned_bytes_per_s = 12.5e9  # PCIe 3.0, 16 lanes: 15.8 GB/s less protocol
pageable_bytes_per_s = 6e9  # assumed: one host thread copies into page-locked memory first
peer_bytes_per_s = 10e9  # assumed: between cards through PCIe 3.0

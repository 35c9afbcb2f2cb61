-- A night of half an hour: the hardware first, then trainings of real models.
return {
  minutes = 30,
  budget = 2,
  timeout = 300,
  wait_idle = 300,
  scripts = {
    { "hardware/health", devices = { "gpu" } },
    "hardware/matmul_peak",
    "hardware/bandwidth",
    "hardware/launch_latency",
    { "sync_overhead", set = { part = "all_reduce", cross_device = "automatic" }, once = true },
    { "input_pipeline", set = { source = { "pixels", "jpeg" }, stage = "prefetch", workers = "autotune" },
      devices = { "cpu" } },
    { "kernels", set = { size = { 256, 2048 } } },
    { "transfer_overhead", devices = { "gpu" } },
    { "batch_size", set = { batch_size = { 32, 256 } } },
    { "models", set = { model = { "resnet18", "gpt2_small", "lstm_text" }, precision = "float32", batch_size = 2 } },
    { "mixed_precision", devices = { "gpu" } },
    { "inference", set = { setting = { "single", "offline" }, batch_size = { 1, 64 } } },
    { "hardware/sustained", budget = 8, set = { seconds = 20 } },
  },
}

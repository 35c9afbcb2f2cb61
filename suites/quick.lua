-- The shortest look at the hardware: 3 minutes at most.
return {
  minutes = 3,
  budget = 0.5,
  timeout = 60,
  scripts = {
    { "hardware/health", devices = { "gpu" } },
    "hardware/matmul_peak",
    "hardware/bandwidth",
    "hardware/launch_latency",
    { "hardware/sustained", set = { seconds = 1 } },
  },
}

-- Whether the hardware is still what it was: peaks, links, latencies, and whether they hold under load. Each night in
-- which a claim of a script of hardware/ is refuted is an alarm (docs/nightly.md).
return {
  minutes = 10,
  budget = 1,
  timeout = 300,
  wait_idle = 60,
  scripts = {
    { "hardware/health", devices = { "gpu" } },
    "hardware/matmul_peak",
    "hardware/bandwidth",
    "hardware/launch_latency",
    { "sync_overhead", set = { part = "all_reduce", cross_device = "automatic" }, once = true },
    { "input_pipeline", set = { source = { "pixels", "jpeg" }, stage = "prefetch", workers = "autotune" },
      devices = { "cpu" } },
    { "hardware/sustained", budget = 2, set = { seconds = 5 } },
  },
}

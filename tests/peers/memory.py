"""Peak resident memory of gpubench above its plans' bytes and the digits, for each model of the comparison."""

import argparse
import sys

import processes

BATCHES = {"M1": 32, "M2": 128, "M3": 64}
BAR_BYTES = 80 * 2**20


def main():
    parser = argparse.ArgumentParser(prog="tests/peers/memory", description=__doc__)
    parser.add_argument("--models", default="M1,M2,M3")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    good = True
    mebibyte = 2**20
    print(f"{'model':6}{'peak':>10}{'plans':>10}{'data':>10}{'above':>10}   MiB (bar {BAR_BYTES // mebibyte})")
    for model in arguments.models.split(","):
        result = processes.gpubench("gpubench_memory.lua", arguments.threads, model=model, batch=BATCHES[model])
        above = result["peak_rss_bytes"] - result["peak_memory_bytes"] - result["data_bytes"]
        held = above <= BAR_BYTES
        good = good and held
        figures = [result["peak_rss_bytes"], result["peak_memory_bytes"], result["data_bytes"], above]
        print(f"{model:6}" + "".join(f"{figure / mebibyte:10.1f}" for figure in figures) + ("" if held else "   MISSED"))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

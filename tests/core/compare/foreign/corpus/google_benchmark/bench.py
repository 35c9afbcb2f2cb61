import google_benchmark as benchmark
from google_benchmark import Counter


@benchmark.register
@benchmark.option.range(8, 32)
@benchmark.option.complexity(benchmark.oN)
@benchmark.option.repetitions(2)
def sum_list(state):
    while state:
        sum(range(state.range(0)))
    state.complexity_n = state.range(0)


@benchmark.register
def counters(state):
    while state:
        pass
    state.counters["rate"] = Counter(3, Counter.kIsRate)
    state.counters["not_a_number"] = float("nan")
    state.counters["infinite"] = float("inf")
    state.counters["with space"] = 5


@benchmark.register
def fails(state):
    state.skip_with_error("no device")
    while state:
        pass


@benchmark.register
@benchmark.option.unit(benchmark.kMillisecond)
def milliseconds(state):
    while state:
        sum(range(100000))


if __name__ == "__main__":
    benchmark.main()

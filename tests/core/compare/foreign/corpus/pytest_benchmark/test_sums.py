import pytest


@pytest.mark.parametrize("n", [10, 1000])
def test_sum(benchmark, n):
    benchmark(sum, range(n))


def test_sort(benchmark):
    benchmark(sorted, [3, 1, 2])

use criterion::{criterion_group, criterion_main, BenchmarkId, Criterion};
use std::time::Duration;

fn sums(c: &mut Criterion) {
    let mut group = c.benchmark_group("sum");
    for n in [10u64, 1000].iter() {
        group.bench_with_input(BenchmarkId::new("iter", n), n, |b, &n| b.iter(|| (0..criterion::black_box(n)).sum::<u64>()));
    }
    group.finish();
    c.bench_function("a \"sort\"", |b| b.iter(|| { let mut v = criterion::black_box(vec![3, 1, 2]); v.sort(); v }));
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10).warm_up_time(Duration::from_millis(10)).measurement_time(Duration::from_millis(20)).nresamples(100).without_plots();
    targets = sums
}
criterion_main!(benches);

"""What HolisticTraceAnalysis says of one trace, in a line: hta_line.py TRACE."""
import logging
import sys

logging.disable(logging.CRITICAL)
from hta.trace_analysis import TraceAnalysis  # noqa: E402

analysis = TraceAnalysis(trace_files={0: sys.argv[1]})
times = analysis.get_temporal_breakdown(visualize=False).iloc[0]
idle = analysis.get_idle_time_breakdown(ranks=[0], visualize=False)[0]
parts = idle.groupby("idle_category", observed=True)["idle_time"].sum()
why = f"; of its streams' idle time most is {parts.idxmax()}" if parts.sum() > 0 else ""
print(f"idle {times['idle_time_pctg']:.0f} %, computing {times['compute_time_pctg']:.0f} %, "
      f"copies and exchanges {times['non_compute_time_pctg']:.0f} %{why}")

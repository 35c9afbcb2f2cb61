# Made by gpubench. To draw it again, run gnuplot in this folder.
chart_height = 482
load '../../style.gp'
set output 'overlap_share_by_bucket_bytes.svg'
set title 'Exchange that runs beside the backward pass'
set xlabel 'bucket'
set ylabel 'overlap share [%]'
set logscale x 2
set xrange [851708:1.32193e+09]
set xtics ('1 MiB' 1048576, '4 MiB' 4194304, '25 MiB' 26214400, '1 GiB' 1073741824)
set yrange [0:*]
$series1 << END
1048576 98.54962267753187 98.54962267753187 98.54962267753187
4194304 91.82111778500109 91.82111778500109 91.82111778500109
26214400 89.54268034881328 89.54268034881328 89.54268034881328
1073741824 24.478440610423192 24.478440610423192 24.478440610423192
END
$unreliable << END
26214400 89.54268034881328
END
plot $series1 using 1:2 with linespoints linestyle 1 title 'replicas 2', \
     $unreliable using 1:2 with points linestyle 9 title 'unreliable', \
     keyentry with points linestyle 10 title 'replicas 1: no points (skipped, not measured)'

# Made by gpubench. To draw it again, run gnuplot in this folder.
chart_height = 458
load '../../style.gp'
set output 'weak_efficiency_by_replicas.svg'
set title 'Efficiency with as many examples for each replica'
set xlabel 'replicas'
set ylabel 'weak efficiency [%]'
set logscale x 2
set xrange [0.97942:2.04202]
set xtics ('1' 1, '2' 2)
$series1 << END
1 100.55284074842473 96.58214680946156 105.90945423553092
2 90.8355664341485 89.8935400504535 91.86521102859135
END
$series2 << END
2 91.8633024294599 90.71368967674053 93.05503199850263
END
$series3 << END
2 91.69991942137767 90.4454871174229 93.12824461058607
END
$series4 << END
2 90.2356327773631 86.36728091945702 94.55120726351637
END
$unreliable << END
2 90.8355664341485
END
plot $series1 using 1:2 with linespoints linestyle 1 title 'bucket 25 MiB', $series1 using 1:3:(0):($4 > $3 ? $4 - $3 : NaN) with vectors heads size screen 0.006,90 linestyle 1 dashtype 1 notitle, \
     $series2 using 1:2 with linespoints linestyle 2 title 'bucket 1 MiB', $series2 using 1:3:(0):($4 > $3 ? $4 - $3 : NaN) with vectors heads size screen 0.006,90 linestyle 2 dashtype 1 notitle, \
     $series3 using 1:2 with linespoints linestyle 3 title 'bucket 4 MiB', $series3 using 1:3:(0):($4 > $3 ? $4 - $3 : NaN) with vectors heads size screen 0.006,90 linestyle 3 dashtype 1 notitle, \
     $series4 using 1:2 with linespoints linestyle 4 title 'bucket 1 GiB', $series4 using 1:3:(0):($4 > $3 ? $4 - $3 : NaN) with vectors heads size screen 0.006,90 linestyle 4 dashtype 1 notitle, \
     $unreliable using 1:2 with points linestyle 9 title 'unreliable'

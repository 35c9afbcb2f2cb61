# Made by gpubench. To draw it again, run gnuplot in this folder.
chart_height = 434
load '../../style.gp'
set output 'step_time_s_by_batch_size.svg'
set title 'step time by batch size'
set xlabel 'batch size'
set ylabel 'step time [ms]'
set logscale x 2
set xrange [0.812252:1260.69]
set xtics (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
set logscale y 10
$series1 << END
1 0.034921 0.034819 0.035067999999999995
2 0.06883299999999999 0.068513 0.069125
4 0.06969349999999999 0.069092 0.070135
8 0.054713000000000005 0.054521999999999994 0.054887
16 0.064918 0.064677 0.065148
32 0.085409 0.0851 0.08558
64 0.127986 0.12742499999999998 0.12839399999999998
128 0.211196 0.20913400000000001 0.21264
256 0.3892705 0.38565000000000005 0.39111
512 0.750159 0.735282 0.7580739999999999
1024 1.7299535 1.724178 1.758235
END
plot $series1 using 1:2 with linespoints linestyle 1 title 'cpu:0', $series1 using 1:3:(0):($4 > $3 ? $4 - $3 : NaN) with vectors heads size screen 0.006,90 linestyle 1 dashtype 1 notitle

# Made by gpubench. To draw it again, run gnuplot in this folder.
chart_height = 434
load '../../style.gp'
set output 'step_time_s_by_batch_size.svg'
set title 'step time by batch size'
set xlabel 'batch size'
set ylabel 'step time [ms]'
set logscale x 2
set xrange [0.812252:1260.69]
set xtics ('1' 1, '2' 2, '4' 4, '8' 8, '16' 16, '32' 32, '64' 64, '128' 128, '256' 256, '512' 512, '1024' 1024)
set logscale y 10
$series1 << END
1 0.055253000000000003 0.054942 0.055684
2 0.070071 0.068478 0.071012
4 0.070381 0.069951 0.070552
8 0.085119 0.082774 0.08605
16 0.1140375 0.111458 0.114745
32 0.2140095 0.213408 0.214801
64 0.299859 0.292476 0.31098
128 0.676261 0.5131969999999999 0.682122
256 1.1063135 0.9959770000000001 1.146138
512 2.2652055 2.041107 2.4790340000000004
1024 5.2819449999999994 4.641768 5.5865100000000005
END
$unreliable << END
128 0.676261
256 1.1063135
512 2.2652055
1024 5.2819449999999994
END
plot $series1 using 1:2 with linespoints linestyle 1 title 'cpu:0', $series1 using 1:3:(0):($4 > $3 ? $4 - $3 : NaN) with vectors heads size screen 0.006,90 linestyle 1 dashtype 1 notitle, \
     $unreliable using 1:2 with points linestyle 9 title 'unreliable'

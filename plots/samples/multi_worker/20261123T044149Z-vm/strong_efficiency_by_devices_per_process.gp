# Made by gpubench. To draw it again, run gnuplot in this folder.
chart_height = 434
load '../../style.gp'
set output 'strong_efficiency_by_devices_per_process.svg'
set title 'Efficiency with as many examples in all, processes: 2'
set xlabel 'devices per process'
set ylabel 'strong efficiency [%]'
set xtics ('1' 0)
set xrange [-0.6:0.6]
set yrange [0:*]
$series1 << END
0 80.07933588875451 73.59912621772733 90.52303291746225
END
$unreliable << END
0 80.07933588875451
END
plot $series1 using 1:2:(0.736) with boxes linestyle 1 notitle, $series1 using 1:3:(0):($4 > $3 ? $4 - $3 : NaN) with vectors heads size screen 0.006,90 linecolor rgb text_grey linewidth 1.5 notitle, \
     $unreliable using 1:2 with points linestyle 9 title 'unreliable'

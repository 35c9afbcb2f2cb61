# Made by gpubench. To draw it again, run gnuplot in this folder.
chart_height = 410
load '../../style.gp'
set output 'weak_efficiency_by_devices_per_process.svg'
set title 'Efficiency with as many examples for each replica, processes: 2'
set xlabel 'devices per process'
set ylabel 'weak efficiency [%]'
set xtics ('1' 0)
set xrange [-0.6:0.6]
set yrange [0:*]
$series1 << END
0 93.7591028213195 90.69803525916204 96.65063155516923
END
plot $series1 using 1:2:(0.736) with boxes linestyle 1 notitle, $series1 using 1:3:(0):($4 > $3 ? $4 - $3 : NaN) with vectors heads size screen 0.006,90 linecolor rgb text_grey linewidth 1.5 notitle

# Made by gpubench. To draw it again, run gnuplot in this folder.
chart_height = 458
load '../../style.gp'
set output 'strong_efficiency_by_replicas.svg'
set title 'Efficiency with as many examples in all'
set xlabel 'replicas'
set ylabel 'strong efficiency [%]'
set logscale x 2
set xrange [0.97942:2.04202]
set xtics ('1' 1, '2' 2)
$series1 << END
1 100.29374915891647 98.16115629830105 102.18762970510005
2 79.54073385679052 77.56059823407251 81.81653466718444
END
$series2 << END
2 80.25654401377108 77.55577446508113 85.08386618741014
END
$series3 << END
2 79.71670902124207 78.3529332239341 81.23114913858537
END
$series4 << END
2 77.42642476283653 75.29832298024186 79.54516609900587
END
plot $series1 using 1:2 with linespoints linestyle 1 title 'bucket 25 MiB', $series1 using 1:3:(0):($4 > $3 ? $4 - $3 : NaN) with vectors heads size screen 0.006,90 linestyle 1 dashtype 1 notitle, \
     $series2 using 1:2 with linespoints linestyle 2 title 'bucket 1 MiB', $series2 using 1:3:(0):($4 > $3 ? $4 - $3 : NaN) with vectors heads size screen 0.006,90 linestyle 2 dashtype 1 notitle, \
     $series3 using 1:2 with linespoints linestyle 3 title 'bucket 4 MiB', $series3 using 1:3:(0):($4 > $3 ? $4 - $3 : NaN) with vectors heads size screen 0.006,90 linestyle 3 dashtype 1 notitle, \
     $series4 using 1:2 with linespoints linestyle 4 title 'bucket 1 GiB', $series4 using 1:3:(0):($4 > $3 ? $4 - $3 : NaN) with vectors heads size screen 0.006,90 linestyle 4 dashtype 1 notitle

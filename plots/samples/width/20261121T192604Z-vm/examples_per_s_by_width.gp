# Made by gpubench. To draw it again, run gnuplot in this folder.
chart_height = 434
load '../../style.gp'
set output 'examples_per_s_by_width.svg'
set title 'examples/s by width'
set xlabel 'width'
set ylabel 'thousand examples/s'
set logscale x 2
set xrange [58.892:1112.82]
set xtics ('64' 64, '256' 256, '1024' 1024)
set yrange [0:*]
$series1 << END
64 315.99978350607137 296.73204519318267 334.13011385118676
256 97.7470272100427 92.22801857412372 104.90419695057442
1024 21.36656631910507 20.644566412694754 21.99589443108905
END
$unreliable << END
256 97.7470272100427
END
plot $series1 using 1:2 with linespoints linestyle 1 notitle, $series1 using 1:3:(0):($4 > $3 ? $4 - $3 : NaN) with vectors heads size screen 0.006,90 linestyle 1 dashtype 1 notitle, \
     $unreliable using 1:2 with points linestyle 9 title 'unreliable'

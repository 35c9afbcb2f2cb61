# Made by gpubench. To draw it again, run gnuplot in this folder.
chart_height = 410
load '../../style.gp'
set output 'examples_per_s_by_width.svg'
set title 'examples/s by width'
set xlabel 'width'
set ylabel 'thousand examples/s'
set logscale x 2
set xrange [58.892:1112.82]
set xtics (64, 256, 1024)
set yrange [0:*]
$series1 << END
64 620.1064267354014 618.1757844719272 621.2226820895454
256 197.339278272774 195.99453183585626 198.39529074277766
1024 60.531268386234046 59.97266305358515 60.961512537175935
END
plot $series1 using 1:2 with linespoints linestyle 1 notitle, $series1 using 1:3:(0):($4 > $3 ? $4 - $3 : NaN) with vectors heads size screen 0.006,90 linestyle 1 dashtype 1 notitle

# Made by gpubench. To draw it again, run gnuplot in this folder.
chart_height = 434
load '../../style.gp'
set output 'step_time_s_by_division.svg'
set title 'Step time, by which replica is slow'
set xlabel 'division'
set ylabel 'step time [ms]'
set xtics ('even' 0, 'uneven' 1, 'measured' 2)
set xrange [-0.6:2.6]
set yrange [0:*]
$series1 << END
-0.2 2.2758659999999997 2.253222 2.295826
0.8 3.415617 3.3848010000000004 3.4459429999999998
1.8 2.4683785 2.4537109999999998 2.48619
END
$series2 << END
0.2 4.842657 4.808955999999999 4.8856910000000005
1.2 3.353474 3.3231189999999997 3.405822
2.2 3.252148 3.229839 3.272203
END
plot $series1 using 1:2:(0.368) with boxes linestyle 1 title 'none', $series1 using 1:3:(0):($4 > $3 ? $4 - $3 : NaN) with vectors heads size screen 0.006,90 linecolor rgb text_grey linewidth 1.5 notitle, \
     $series2 using 1:2:(0.368) with boxes linestyle 2 title 'last', $series2 using 1:3:(0):($4 > $3 ? $4 - $3 : NaN) with vectors heads size screen 0.006,90 linecolor rgb text_grey linewidth 1.5 notitle

# Made by gpubench. To draw it again, run gnuplot in this folder.
chart_height = 434
load '../../style.gp'
set output 'peer_wait_share_by_division.svg'
set title 'Waiting for other replicas, by which replica is slow'
set xlabel 'division'
set ylabel 'peer wait share [%]'
set xtics ('even' 0, 'uneven' 1, 'measured' 2)
set xrange [-0.6:2.6]
set yrange [0:*]
$series1 << END
-0.2 2.4249810692439615 2.4249810692439615 2.4249810692439615
0.8 26.532857586624846 26.532857586624846 26.532857586624846
1.8 4.3414267148655625 4.3414267148655625 4.3414267148655625
END
$series2 << END
0.2 22.867303973640617 22.867303973640617 22.867303973640617
1.2 11.83131866426639 11.83131866426639 11.83131866426639
2.2 2.5073409234158146 2.5073409234158146 2.5073409234158146
END
plot $series1 using 1:2:(0.368) with boxes linestyle 1 title 'none', \
     $series2 using 1:2:(0.368) with boxes linestyle 2 title 'last'

# Made by gpubench. To draw it again, run gnuplot in this folder.
# The look of every chart. A page gives the grey its own shade, light or dark, and the background is that of the page.
# The colours stand out on both (contrast 3 and more): the first four are of Okabe and Ito (2008), and each comes with its
# own point shape and dash.
set encoding utf8
text_grey = '#57606a'

set border 3 linecolor rgb text_grey
set tics nomirror out scale 0.6 textcolor rgb text_grey
set xlabel textcolor rgb text_grey
set ylabel textcolor rgb text_grey
set title textcolor rgb text_grey
set grid ytics linecolor rgb text_grey linewidth 0.4 dashtype (2, 5)
set key outside bottom center horizontal Left reverse noenhanced samplen 2 spacing 1.2 height 0.6 textcolor rgb text_grey
set style fill solid 0.85 noborder

set style line 1 linecolor rgb '#0072b2' linewidth 2 pointtype 7 pointsize 0.6 dashtype 1
set style line 2 linecolor rgb '#d55e00' linewidth 2 pointtype 5 pointsize 0.6 dashtype (10, 4)
set style line 3 linecolor rgb '#009e73' linewidth 2 pointtype 9 pointsize 0.7 dashtype (3, 4)
set style line 4 linecolor rgb '#cc79a7' linewidth 2 pointtype 13 pointsize 0.7 dashtype (10, 4, 3, 4)
set style line 5 linecolor rgb '#c08400' linewidth 2 pointtype 11 pointsize 0.7 dashtype 1
set style line 6 linecolor rgb '#3a9bd9' linewidth 2 pointtype 15 pointsize 0.7 dashtype (10, 4)
set style line 7 linecolor rgb '#8c8c8c' linewidth 2 pointtype 4 pointsize 0.7 dashtype (3, 4)
set style line 8 linecolor rgb '#9467bd' linewidth 2 pointtype 8 pointsize 0.7 dashtype (10, 4, 3, 4)

# A ring around a point that is unreliable, and a cross before a series that has no point.
set style line 9 linecolor rgb text_grey linewidth 1 pointtype 6 pointsize 1.5
set style line 10 linecolor rgb text_grey linewidth 1 pointtype 2 pointsize 0.7
set title 'Efficiency of weak scaling, predicted from two replicas'
set xlabel 'modelled replicas, log scale'
set ylabel 'efficiency share (%)'
set logscale x 2
set xrange [1.591072968:5148.726782]
set xtics ('2' 2, '4' 4, '8' 8, '16' 16, '32' 32, '64' 64, '128' 128, '256' 256, '512' 512, '2048' 2048)
set yrange [81.13722521:99.48595456]
$series1 << END
2 98.21816991443141 97.36165017515137 98.50298691515536
4 97.34718669414501 96.0884680595237 97.76749000827746
8 96.91018820393302 95.45335969845885 97.39655372713875
16 96.67867706685512 95.11724846588942 97.19761486407263
32 96.53445805414364 94.90687074068772 97.06947362167922
64 96.40489202941166 94.71592243593264 96.94770518815378
128 96.22536424216608 94.44933318617099 96.77163776231362
256 95.90734575134562 93.97660676906652 96.45448576695541
512 95.2968490797216 93.07266947175171 95.907226796783
1024 94.10827908610084 91.329201130853 94.85704601501907
2048 91.82239413028289 88.03728721552004 92.35556414379764
4096 87.40017823411699 82.12019285811874 88.08652711315762
END
$series2 << END
2 89.0398752621801 87.77887104976683 90.96756953258033
END
set terminal svg size 600,458 font 'Helvetica,Arial,sans-serif,16' noenhanced rounded dynamic linewidth 1.2
set output 'efficiency_share_by_modelled_replicas.svg'
plot $series1 using 1:2 with linespoints linestyle 1 title 'predicted', $series1 using 1:3:(0):($4 > $3 ? $4 - $3 : NaN) with vectors heads size screen 0.006,90 linestyle 1 dashtype 1 notitle, \
     $series2 using 1:2 with linespoints linestyle 2 title 'measured', $series2 using 1:3:(0):($4 > $3 ? $4 - $3 : NaN) with vectors heads size screen 0.006,90 linestyle 2 dashtype 1 notitle

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
set title 'Time of an all-reduce by its size'
set xlabel 'message bytes, log scale'
set ylabel 'collective time (ms), log scale'
set logscale x 2
set xrange [176.0693527:97574443.92]
set xtics ('256 B' 256, '4 KiB' 4096, '64 KiB' 65536, '1 MiB' 1048576, '16 MiB' 16777216)
set logscale y 10
set yrange [0.0001814476944:11.73515327]
set ytics ('0.001' 0.001, '0.01' 0.01, '0.1' 0.1, '1' 1, '10' 10)
$series1 << END
256 0.00033428662109375 0.0003284501953125 0.00034727490234375
1024 0.00047338623046875 0.00047338623046875 0.00047338623046875
4096 0.000579529296875 0.0005715195312500001 0.0005978291015625
16384 0.0007745058593750001 0.000761244140625 0.00083717578125
65536 0.00211271875 0.002103169921875 0.0024337578125000004
262144 0.007159500000000001 0.0071455703125 0.008576374999999999
1048576 0.029235875 0.029073312500000004 0.029985750000000002
4194304 0.071702375 0.07125050000000001 0.07322600000000001
16777216 0.5955972500000001 0.5468395000000001 0.6589055
67108864 5.1361835000000005 4.999651000000001 5.2378765000000005
END
$series2 << END
256 0.00039368359375000004 0.00036634814453125 0.0004140166015625
1024 0.0004045791015625 0.000378981689453125 0.0004508291015625001
4096 0.00052467822265625 0.00050484375 0.00065172705078125
16384 0.0010339453125000001 0.0010104023437500001 0.0011419150390625
65536 0.003661828125 0.00363956640625 0.0038574296875000004
262144 0.013831656250000001 0.013634421875 0.014334359375000001
1048576 0.07630993750000001 0.07595868750000001 0.07671875
4194304 0.15975275000000003 0.15713400000000002 0.16215525
16777216 1.114916 1.0595090000000003 1.270351
67108864 5.731958250000001 5.360327750000001 6.4829205000000005
END
$unreliable << END
1024 0.00047338623046875
END
set terminal svg size 600,458 font 'Helvetica,Arial,sans-serif,16' noenhanced rounded dynamic linewidth 1.2
set output 'collective_time_s_by_message_bytes.svg'
plot $series1 using 1:2 with linespoints linestyle 1 title 'automatic', $series1 using 1:3:(0):($4 > $3 ? $4 - $3 : NaN) with vectors heads size screen 0.006,90 linestyle 1 dashtype 1 notitle, \
     $series2 using 1:2 with linespoints linestyle 2 title 'reduction_to_one', $series2 using 1:3:(0):($4 > $3 ? $4 - $3 : NaN) with vectors heads size screen 0.006,90 linestyle 2 dashtype 1 notitle, \
     $unreliable using 1:2 with points linestyle 9 title 'unreliable'

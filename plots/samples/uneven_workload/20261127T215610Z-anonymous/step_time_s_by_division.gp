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
set title 'Step time, by which replica is slow'
set xlabel 'division'
set ylabel 'step time (ms)'
set xrange [-0.6:2.6]
set xtics ('even' 0, 'uneven' 1, 'measured' 2)
set yrange [0:9.39683428]
$series1 << END
-0.2 4.3601065000000006 4.210394999999999 4.403040000000001
0.8 6.400167 6.321401 6.593414000000001
1.8 4.3273885 4.3007990000000005 4.341218
END
$series2 << END
0.2 8.80546 8.666323499999999 8.864937999999999
1.2 6.1684849999999996 6.155055000000001 6.198329
2.2 5.881449000000001 5.840038000000001 6.05749
END
set terminal svg size 600,434 font 'Helvetica,Arial,sans-serif,16' noenhanced rounded dynamic linewidth 1.2
set output 'step_time_s_by_division.svg'
plot $series1 using 1:2:(0.368) with boxes linestyle 1 dashtype 1 fillstyle solid 0.85 border title 'none', $series1 using 1:3:(0):($4 > $3 ? $4 - $3 : NaN) with vectors heads size screen 0.006,90 linecolor rgb text_grey linewidth 1.5 notitle, \
     $series2 using 1:2:(0.368) with boxes linestyle 2 dashtype 1 fillstyle transparent pattern 4 border title 'last', $series2 using 1:3:(0):($4 > $3 ? $4 - $3 : NaN) with vectors heads size screen 0.006,90 linecolor rgb text_grey linewidth 1.5 notitle

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
set title 'Efficiency with as many examples in all'
set xlabel 'replicas, log scale'
set ylabel 'strong efficiency (%)'
set logscale x 2
set xrange [0.9794202976:2.042024251]
set xtics ('1' 1, '2' 2)
set yrange [79.02516383:103.6797845]
$series1 << END
2 85.07123063783799 82.76161199647655 87.7892132569703
END
$series2 << END
2 85.13107896265309 83.73283117853364 86.4920417297231
END
$series3 << END
1 99.26417702358381 96.59277552921756 102.35900129103304
2 83.69311119954035 80.345947080749 87.35130720107168
END
$series4 << END
2 87.45541269980778 84.17970451963124 92.4309712061141
END
set terminal svg size 600,482 font 'Helvetica,Arial,sans-serif,16' noenhanced rounded dynamic linewidth 1.2
set output 'strong_efficiency_by_replicas.svg'
plot $series1 using 1:2 with linespoints linestyle 1 title 'bucket 1 MiB', $series1 using 1:3:(0):($4 > $3 ? $4 - $3 : NaN) with vectors heads size screen 0.006,90 linestyle 1 dashtype 1 notitle, \
     $series2 using 1:2 with linespoints linestyle 2 title 'bucket 4 MiB', $series2 using 1:3:(0):($4 > $3 ? $4 - $3 : NaN) with vectors heads size screen 0.006,90 linestyle 2 dashtype 1 notitle, \
     $series3 using 1:2 with linespoints linestyle 3 title 'bucket 25 MiB', $series3 using 1:3:(0):($4 > $3 ? $4 - $3 : NaN) with vectors heads size screen 0.006,90 linestyle 3 dashtype 1 notitle, \
     $series4 using 1:2 with linespoints linestyle 4 title 'bucket 1 GiB', $series4 using 1:3:(0):($4 > $3 ? $4 - $3 : NaN) with vectors heads size screen 0.006,90 linestyle 4 dashtype 1 notitle

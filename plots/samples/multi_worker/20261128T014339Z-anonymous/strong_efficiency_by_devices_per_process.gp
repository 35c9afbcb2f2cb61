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
set title 'Efficiency with as many examples in all, processes: 2'
set xlabel 'devices per process'
set ylabel 'strong efficiency (%)'
set xrange [-0.6:0.6]
set xtics ('1' 0)
set yrange [0:80.85497445]
$series1 << END
0 71.46965058119387 68.23488271914393 76.27827778739736
END
set terminal svg size 600,434 font 'Helvetica,Arial,sans-serif,16' noenhanced rounded dynamic linewidth 1.2
set output 'strong_efficiency_by_devices_per_process.svg'
plot $series1 using 1:2:(0.736) with boxes linestyle 1 dashtype 1 fillstyle solid 0.85 border notitle, $series1 using 1:3:(0):($4 > $3 ? $4 - $3 : NaN) with vectors heads size screen 0.006,90 linecolor rgb text_grey linewidth 1.5 notitle

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
set title 'Waiting for other replicas, by which replica is slow'
set xlabel 'division'
set ylabel 'peer wait share (%)'
set xrange [-0.6:2.6]
set xtics ('even' 0, 'uneven' 1, 'measured' 2)
set yrange [0:32.16441105]
$series1 << END
-0.2 0.35838713407768463 0.06532249322529401 0.7518288064447556
0.8 29.43924105896404 23.082429847083446 30.343784010229886
1.8 0.9857333371503972 0.9857333371503972 0.9857333371503972
END
$series2 << END
0.2 24.222276341451515 23.936413654269682 25.04329724278324
1.2 13.59468921835074 13.59468921835074 13.59468921835074
2.2 2.064561645584353 1.0999487544107087 3.1773692437555345
END
set terminal svg size 600,434 font 'Helvetica,Arial,sans-serif,16' noenhanced rounded dynamic linewidth 1.2
set output 'peer_wait_share_by_division.svg'
plot $series1 using 1:2:(0.368) with boxes linestyle 1 dashtype 1 fillstyle solid 0.85 border title 'none', $series1 using 1:3:(0):($4 > $3 ? $4 - $3 : NaN) with vectors heads size screen 0.006,90 linecolor rgb text_grey linewidth 1.5 notitle, \
     $series2 using 1:2:(0.368) with boxes linestyle 2 dashtype 1 fillstyle transparent pattern 4 border title 'last', $series2 using 1:3:(0):($4 > $3 ? $4 - $3 : NaN) with vectors heads size screen 0.006,90 linecolor rgb text_grey linewidth 1.5 notitle

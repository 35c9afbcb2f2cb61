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
set title 'step time by batch size'
set xlabel 'batch size, log scale'
set ylabel 'step time (ms), log scale'
set logscale x 2
set xrange [0.7474246243:21920.60506]
set xtics ('1' 1, '2' 2, '4' 4, '8' 8, '16' 16, '32' 32, '64' 64, '128' 128, '512' 512, '4096' 4096, '16384' 16384)
set logscale y 10
set yrange [0.03648110549:19.15316866]
set ytics ('0.05' 0.05, '0.1' 0.1, '0.2' 0.2, '0.5' 0.5, '1' 1, '2' 2, '5' 5, '10' 10)
set label 'out of memory' at first 16384, graph 0.02 rotate by 90 left textcolor rgb text_grey
$series1 << END
1 0.063624 0.051026 0.073058
2 0.079738 0.0714405 0.087319
4 0.0679105 0.063734 0.07249749999999999
8 0.087039 0.08077999999999999 0.092857
16 0.109082 0.101821 0.111235
32 0.140543 0.133948 0.17139400000000002
64 0.214007 0.20191399999999998 0.22084700000000002
128 0.370614 0.35187100000000004 0.377029
256 0.659617 0.634845 0.6699419999999999
512 1.3204950000000002 1.2187050000000001 1.9186665
1024 2.9198640000000005 2.8286435 3.299596
4096 12.636597499999999 11.844419 13.693583
END
set terminal svg size 600,434 font 'Helvetica,Arial,sans-serif,16' noenhanced rounded dynamic linewidth 1.2
set output 'step_time_s_by_batch_size.svg'
plot $series1 using 1:2 with linespoints linestyle 1 title 'cpu:0', $series1 using 1:3:(0):($4 > $3 ? $4 - $3 : NaN) with vectors heads size screen 0.006,90 linestyle 1 dashtype 1 notitle

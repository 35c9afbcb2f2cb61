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
set title 'examples/s by batch size'
set xlabel 'batch size, log scale'
set ylabel 'examples/s (thousand), log scale'
set logscale x 2
set xrange [0.7474246243:21920.60506]
set xtics ('1' 1, '2' 2, '4' 4, '8' 8, '16' 16, '32' 32, '64' 64, '128' 128, '512' 512, '4096' 4096, '16384' 16384)
set logscale y 10
set yrange [11.2100701:431.1147103]
set ytics ('20' 20, '50' 50, '100' 100, '200' 200)
set arrow from first 256, graph 0 to first 256, graph 1 nohead linecolor rgb text_grey linewidth 1.2 dashtype (2, 4)
set label 'knee' at first 256, graph 0.04 left offset 0.6,0 textcolor rgb text_grey
set label 'out of memory' at first 16384, graph 0.02 rotate by 90 left textcolor rgb text_grey
$series1 << END
1 13.970079330145236 13.630701680901232 17.116469702026315
2 23.4227311399229 21.41679492195119 23.856642855927827
4 53.66568601863697 50.153072556124506 56.67482793184889
8 83.00842921621327 78.44492856226857 87.41447921251806
16 128.33239111351105 123.64570550189306 136.05256459219265
32 192.16635796096915 115.14440160453002 206.0367397894461
64 242.20732495754206 224.52935687895206 265.7525861039546
128 277.3129600361802 260.85604312136087 302.76294299214993
256 310.86820489819144 287.96555441509946 313.47707036874846
512 324.13119139930217 239.35729294381588 349.2818829295132
1024 342.3928963032484 303.4149389410825 354.5544636090277
4096 310.5802868752572 283.6562138108227 346.2547215491196
END
set terminal svg size 600,434 font 'Helvetica,Arial,sans-serif,16' noenhanced rounded dynamic linewidth 1.2
set output 'examples_per_s_by_batch_size.svg'
plot $series1 using 1:2 with linespoints linestyle 1 title 'cpu:0', $series1 using 1:3:(0):($4 > $3 ? $4 - $3 : NaN) with vectors heads size screen 0.006,90 linestyle 1 dashtype 1 notitle

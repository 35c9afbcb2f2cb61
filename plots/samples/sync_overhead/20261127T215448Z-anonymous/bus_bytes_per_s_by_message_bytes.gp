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
set title 'Bus bandwidth of an all-reduce by its size'
set xlabel 'message bytes, log scale'
set ylabel 'bus bytes (GB/s), log scale'
set logscale x 2
set xrange [176.0693527:97574443.92]
set xtics ('256 B' 256, '4 KiB' 4096, '64 KiB' 65536, '1 MiB' 1048576, '16 MiB' 16777216)
set logscale y 10
set yrange [0.4704388963:77.37327415]
set ytics ('0.5' 0.5, '1' 1, '2' 2, '5' 5, '10' 10, '20' 20, '50' 50)
$series1 << END
256 0.7658098884196904 0.7371681577685636 0.7794180172626534
1024 2.163138541199284 2.163138541199284 2.163138541199284
4096 7.0678048928447454 6.851456359843641 7.166859181595117
16384 21.154133053585074 19.570561364707423 21.52266155578989
65536 31.019746475956634 26.927905341854963 31.160582565565555
262144 36.61484740554508 30.565827636967835 36.686224966735296
1048576 35.86607207754172 34.969143676579705 36.06661607616951
4194304 58.49602610792181 57.27889001174446 58.86701145956871
16777216 28.16872643384434 25.462249138912938 30.680329420241222
67108864 13.065900780219398 12.812227245144095 13.422709705137418
END
$series2 << END
256 0.6502683984402131 0.6183326925390314 0.6987888537761185
1024 2.531025443591309 2.27137067339039 2.7019775057672155
4096 7.806689553958388 6.284839635074175 8.113401423707831
16384 15.846099210397067 14.347827499890961 16.215322639882782
65536 17.897071561762612 16.989551413566755 18.006540528415453
262144 18.954188545408424 18.287807159153214 19.22663112549464
1048576 13.741015054559572 13.667793075356416 13.804556588737793
4194304 26.254972136629885 25.865977203944986 26.69252994259676
16777216 15.0479641515594 13.206756242959623 15.834897108000026
67108864 11.707842428894173 10.351640745864461 12.519544910290234
END
$unreliable << END
1024 2.163138541199284
END
set terminal svg size 600,458 font 'Helvetica,Arial,sans-serif,16' noenhanced rounded dynamic linewidth 1.2
set output 'bus_bytes_per_s_by_message_bytes.svg'
plot $series1 using 1:2 with linespoints linestyle 1 title 'automatic', $series1 using 1:3:(0):($4 > $3 ? $4 - $3 : NaN) with vectors heads size screen 0.006,90 linestyle 1 dashtype 1 notitle, \
     $series2 using 1:2 with linespoints linestyle 2 title 'reduction_to_one', $series2 using 1:3:(0):($4 > $3 ? $4 - $3 : NaN) with vectors heads size screen 0.006,90 linestyle 2 dashtype 1 notitle, \
     $unreliable using 1:2 with points linestyle 9 title 'unreliable'

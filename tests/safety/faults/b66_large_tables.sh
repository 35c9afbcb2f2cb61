# Tables of others have the limits of our own, which messages name; and what is within them takes seconds.
limit_s=20
# table COLUMNS ROWS FILE: of as many figures in each of so many processes.
table() {
  awk -v columns="$1" -v rows="$2" 'BEGIN {
    printf "n,process"; for (i = 1; i <= columns; i++) printf ",c%d_s", i; printf "\n"
    for (k = 0; k < rows; k++) { printf "%d,%d", k % 2, k; for (i = 1; i <= columns; i++) printf ",%s", 1.5 + k / 100; printf "\n" }
  }' >"$3"
}
table 1900 8 a.csv && table 1900 8 b.csv
run compare a.csv b.csv --format csv
((rc <= 3 && rc != 2)) || fail "1902 columns: $err"
table 1999 8 a.csv
run compare a.csv b.csv
contains "$err" "a.csv: row 1 has more than 2000 columns"
(echo n,time_s && yes 1,1.5 | head -n 1000001) >a.csv
run compare a.csv b.csv
contains "$err" "a.csv: more than 2000000 cells, which end in row 1000001"
printf 'n,n,time_s\n1,2,3.5\n' >a.csv
run compare a.csv b.csv
contains "$err" "a.csv: the first line names 'n' twice"
truncate -s 65M large.csv && (echo n,time_s && cat large.csv) >a.csv
run compare a.csv b.csv
contains "$err" "'a.csv': it has 68157449 bytes; at most 67108864 are read"
# Each entry may have counters of its own.
(printf '{"benchmarks":[' && seq -f '{"name":"B","real_time":1,"time_unit":"ns","c%g":1},' 3000 && echo '{"name":"B"}]}') >a.json
run compare a.json a.json
contains "$err" "compare: a.json: a table of 1414 rows and 1416 columns; at most 2000000 cells are possible"
counters() { seq -f '"c%g":1' "$1" "$2" | paste -sd,; }
(printf '{"benchmarks":[{"name":"B",' && counters 1 1500 && printf '},{"name":"B",' && counters 1501 3000 && echo '}]}') >a.json
run compare a.json a.json
contains "$err" "compare: a.json: 3001 columns; at most 2000 are possible"
# Processes, and what their figures take.
times() { printf '{"results":[{"command":"a","times":[1' && yes ,1 | head -n "$1" | tr -d '\n' && printf ']}]}'; }
times 300000 >a.json
run compare a.json b.csv
contains "$err" "a.json: 300001 processes; at most 20000 can be compared"
times 15000 >a.json && times 15000 >b.json
run compare a.json b.json
((rc == 0)) || fail "15001 processes: $err"
table 30 9000 a.csv && table 30 9000 b.csv
run compare a.csv b.csv
contains "$err" "more than 200000 figures of rows that several processes have measured; choose some by --figure"
run compare a.csv b.csv --figure c1_s
((rc == 0)) || fail "with --figure: status $rc: $err"
(echo n,time_s && seq -f 'a%g,1.5' 200100) >a.csv
run compare a.csv b.json
contains "$err" "more than 200000 rows that differ in their settings"
# Series.
(echo id,values && yes a,1 | head -n 2000001) >s.csv
run changes s.csv
contains "$err" "s.csv: line 2000002: more than 2000000 values in all series"
(ulimit -v 1600000 && run changes /dev/zero && printf '%s' "$err" >said) || fail "$(cat said)"
contains "$(cat said)" "line 1: longer than 67108864 bytes"

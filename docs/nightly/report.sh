#!/bin/sh
# After a night of many machines: report.sh HISTORIES SINCE NODE... names each NODE of which HISTORIES/NODE.db was not
# written since the file SINCE, prints the summaries with an alarm (HISTORIES/NODE.txt), and which machine stands out.
# It ends with 1 if a machine did not report, has an alarm or stands out, and with 2 if a history cannot be read.
set -u
histories=$1
since=$2
shift 2
status=0
silent=
for node in "$@"; do
  if [ -z "$(find "$histories/$node.db" -newer "$since" 2>/dev/null)" ]; then
    silent="$silent $node"
  elif [ -n "$(find "$histories/$node.txt" -newer "$since" 2>/dev/null)" ] &&
    ! head -n 1 "$histories/$node.txt" | grep -q ': no new alarm'; then
    cat "$histories/$node.txt"
    echo
    status=1
  fi
done
if [ -n "$silent" ]; then
  echo "did not report:$silent"
  status=1
fi
set -- "$histories"/*.db
if [ ! -e "$1" ]; then
  echo "report.sh: no machine has ever left a history in $histories" >&2
  exit 2
fi
gpubench fleet "$@"
fleet=$?
if [ "$fleet" -eq 1 ] || [ "$fleet" -eq 2 ]; then status=$fleet; fi # 3: too few machines to compare
exit "$status"

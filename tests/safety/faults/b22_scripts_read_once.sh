# Scripts that can be read once only run; what is no script is said.
limit_s=10
[[ $(limited "$G" <(echo 'print "hello"')) == hello ]] || fail 'from <(...): nothing was printed'
[[ $(echo 'print "hello"' | limited "$G" /dev/stdin) == hello ]] || fail 'from /dev/stdin: nothing was printed'
mkfifo fifo
echo 'print "hello"' >fifo &
[[ $(limited "$G" fifo) == hello ]] || fail 'from a FIFO: nothing was printed'
for none in /dev/zero "$PWD"; do
  run "$none"
  ((rc == 2)) || fail "$none: status $rc"
  clean "$err"
  contains "$err" "$none" "$none"
done

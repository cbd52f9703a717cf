#!/bin/sh
# tune.sh FOURTUNE: tunes a problem on ranks, stops and resumes, and lets a transform take the winner. Ends with "all is
# well".
set -eu
fourtune=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export FOURTUNE_DB="$folder/tuning.db"
token=nufft:type=1,n=16x18x20,m=3000,prec=f64,tol=1e-5
fail() { echo "tune.sh: $1" >&2; cat "$folder"/*.txt >&2; exit 1; }

"$fourtune" tune $token fft:type=c2c,n=16x12x20,prec=f32 --ranks 2 --seconds 0 --max-evaluations 3 --format csv \
  > "$folder/first.txt" 2> "$folder/err.txt" || fail "tuning failed"
grep -q "$token" "$folder/first.txt" || fail "no row of the problem"
"$fourtune" show > "$folder/show.txt"
grep -q "ranks=" "$folder/show.txt" || fail "show has no plan of ranks"

# As many ranks take it, others do not.
"$fourtune" run $token --ranks 2 > "$folder/two.txt"
grep -q "why .*tuned on as many ranks" "$folder/two.txt" || fail "two ranks do not take the winner"
grep -q "(right" "$folder/two.txt" || fail "the winner is wrong"
"$fourtune" run $token --ranks 1 > "$folder/one.txt"
! grep -q "tuned on as many ranks" "$folder/one.txt" || fail "one rank takes the winner of two"

# What was measured is not measured again.
"$fourtune" tune $token --ranks 2 --seconds 0 --max-evaluations 1 --format json > "$folder/again.txt" 2>&1 ||
  fail "tuning again failed"
grep -Eq '"reused": *[1-9]' "$folder/again.txt" || fail "nothing was reused"

# Ctrl-C keeps what is finished, and a transform works on.
"$fourtune" tune nufft:type=2,n=24x20x22,m=5000,prec=f32,tol=1e-4 --ranks 2 --seconds 300 \
  > "$folder/stop.txt" 2>&1 < /dev/null &
session=$!
while kill -0 $session 2> /dev/null && ! grep -q "search" "$folder/stop.txt"; do
  sleep 0.1
done
kill -INT $session
! wait $session || fail "an interrupted session ended well"
"$fourtune" tune nufft:type=2,n=24x20x22,m=5000,prec=f32,tol=1e-4 --ranks 2 --seconds 0 --max-evaluations 1 \
  --format json > "$folder/resumed.txt" 2>&1 || fail "the session does not resume"
grep -Eq '"reused": *[1-9]' "$folder/resumed.txt" || fail "the interrupted session kept nothing"

# Ranks with GPUs try the exchanges that there are, and take the winner.
gpus=fft:type=c2c,n=8x10x12,prec=f64
"$fourtune" tune $gpus --ranks 2 --backend emulated --seconds 0 --max-evaluations 4 > "$folder/gpus.txt" 2>&1 ||
  fail "tuning GPUs failed"
"$fourtune" show > "$folder/show.txt"
grep -q "exchange=" "$folder/show.txt" || fail "show has no plan of GPUs"
"$fourtune" run $gpus --ranks 2 --backend emulated > "$folder/gpus.txt"
grep -q "why .*tuned on as many ranks" "$folder/gpus.txt" || fail "ranks with GPUs do not take the winner"
grep -q "(right" "$folder/gpus.txt" || fail "the winner on GPUs is wrong"
gpus=nufft:type=1,n=10x12x20,m=900,prec=f32,tol=1e-3
"$fourtune" tune $gpus --ranks 2 --backend emulated --seconds 0 --max-evaluations 4 > "$folder/gpus.txt" 2>&1 ||
  fail "tuning points on GPUs failed"
"$fourtune" run $gpus --ranks 2 --backend emulated > "$folder/gpus.txt"
grep -q "(right" "$folder/gpus.txt" || fail "the winner for points on GPUs is wrong"

# What cannot be tuned is named.
! "$fourtune" tune nufft:type=1,n=100,m=100,prec=f64,tol=1e-5 --ranks 2 > "$folder/line.txt" 2>&1 || fail "1D was tuned"
grep -q "one dimension" "$folder/line.txt" || fail "1D has no reason"
echo all is well

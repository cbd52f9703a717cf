#!/usr/bin/env bash
# Runs fuzz targets that are built: those of a folder made by `tools/fuzz --package`, which this script is part of, or
# of a build (tools/fuzz calls it so).
#
#   ./run.sh SECONDS [TARGET...]     every target at once, on all processors, for so long
#
# JOBS: processes together (default: all processors). RUNS: at most so many inputs per process (default: no limit).
# TARGETS, CORPUS: folders of programs and of examples (default: beside this script). OUT: where inputs that reach new
# code, those that fail, and the logs go (default: ./out). Ends with 1 when something failed; each such input is named,
# and the target run with it alone repeats the failure.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
targets=${TARGETS:-$here} corpus=${CORPUS:-$here/corpus} out=${OUT:-$PWD/out} jobs=${JOBS:-$(nproc)}
[[ ${1:-} =~ ^[0-9]+$ ]] || { sed -n '2,/^set/p' "$0" | sed '$d;s/^# \{0,1\}//' >&2; exit 2; }
seconds=$1
shift
names=("$@")
[ ${#names[@]} -gt 0 ] || for folder in "$corpus"/*/; do names+=("$(basename "$folder")"); done
export ASAN_OPTIONS=detect_stack_use_after_return=1:allocator_may_return_null=0:${ASAN_OPTIONS:-}
export UBSAN_OPTIONS=print_stacktrace=1

# A package has one program for all targets.
program() { if [ -x "$targets/fuzz_all" ]; then echo "$targets/fuzz_all"; else echo "$targets/fuzz_$1"; fi; }

fuzz_one() {  # TARGET PROCESSES
  local name=$1 processes=$2 options
  mkdir -p "$out/$name/new" "$out/$name/failed"
  options=(-artifact_prefix="$out/$name/failed/" -timeout=60 -report_slow_units=60 -rss_limit_mb=2560 -detect_leaks=0
    -print_final_stats=1 -max_total_time="$seconds")
  [ -z "${RUNS:-}" ] || options+=(-runs="$RUNS")
  [ -f "$corpus/$name.dict" ] && options+=(-dict="$corpus/$name.dict")
  # The forked form goes on after a failure; the plain one stops, which is what a check wants.
  [ "$processes" -gt 1 ] && options+=(-fork="$processes" -ignore_crashes=1 -ignore_ooms=1 -ignore_timeouts=1)
  [ "$processes" -gt 1 ] || options+=(-seed="${SEED:-1}")
  FUZZ_TARGET=$name "$(program "$name")" "${options[@]}" "$out/$name/new" "$corpus/$name" > "$out/$name/log" 2>&1
  echo $? > "$out/$name/status"
}

each=$((jobs / ${#names[@]}))
[ "$each" -ge 1 ] || each=1
for name in "${names[@]}"; do
  [ -x "$(program "$name")" ] || { echo "error: there is no program $(program "$name")" >&2; exit 2; }
  while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
  fuzz_one "$name" "$each" &
done
wait

bad=0
printf '%-16s %12s %8s %8s %s\n' target inputs edges corpus failures
for name in "${names[@]}"; do
  line=$(grep -aE '^#[0-9]+.*cov: ' "$out/$name/log" | tail -1)
  value() { sed -nE "s/.*$1 *([0-9]+).*/\1/p" <<< "$line"; }
  inputs=$(sed -nE 's/^#([0-9]+).*/\1/p' <<< "$line")
  failed=$(find "$out/$name/failed" -type f | wc -l)
  printf '%-16s %12s %8s %8s %s\n' "$name" "${inputs:-0}" "$(value cov:)" "$(value corp:)" "$failed"
  if [ "$failed" -gt 0 ] || [ "$(cat "$out/$name/status")" -ne 0 ]; then
    bad=1
    grep -aE 'SUMMARY|broken promise|runtime error|^terminate|what\(\)' "$out/$name/log" | sort | uniq -c | sort -rn | head -5
    find "$out/$name/failed" -type f | head -5 | sed "s|^|  FUZZ_TARGET=$name $(program "$name") |"
    [ "$failed" -gt 0 ] || tail -5 "$out/$name/log"
  fi
done
exit $bad

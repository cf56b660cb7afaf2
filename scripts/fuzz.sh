#!/usr/bin/env bash
# scripts/fuzz.sh BUILD SECONDS RUNS JOBS [NAME...]: every fuzzer, or those named, JOBS at a time, for this many seconds or
# inputs (-1: no limit; SECONDS 0 likewise). New inputs are kept in BUILD/corpus, what each said in BUILD/NAME.log; an input
# that breaks something is left in BUILD.
set -euo pipefail
cd "$1"
export seconds=$2 runs=$3
jobs=$4
shift 4
tests/fuzz/write-seeds seeds
if [ $# = 0 ]; then
  for fuzzer in tests/fuzz/*-fuzzer; do set -- "$@" "$(basename "$fuzzer" -fuzzer)"; done
fi

fuzz() {
  local name=$1 inputs
  mkdir -p "corpus/$name"
  if "tests/fuzz/$name-fuzzer" -max_total_time="$seconds" -runs="$runs" -max_len=4096 -timeout=20 \
    -artifact_prefix="$name-" -verbosity=0 -print_final_stats=1 "corpus/$name" "seeds/$name" >"$name.log" 2>&1; then
    inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$name.log")
    echo "fuzz: $name: ${inputs:?"$name.log says no number of inputs"} inputs, nothing found"
  else
    tail -n 60 "$name.log"
    echo "fuzz: $name FAILED"
    return 1
  fi
}
export -f fuzz
printf '%s\n' "$@" | xargs -P "$jobs" -I {} bash -euo pipefail -c 'fuzz {}'

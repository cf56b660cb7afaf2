#!/usr/bin/env bash
# scripts/fuzz.sh BUILD SECONDS RUNS [NAME...]: every fuzzer, or those named, for this many seconds or inputs (-1: no
# limit; SECONDS 0 likewise). New inputs are kept in BUILD/corpus; one that breaks something is left in BUILD.
set -euo pipefail
cd "$1"
seconds=$2 runs=$3
shift 3
tests/fuzz/write-seeds seeds
if [ $# = 0 ]; then
  for fuzzer in tests/fuzz/*-fuzzer; do set -- "$@" "$(basename "$fuzzer" -fuzzer)"; done
fi
for name in "$@"; do
  echo "fuzz: $name"
  mkdir -p "corpus/$name"
  "tests/fuzz/$name-fuzzer" -max_total_time="$seconds" -runs="$runs" -max_len=4096 -timeout=20 -artifact_prefix="$name-" \
    -verbosity=0 -print_final_stats=1 "corpus/$name" "seeds/$name"
done

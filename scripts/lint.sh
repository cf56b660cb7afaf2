#!/usr/bin/env bash
# scripts/lint.sh BUILD [JOBS]: the rules that a machine can check. Prints every complaint; fails if there was one.
set -uo pipefail
cd "$(dirname "$0")/.."
build=$1
jobs=${2:-1}
failed=0
complain() {
  echo "lint: $1" >&2
  failed=1
}

mapfile -t sources < <(scripts/sources.sh)
scripts/check_format.sh || complain "format"

# Comments say what is; what is still to do belongs into the list of issues.
pattern='TO''DO|FIX''ME|X''XX'
if grep -nE "\b($pattern)\b" "${sources[@]}" CMakeLists.txt Makefile scripts/* ./*.md docs/*.md; then
  complain "notes about work left over"
fi
if grep -nP '\t| +$' "${sources[@]}"; then complain "tabs, or blanks at the end of a line"; fi
for script in scripts/*.sh .ci/run; do
  bash -n "$script" || complain "$script is not valid"
  [ -x "$script" ] || complain "$script is not executable"
done

# clang-tidy sees what the build compiles: each source, or a folder of small ones as one, whose headers are then read once.
scripts/tidy.py "$build" "$jobs" || complain "clang-tidy"

exit $failed

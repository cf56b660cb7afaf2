#!/usr/bin/env bash
# The steps of continuous integration, for any machine: .github/workflows/ci.yml runs these and nothing else.
#
#   scripts/ci.sh                 lists the steps
#   scripts/ci.sh gcc avx2        runs them in this order; a summary at the end, and exit code 1 if one failed
#   scripts/ci.sh all             every step
set -euo pipefail
cd "$(dirname "$0")/.."

steps=(
  "gcc      make test                              all tests, with the best instruction set of this CPU"
  "avx2     env HEED_ISA=avx2 make quick           the quick tests as a CPU without AVX-512 runs them"
  "clang    make clang                             all tests as Clang compiles them; warnings are errors"
  "asan     make asan                              AddressSanitizer and UBSan"
  "tsan     make tsan                              ThreadSanitizer"
  "lint     make lint                              format, clang-tidy, rules of CONTRIBUTING.md"
  "fuzz     make fuzz                              libFuzzer, a minute for each reader of files"
  "faults   make faults                            kills, full disks, broken files, signals"
  "web      make web-test                          the page: types, unit tests, headless Chromium"
  "soak     make soak                              the server for ten minutes under mixed load"
  "wheel    make wheel-test                        the Python wheel in an environment of its own"
)
name_of() { read -r name _ <<<"$1"; echo "$name"; }

if [ $# = 0 ]; then
  printf '%s\n' "${steps[@]}"
  exit 0
fi

wanted=("$@")
if [ "$1" = all ]; then
  wanted=()
  for step in "${steps[@]}"; do wanted+=("$(name_of "$step")"); done
fi

commands=()
for name in "${wanted[@]}"; do
  for step in "${steps[@]}"; do
    [ "$(name_of "$step")" = "$name" ] || continue
    command=${step#"$name"}
    commands+=("$(sed -E 's/^ +//; s/ {3,}.*//' <<<"$command")")
    continue 2
  done
  echo "ci: there is no step '$name'; scripts/ci.sh lists them" >&2
  exit 2
done

failed=0
summary=()
for i in "${!wanted[@]}"; do
  echo "== ${wanted[i]}: ${commands[i]}"
  begin=$SECONDS
  if ${commands[i]}; then result=passed; else result=FAILED failed=1; fi
  summary+=("$(printf '%-8s %-7s %5d s   %s' "${wanted[i]}" "$result" $((SECONDS - begin)) "${commands[i]}")")
done
printf '\n%s\n' "${summary[@]}"
exit $failed

#!/usr/bin/env bash
# Prints the C++ compiler of Clang: clang++, or the newest clang++-N.
set -euo pipefail
command -v clang++ && exit 0
for version in $(seq 30 -1 14); do
  command -v "clang++-$version" && exit 0
done
echo "find_clang: no clang++ found" >&2
exit 1

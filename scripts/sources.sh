#!/usr/bin/env bash
# Prints every C++ file of the project, a line each.
set -euo pipefail
cd "$(dirname "$0")/.."
find heed cli python tests bench examples -type f \( -name '*.cc' -o -name '*.h' -o -name '*.cpp' \) | sort

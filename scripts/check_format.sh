#!/usr/bin/env bash
# scripts/check_format.sh [CLANG_FORMAT]: fails, and names the lines, where a source is not as `make format` leaves it.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/sources.sh | xargs -r "${1:-clang-format}" --dry-run -Werror || {
  echo "not formatted: make format" >&2
  exit 1
}

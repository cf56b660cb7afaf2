#!/usr/bin/env bash
# run.sh WHEEL HEED: installs the wheel into an environment of its own, and runs tests/wheel and tests/python there, with
# the program HEED for models. PYTHON makes the environment.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
wheel=$(realpath "$1")
program=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${PYTHON:-python3}" -m venv "$work/empty"
"$work/empty/bin/pip" install -q "$wheel" pytest
export HEED=$program HEED_SOURCE=$root HEED_WHEEL=$wheel PYTHONDONTWRITEBYTECODE=1
unset PYTHONPATH LD_LIBRARY_PATH
cd "$work"  # no module of the tree is near
"$work/empty/bin/python" -m pytest -q -p no:cacheprovider "$root/tests/wheel"
# Not what an installation by CMake holds, and not PyTorch, which would be a download of gigabytes.
"$work/empty/bin/python" -m pytest -q -p no:cacheprovider "$root/tests/python" -k "not test_an_installation" \
  --ignore "$root/tests/python/test_torch.py" --ignore "$root/tests/python/test_torch_drop_in.py"

#!/usr/bin/env bash
# Runs tests/python beside the newest pandas, polars, pyarrow, scikit-learn, PyTorch and mypy, which come from PyPI.
#
#   scripts/test_python_peers.sh [arguments of pytest]
#
# HEED_PYTHON_PEERS names another folder than ~/.cache/heed/python-peers; PYTHON makes the environment (default: python3),
# and must be that of build/python. Installs once, and again when tests/python/peers.txt has changed.
set -euo pipefail
cd "$(dirname "$0")/.."
requirements=tests/python/peers.txt
folder=${HEED_PYTHON_PEERS:-${XDG_CACHE_HOME:-$HOME/.cache}/heed/python-peers}
stamp=$folder/heed-requirements.txt

if ! cmp -s "$requirements" "$stamp"; then
  echo "test-python-peers: installing what $requirements names into $folder, once: some 3 GB to load and 6 GB on the disk,"
  echo "test-python-peers: nearly all of it PyTorch, in a few minutes. HEED_PYTHON_PEERS=FOLDER puts it elsewhere."
  "$folder/bin/python3" -c '' 2>/dev/null || "${PYTHON:-python3}" -m venv "$folder"
  # pybind11 knows NumPy 2 from 2.12 on: a system whose NumPy is older has an older one, which compiled build/python.
  numpy=numpy
  [ "$("${PYTHON:-python3}" -c 'import numpy; print(numpy.__version__.split(".")[0])')" != 1 ] || numpy="numpy<2"
  "$folder/bin/python3" -m pip --disable-pip-version-check install -q -r "$requirements" "$numpy"
  cp "$requirements" "$stamp"
fi

build=$PWD/build
cd tests/python
export PYTHONPATH=$build/python PYTHONDONTWRITEBYTECODE=1 HEED_BUILD=$build HEED=$build/cli/heed HEED_SOURCE=$PWD/../..
exec "$folder/bin/python3" -m pytest -q -p no:cacheprovider -rs "$@"

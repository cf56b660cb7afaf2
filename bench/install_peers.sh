#!/usr/bin/env bash
# Puts the peers of bench/requirements.txt into a Python environment of their own, which `make clean` leaves alone.
#
#   bench/install_peers.sh                  make bench-peers: fails where it cannot
#   bench/install_peers.sh --if-possible    what make bench does: says what is missing, and never fails
#
# HEED_PEERS names another folder than ~/.cache/heed/peers; "none" installs nothing, as HEED_SKIP_SETUP=1 does before a
# benchmark. PYTHON makes the environment (default: python3). Needs no network and takes no time where all is there.
set -euo pipefail
requirements=$(cd "$(dirname "$0")" && pwd)/requirements.txt
folder=${HEED_PEERS:-${XDG_CACHE_HOME:-$HOME/.cache}/heed/peers}
python=${PYTHON:-python3}
optional=$([ "${1:-}" != --if-possible ] || echo yes)

if [ "$folder" = none ] || [ "$optional${HEED_SKIP_SETUP:-}" = yes1 ]; then exit 0; fi

versions() {
  local package about
  for package in torch onnxruntime ctranslate2; do
    for about in "$folder"/lib/python3*/site-packages/"$package"-[0-9]*.dist-info; do
      about=$(basename "$about" .dist-info)
      printf '%s ' "${about/-/ }"
    done
  done
}

# The environment is whole when pip came to its end with these very requirements.
stamp=$folder/heed-requirements.txt
if cmp -s "$requirements" "$stamp" && "$folder/bin/python3" -c '' 2>/dev/null; then
  [ "$optional" ] || echo "peers: $(versions)are in $folder"
  exit 0
fi

give_up() {
  {
    echo "peers: $1"
    echo "peers: they come from PyPI ($requirements); make bench-peers tries again."
    echo "peers: Until then the benchmarks run beside what some python3 of the path can import, and name the rest."
  } >&2
  [ "$optional" ] && exit 0
  exit 1
}

echo "peers: installing PyTorch, ONNX Runtime and CTranslate2 into $folder, once."
echo "peers: PyPI's PyTorch does not start without its GPU libraries: some 3 GB to load and 6 GB on the disk, in a few"
echo "peers: minutes. HEED_PEERS=FOLDER puts them elsewhere, HEED_PEERS=none does without."
{ mkdir -p "$folder" && rm -f "$stamp"; } 2>/dev/null || give_up "$folder cannot be written."
pip=("$folder/bin/python3" -m pip --disable-pip-version-check)
"${pip[@]}" --version &>/dev/null || "$python" -m venv "$folder" ||
  give_up "$python cannot make an environment (Debian: apt-get install python3-venv)."
# One short question first: without a network pip itself would go on asking for minutes.
"${pip[@]}" download -q --no-deps --retries 0 --timeout 15 -d "$folder/probe" typing-extensions &>/dev/null ||
  give_up "PyPI cannot be reached."
rm -rf "$folder/probe"
"${pip[@]}" install -q -r "$requirements" || give_up "pip install failed."
cp "$requirements" "$stamp"
echo "peers: $(versions)are in $folder now ($(du -sh "$folder" | cut -f1)); to be rid of them, remove it."

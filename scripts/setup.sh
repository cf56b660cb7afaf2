#!/usr/bin/env bash
# Installs the Debian packages that are missing, and nothing else. Says which, and by which command, before it does.
#
#   scripts/setup.sh build [python] [wheel] [test] [faults] [bench] [fuzz] [lint] [web] [web-test]
#
# Needs no network and takes no time where all are there. HEED_SKIP_SETUP=1 leaves everything as it is, for systems that
# are not Debian's kin.
set -euo pipefail

# "a|b" is there when a or b is; a is what gets installed. "a?" is wanted, but its absence is no error. "a@c" is there when
# the command c is on PATH, wherever it came from.
declare -A groups=(
  [build]="g++ cmake ninja-build ccache pkg-config|pkgconf libhwy-dev libfmt-dev libcli11-dev libboost-dev nlohmann-json3-dev libtomlplusplus-dev libssl-dev libicu-dev libsentencepiece-dev sentencepiece zlib1g-dev libpng-dev libjpeg-dev|libjpeg62-turbo-dev|libjpeg-turbo8-dev libpango1.0-dev? fonts-dejavu-core? libsndfile1?"
  [test]="clang-format libgtest-dev librapidcheck-dev nlohmann-json3-dev python3 python3-numpy python3-pytest python3-jsonschema python3-torch? python3-matplotlib?"
  [faults]="python3-pytest-xdist"
  [python]="pybind11-dev python3-dev python3-numpy"
  [wheel]="python3-venv binutils"
  [bench]="libdnnl-dev nlohmann-json3-dev libfmt-dev python3 python3-numpy python3-venv?"
  [fuzz]="clang|clang-14|clang-15|clang-16|clang-17|clang-18|clang-19 libomp-dev libclang-rt-dev|libclang-rt-14-dev|libclang-rt-15-dev|libclang-rt-16-dev|libclang-rt-17-dev|libclang-rt-18-dev|libclang-rt-19-dev"
  [lint]="clang-format clang-tidy clang|clang-14|clang-15|clang-16|clang-17|clang-18|clang-19 libomp-dev"
  [web]="nodejs@node npm@npm"
  [web-test]="chromium@chromium"
)

[ "${HEED_SKIP_SETUP:-}" = 1 ] && exit 0
wanted=()
for group in "$@"; do
  if [ -z "${groups[$group]:-}" ]; then
    echo "setup: no group '$group'; there are: build python wheel test faults bench fuzz lint web web-test" >&2
    exit 2
  fi
  read -ra packages <<<"${groups[$group]}"
  for package in "${packages[@]}"; do
    if [ "$package" != "${package%@*}" ] && command -v "${package#*@}" >/dev/null; then continue; fi
    wanted+=("${package%@*}")
  done
done
[ ${#wanted[@]} = 0 ] && exit 0

installed=""
if command -v dpkg-query >/dev/null; then
  # One question for all names. Names that dpkg never heard of make it fail; they are simply not in the answer.
  names=()
  for package in "${wanted[@]}"; do
    IFS='|' read -ra alternatives <<<"${package%\?}"
    names+=("${alternatives[@]}")
  done
  installed=$(dpkg-query --show --showformat='${db:Status-Status} ${Package}\n' "${names[@]}" 2>/dev/null |
    sed -n 's/^installed //p' || true)
fi

required=()
optional=()
for package in "${wanted[@]}"; do
  IFS='|' read -ra alternatives <<<"${package%\?}"
  for name in "${alternatives[@]}"; do
    grep -qxF -- "$name" <<<"$installed" && continue 2
  done
  if [ "$package" != "${package%\?}" ]; then
    optional+=("${alternatives[0]}")
  else
    required+=("${alternatives[0]}")
  fi
done
[ $((${#required[@]} + ${#optional[@]})) = 0 ] && exit 0

give_up() {
  {
    echo "setup: $1"
    echo
    echo "Please install these (names of Debian's packages), then run make again:"
    echo
    echo "    apt-get install ${required[*]} ${optional[*]}"
    echo
    echo "Where they are already there under other names, HEED_SKIP_SETUP=1 make ... goes on without asking."
  } >&2
  exit 1
}
# What is only wanted must not stop anyone.
give_up_unless_optional() {
  [ ${#required[@]} = 0 ] || give_up "$1"
  echo "setup: $1 Going on without: ${optional[*]}" >&2
  exit 0
}

command -v apt-get >/dev/null || give_up_unless_optional "there is no apt-get here."
as_root=(env DEBIAN_FRONTEND=noninteractive)
shown=""
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || give_up_unless_optional "this is not root, and there is no sudo."
  as_root=(sudo "${as_root[@]}")
  shown="sudo "
fi
echo "setup: for $*, these packages are missing: ${required[*]:-none}; wanted, but not needed: ${optional[*]:-none}"
echo "setup: (HEED_SKIP_SETUP=1 leaves the system as it is)"

# No pipe into grep -q: it stops reading at the first match, and apt-cache, ended by that, would count as a failure.
has_candidate() {
  local policy
  policy=$(apt-cache policy "$1" 2>/dev/null) || return 1
  [[ "$policy" == *"Candidate: "[!\(]* ]]
}

# The lists of packages are fetched when something must be installed. Something that is only wanted asks for that once:
# where the lists are there and do not have it, it does not exist for this system.
if [ ${#required[@]} != 0 ] || ! has_candidate cmake; then
  echo "setup: ${shown}apt-get update"
  "${as_root[@]}" apt-get update -q || give_up_unless_optional "apt-get update failed."
fi
available=()
for package in ${optional[@]+"${optional[@]}"}; do
  if has_candidate "$package"; then available+=("$package"); fi
done
packages=(${required[@]+"${required[@]}"} ${available[@]+"${available[@]}"})
[ ${#packages[@]} = 0 ] && exit 0
echo "setup: ${shown}apt-get install ${packages[*]}"
"${as_root[@]}" apt-get install -y -q --no-install-recommends "${packages[@]}" ||
  give_up_unless_optional "apt-get install failed."

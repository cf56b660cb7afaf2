#!/usr/bin/env bash
# run.sh SETUP: scripts/setup.sh on a system that is played by four small programs. What is only wanted is installed where
# the system has it, however much apt-cache says of it.
set -euo pipefail
setup=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
play() {
  printf '#!/bin/sh\n%s\n' "$2" >"$work/$1"
  chmod +x "$work/$1"
}
play id 'echo 0'
play dpkg-query 'shift 2; for name; do [ "$name" = python3-torch ] || echo "installed $name"; done'
play apt-get 'echo "$@" >>"'"$work"'/calls"'
installed() {
  : >"$work/calls"
  PATH="$work:$PATH" "$setup" test >/dev/null
  grep -o 'python3-torch' "$work/calls" || true
}

# More than a pipe holds, after the line that answers: whoever stops reading there ends it with a signal.
play apt-cache 'echo "$2:"; echo "  Candidate: 1.13.1+dfsg-4"; yes "  a version" | head -n 100000'
[ "$(installed)" = python3-torch ] || { echo "python3-torch is there, and was not installed"; exit 1; }

# What is installed is said before it is done, also where it is only wanted.
play apt-get 'echo "CALLED $*"'
said=$(PATH="$work:$PATH" "$setup" test)
before=${said%%CALLED install*}
[ "$before" != "$said" ] && [[ "$before" == *"wanted, but not needed: python3-torch"* ]] &&
  [[ "$before" == *"setup: apt-get install python3-torch"* ]] || {
  echo "python3-torch was installed, and nobody was told before: $said"
  exit 1
}
play apt-get 'echo "$@" >>"'"$work"'/calls"'

play apt-cache 'echo "$2:"; [ "$2" = python3-torch ] && echo "  Candidate: (none)" || echo "  Candidate: 1"'
[ -z "$(installed)" ] || { echo "python3-torch is not there, and apt-get was asked for it"; exit 1; }

# A command on PATH is as good as its package, and nothing is asked of dpkg or apt for it.
play npm 'true'
play node 'true'
play dpkg-query 'exit 1'
: >"$work/calls"
PATH="$work:$PATH" "$setup" web >/dev/null
[ ! -s "$work/calls" ] || { echo "npm is on PATH, and apt-get was asked for it"; exit 1; }
rm "$work/npm" "$work/node"
mkdir "$work/system"
for name in bash sed grep env; do ln -s "$(command -v $name)" "$work/system/$name"; done
play apt-cache 'echo "  Candidate: 1"'
PATH="$work:$work/system" "$setup" web >/dev/null
grep -q 'install .*nodejs npm' "$work/calls" || { echo "npm is missing, and was not installed"; exit 1; }

#!/usr/bin/env bash
# scripts/web.sh build | test: the page, with the npm packages that web/package-lock.json pins. They are installed again only
# after that file has changed; testing needs more of them than building.
set -euo pipefail
[ -z "${HEED:-}" ] || HEED=$(realpath "$HEED") # the program whose server is tested, from where we are now
cd "$(dirname "$0")/../web"
command -v npm >/dev/null || {
  echo "web: there is no npm; scripts/setup.sh web installs it (apt-get install nodejs npm)" >&2
  exit 1
}

install() { # install NAME OPTION...: unless what is installed is for the same lock file, and all of it
  local stamp=node_modules/.heed-$1 lock
  lock=$(cksum <package-lock.json)
  shift
  [ "$(cat "$stamp" 2>/dev/null)" = "$lock" ] && return
  npm ci --no-audit --no-fund --loglevel=error "$@"
  echo "$lock" >"$stamp"
}

case "${1:-}" in
  build)
    [ "$(cat node_modules/.heed-all 2>/dev/null)" = "$(cksum <package-lock.json)" ] || install build --omit=dev
    node build.mjs
    ;;
  test)
    install all
    node tests/run.mjs "${@:2}"
    ;;
  *)
    echo "usage: scripts/web.sh build | test [OPTIONS of tests/run.mjs]" >&2
    exit 2
    ;;
esac

#!/usr/bin/env bash
# The checklist of a release, as a script: stops at the first thing that is not as it must be.
#
#   scripts/release.sh --dry-run           checks what takes seconds: versions, changelog, tree, documents
#   scripts/release.sh --dry-run --tests   make check-long too: two hours
#   scripts/release.sh                     all checks, then the tag vX.Y.Z, here only: pushing it is yours
set -euo pipefail
cd "$(dirname "$0")/.."

dry=no tests=no
for argument in "$@"; do
  case "$argument" in
    --dry-run) dry=yes ;;
    --tests) tests=yes ;;
    *) echo "release: unknown option '$argument': expected --dry-run or --tests" >&2; exit 2 ;;
  esac
done
[ $dry = yes ] || tests=yes

problems=0
check() {  # check WHAT COMMAND...: says whether the command succeeds
  local what=$1
  shift
  if "$@" >/dev/null 2>&1; then
    echo "ok       $what"
  else
    echo "NOT YET  $what"
    problems=$((problems + 1))
  fi
}

version=$(sed -n 's/^#define HEED_VERSION "\(.*\)"/\1/p' heed/version.h)
major=$(sed -n 's/^#define HEED_VERSION_MAJOR //p' heed/version.h)
minor=$(sed -n 's/^#define HEED_VERSION_MINOR //p' heed/version.h)
patch=$(sed -n 's/^#define HEED_VERSION_PATCH //p' heed/version.h)
echo "release of heed $version"

same_parts() { [ "$version" = "$major.$minor.$patch" ]; }
clean_tree() { [ -z "$(git status --porcelain)" ]; }
no_tag_yet() { ! git rev-parse -q --verify "refs/tags/v$version"; }
python_agrees() { grep -qx "version = \"$version\"" pyproject.toml; }
changelog_has_it() { grep -qE "^## \[$version\] - [0-9]{4}-[0-9]{2}-[0-9]{2}$" CHANGELOG.md; }
nothing_unreleased() { ! sed -n '/^## \[Unreleased\]/,/^## \[[0-9]/p' CHANGELOG.md | grep -q '^- '; }
readme_agrees() { ! grep -oE 'find_package\(heed [0-9]+\.[0-9]+' README.md | grep -qv "find_package(heed $major.$minor"; }

check "heed/version.h: its parts are the version" same_parts
check "pyproject.toml has the same version" python_agrees
check "CHANGELOG.md has a section [$version] with a date" changelog_has_it
check "CHANGELOG.md: nothing is left under [Unreleased]" nothing_unreleased
check "README.md asks for heed $major.$minor in find_package" readme_agrees
check "nothing is uncommitted" clean_tree
check "there is no tag v$version yet" no_tag_yet
check "sources are formatted" scripts/check_format.sh "$(command -v clang-format-14 || command -v clang-format)"
if [ $tests = yes ]; then
  for target in test check-long; do
    echo "         make $target"
    check "make $target" make "$target"
  done
else
  echo "skipped  make test, make check-long (--tests runs them)"
fi

if [ $problems != 0 ]; then
  echo "release: $problems of the checks failed; nothing was tagged" >&2
  exit 1
fi
if [ $dry = yes ]; then
  echo "release: ready; without --dry-run the tag v$version is made"
else
  git tag -a "v$version" -m "heed $version"
  echo "release: tagged v$version; now: git push origin v$version"
fi

#!/usr/bin/env bash
# Makes .venv with exactly the locked packages and this checkout in editable form. Does nothing when nothing changed.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=.venv
packages=$(cat requirements/dev.txt hack/setup-venv.sh | sha256sum | cut -d' ' -f1)
project=$(sha256sum < pyproject.toml | cut -d' ' -f1)
is_stamped() { [ "$(cat "$venv/$1" 2>/dev/null)" = "$2" ]; }
pip() { if [ -x "$venv/bin/pip" ]; then "$venv/bin/python" -m pip "$@"; else "$python" -m pip --python "$venv/bin/python" "$@"; fi; }
install_project() {
  pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
  echo "$project" > "$venv/.project"
}
if is_stamped .packages "$packages"; then
  is_stamped .project "$project" || { python=python3; install_project; }
  exit 0
fi

fail() { echo "setup: $*" >&2; exit 1; }
is_new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }
python=${PYTHON:-}
if [ -n "$python" ]; then
  is_new_enough "$python" || fail "PYTHON=$python is not a Python 3.11 or later"
else
  for candidate in python3 python3.14 python3.13 python3.12 python3.11; do
    if is_new_enough "$candidate"; then python=$candidate; break; fi
  done
  [ -n "$python" ] || fail "needs Python 3.11 or later: install it, or name one with PYTHON=/path/to/python3"
fi

started=$SECONDS
echo "setup: making $venv with the locked packages (about a minute the first time)"
rm -rf "$venv"
if ! "$python" -m venv "$venv" 2>/dev/null; then
  # Debian keeps the part of venv that brings pip in a package of its own.
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "setup: installing Debian's python3-venv"
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-venv >/dev/null
    rm -rf "$venv"; "$python" -m venv "$venv"
  elif "$python" -m venv --without-pip "$venv" && "$python" -m pip --version >/dev/null 2>&1; then
    # pip outside can install into it as well.
    :
  else
    rm -rf "$venv"
    fail "$python cannot make virtual environments: install python3-venv (Debian, Ubuntu: apt-get install python3-venv)"
  fi
fi
pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
install_project
echo "$packages" > "$venv/.packages"
echo "setup: done in $((SECONDS - started)) s"

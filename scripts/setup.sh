#!/usr/bin/env bash
# Installs what the build and the tests need and this machine lacks: Debian's packages when run as
# root (otherwise it prints the one line to run and stops), Python's into .venv.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(g++ cmake ninja-build ccache clang libclang-rt-dev clang-format python3
          libfmt-dev nlohmann-json3-dev libcli11-dev libgtest-dev libdnnl-dev)

missing_packages() {
  local installed package
  installed=" $(dpkg-query -W -f '${db:Status-Status}:${Package} ' "${packages[@]}" 2>/dev/null || true)"
  for package in "${packages[@]}"; do
    [[ $installed == *" installed:$package "* ]] || echo "$package"
  done
  # A Python that was not installed by Debian brings its own venv.
  python3 -c 'import ensurepip, venv' 2>/dev/null || echo python3-venv
}

if ! command -v dpkg-query >/dev/null; then
  echo "setup: not a Debian system; please see to these yourself: ${packages[*]}"
else
  mapfile -t missing < <(missing_packages)
  if ((${#missing[@]})); then
    if (($(id -u) != 0)); then
      echo "setup: this machine lacks packages, and installing them takes root. Please run" >&2
      echo "  sudo apt-get install -y ${missing[*]}" >&2
      exit 1
    fi
    echo "setup: installing ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
  fi
fi

# The copy beside the packages tells whether they are those that the list asks for.
if ! cmp -s scripts/requirements.txt .venv/requirements.txt; then
  echo "setup: installing Python packages into .venv: $(grep -v '^#' scripts/requirements.txt | xargs)"
  python3 -m venv .venv
  .venv/bin/python -m pip install --quiet --disable-pip-version-check -r scripts/requirements.txt
  cp scripts/requirements.txt .venv/requirements.txt
fi
echo "setup: everything needed is installed"

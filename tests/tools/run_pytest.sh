#!/usr/bin/env bash
# Runs the tests of the built programs. Usage: run_pytest.sh <build folder> [pytest's options]
# Exits with 77 (skipped) where pytest or NumPy are missing; scripts/setup.sh installs them.
set -euo pipefail
folder="$(cd "$(dirname "$0")" && pwd)"
python="$folder/../../.venv/bin/python"
[[ -x $python ]] || python=python3
if ! "$python" -c 'import numpy, pytest' 2>/dev/null; then
  echo "pytest or NumPy is missing: tests of the programs not run"
  exit 77
fi
exec "$python" -m pytest -q -p no:cacheprovider "$folder" --build "$1" "${@:2}"

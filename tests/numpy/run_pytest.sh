#!/usr/bin/env bash
# The reference engine against NumPy. Usage: run_pytest.sh <the program write_cases>
# Exits with 77 (skipped) where pytest or NumPy are missing; scripts/setup.sh installs them.
set -euo pipefail
folder="$(cd "$(dirname "$0")" && pwd)"
python="$folder/../../.venv/bin/python"
[[ -x $python ]] || python=python3
if ! "$python" -c 'import numpy, pytest' 2>/dev/null; then
  echo "pytest or NumPy is missing: the reference engine not checked against NumPy"
  exit 77
fi
exec "$python" -m pytest -q -p no:cacheprovider "$folder" --write-cases "$1"

#!/usr/bin/env bash
# The types of the Python package: the stubs against the native part (mypy.stubtest), the Python code (mypy), and whether
# every public name has a type (pyright --verifytypes).
#
#     scripts/check-stubs.sh PYTHON      an interpreter that has dissensus, mypy and pyright
set -euo pipefail
cd "$(dirname "$0")/.."
python=${1:-python3}

# PyO3 lists the names of the module itself.
"$python" -m mypy.stubtest dissensus._dissensus --mypy-config-file pyproject.toml \
    --allowlist <(echo 'dissensus\._dissensus\.__all__')
"$python" -m mypy --config-file pyproject.toml -p dissensus
if ! command -v node > /dev/null; then
    echo "SKIPPED: pyright needs node; PUBLIC NAMES WERE NOT CHECKED FOR TYPES"
    exit
fi
"$python" -m pyright --pythonpath "$(command -v "$python")" --ignoreexternal --verifytypes dissensus

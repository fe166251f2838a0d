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
# A class with a base of scikit-learn, which has no types, has none either; nor has what takes a module of torch where
# torch is not installed.
PATH="$(dirname "$(command -v "$python")"):$PATH" "$python" -m pyright --ignoreexternal --verifytypes dissensus --outputjson \
    > target/pyright.json || true
"$python" - target/pyright.json <<'CHECK'
import importlib.util
import json
import sys

report = json.load(open(sys.argv[1]))["typeCompleteness"]
symbols = [symbol for symbol in report["symbols"] if symbol["isExported"]]
excused = ["DissensusClassifier", *(["torch"] if importlib.util.find_spec("torch") is None else [])]
unknown = [
    symbol["name"]
    for symbol in symbols
    if not symbol["isTypeKnown"] and not set(excused) & set(symbol["name"].split("."))
]
print(f"{len(symbols)} public names, {len(unknown)} without a whole type; excused: {', '.join(excused)}")
sys.exit("\n".join(unknown) if unknown or len(symbols) < 100 else 0)
CHECK

#!/usr/bin/env bash
# Builds the wheel of the Python package, installs it into a clean virtual environment and runs its tests there: first
# with numpy alone, then with the libraries that it works with.
#
#     scripts/wheel.sh [OUT]                  the folder of the wheel; target/wheels by default
#     TORCH="torch --index-url URL" scripts/wheel.sh
#         also installs torch, with these arguments of pip. Not by default: PyPI's torch brings gigabytes of CUDA.
#     PYTHON=python3.13 scripts/wheel.sh      the interpreter of the environments
#
# The wheel's tag names the oldest glibc that it can run with, as maturin finds it in the symbols that are used.
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-target/wheels}
python=${PYTHON:-python3}
work=target/wheel
tests="crates/python/tests -q -p no:cacheprovider"

say() { printf -- '-- %s (%ss)\n' "$1" "$SECONDS"; }

say "tools"
rm -rf "$work"
"$python" -m venv "$work/tools"
"$work/tools/bin/pip" install --quiet 'maturin>=1.16,<2' twine

say "wheel"
rm -rf "$out"
"$work/tools/bin/maturin" build --quiet --locked --out "$out"
wheel=$(ls "$out"/dissensus-*.whl)
# The same files, compressed as far as the format allows: maturin does it quickly.
"$python" - "$wheel" << 'END'
import os, sys, zipfile
wheel, smaller = sys.argv[1], sys.argv[1] + ".part"
with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(smaller, "w") as new:
    for file in old.infolist():
        new.writestr(file, old.read(file), zipfile.ZIP_DEFLATED, 9)
os.replace(smaller, wheel)
END
size=$(wc -c < "$wheel")
echo "$wheel: $((size / 1000)) kB"
[ "$size" -lt 16000000 ] || { echo "the wheel is larger than 16 MB" >&2; exit 1; }
"$work/tools/bin/twine" check --strict "$wheel"

say "the library's example that the tests compare with"
PARITY=$PWD/target/debug/examples/parity
export PARITY
if [ ! -x "$PARITY" ]; then
    cargo build --quiet --locked -p dissensus --example parity
fi

say "tests with numpy alone"
"$python" -m venv "$work/clean"
"$work/clean/bin/pip" install --quiet "$wheel" pytest
"$work/clean/bin/dissensus" --version
"$work/clean/bin/python" -m pytest $tests -rs

say "types"
"$work/clean/bin/pip" install --quiet mypy pyright
scripts/check-stubs.sh "$PWD/$work/clean/bin/python"

say "tests with other libraries"
"$work/clean/bin/pip" install --quiet scipy scikit-learn polars pandas pyarrow datasets matplotlib \
    nbclient nbformat ipykernel mlcroissant huggingface_hub mlflow wandb
if [ -n "${TORCH:-}" ]; then
    # Several arguments.
    # shellcheck disable=SC2086
    "$work/clean/bin/pip" install --quiet $TORCH
else
    echo "SKIPPED: torch, whose wheel on PyPI brings gigabytes of CUDA; NO TEST WITH TORCH RAN. TORCH=… installs it"
fi
"$work/clean/bin/python" -m pytest $tests -rs
say "done"

#!/usr/bin/env bash
# Builds the native part (unoptimized unless --release is given) and puts it into the package's folder, so that
# PYTHONPATH=crates/python/package finds it. For development; scripts/wheel.sh builds what users install.
set -euo pipefail
cd "$(dirname "$0")/../.."
profile=debug
if [ "${1:-}" = --release ]; then profile=release; fi
cargo build --locked -p dissensus-python "$@"
cp "target/$profile/lib_dissensus.so" crates/python/package/dissensus/_dissensus.abi3.so

#!/usr/bin/env bash
# Runs the commands of a guide, in order, in an empty folder: every line that begins with "$ ".
# A block that names a file, as in ```toml study.toml, is written to that file.
#
#     scripts/run-guide.sh PATH/TO/dissensus docs/guides/NAME.md
#
# Guides that run Python use DISSENSUS_PYTHON, an interpreter that has dissensus and torch; without it they are skipped.
set -euo pipefail
program=$(realpath "$1")
guide=$(realpath "$2")
root=$(cd "$(dirname "$0")/.." && pwd)
export DISSENSUS_MIRROR=${DISSENSUS_MIRROR:-$root/../shared/data}
if [ ! -d "$DISSENSUS_MIRROR" ] && grep -q "^\$ dissensus data fetch" "$guide"; then
    echo "SKIPPED: $(basename "$guide") needs datasets, and there are none at $DISSENSUS_MIRROR"
    exit 0
fi
if grep -q '^\$ python ' "$guide" && ! "${DISSENSUS_PYTHON:-false}" -c 'import dissensus, torch' 2> /dev/null; then
    echo "SKIPPED: $(basename "$guide") needs DISSENSUS_PYTHON, an interpreter with dissensus and torch"
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$program" "$work/bin/dissensus"
if [ -n "${DISSENSUS_PYTHON:-}" ]; then
    # A link would lose the interpreter's virtual environment.
    printf '#!/bin/sh\nexec "%s" "$@"\n' "$DISSENSUS_PYTHON" > "$work/bin/python"
    chmod +x "$work/bin/python"
fi
export PATH="$work/bin:$PATH"
cd "$work"
count=0
file=
while IFS= read -r line <&3; do
    if [ -n "$file" ]; then
        if [ "$line" = '```' ]; then file=; else printf '%s\n' "$line" >> "$file"; fi
    elif [[ $line =~ ^'```'[a-z]+' '([A-Za-z0-9._-]+)$ ]]; then
        file=${BASH_REMATCH[1]}
        : > "$file"
        printf '\n(%s)\n' "$file"
    elif [[ $line == '$ '* ]]; then
        printf '\n%s\n' "$line"
        bash -euo pipefail -c "${line#'$ '}" 2>&1 < /dev/null
        count=$((count + 1))
    fi
done 3< "$guide"
[ "$count" -gt 0 ] || { echo "FAILED: $(basename "$guide") has no commands"; exit 1; }
printf '\n%s passed, 0 failed\n' "$count"

#!/usr/bin/env bash
# Runs the commands of a guide, in order, in an empty folder: every line that begins with "$ ".
#
#     scripts/run-guide.sh PATH/TO/dissensus docs/guides/NAME.md
set -euo pipefail
program=$(realpath "$1")
guide=$(realpath "$2")
root=$(cd "$(dirname "$0")/.." && pwd)
export DISSENSUS_MIRROR=${DISSENSUS_MIRROR:-$root/../shared/data}
if [ ! -d "$DISSENSUS_MIRROR" ] && grep -q "^\$ dissensus data fetch" "$guide"; then
    echo "SKIPPED: $(basename "$guide") needs datasets, and there are none at $DISSENSUS_MIRROR"
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$program" "$work/bin/dissensus"
export PATH="$work/bin:$PATH"
cd "$work"
count=0
while IFS= read -r command; do
    printf '\n$ %s\n' "$command"
    bash -euo pipefail -c "$command" 2>&1
    count=$((count + 1))
done < <(sed -n 's/^\$ //p' "$guide")
printf '\n%s passed, 0 failed\n' "$count"

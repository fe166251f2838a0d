#!/usr/bin/env bash
# Prints the commands of the README's first block, one per line: that of the demo, and that of the tests.
#
#     scripts/readme-commands.sh README.md
set -euo pipefail
commands=$(awk '/^<!-- commands/ { here = 1 } here && /^\$ / { print } here && /^```$/ { exit }' "$1" |
    sed -E 's/^\$ //; s/ +#.*$//')
if [ "$(grep -c . <<< "$commands")" -ne 2 ] || ! grep -q ' demo' <<< "$commands" || ! grep -q ' test' <<< "$commands"; then
    echo "$1: expected two commands behind <!-- commands, one that runs the demo and one that tests; found:" >&2
    echo "$commands" >&2
    exit 1
fi
printf '%s\n' "$commands"

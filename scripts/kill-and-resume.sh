#!/usr/bin/env bash
# Kills training for real, again and again, and checks that what comes out in the end is what an
# undisturbed run gives, bit for bit.
#
#     scripts/kill-and-resume.sh target/release/dissensus
set -euo pipefail
program=$(realpath "${1:?the program}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cat > study.toml <<'TOML'
[data]
dataset = "blends"
items = 600
votes_per_item = 5

[model]
name = "smallcnn"
width = 8

[delivery]
methods = ["sls", "mixup"]

[training]
epochs = 240
batch_size = 32
augment = { crop = 2, flip = true }

[run]
seeds = 1
TOML

"$program" train study.toml --store whole > whole.txt 2> /dev/null

kills=0
for wait in 0.15 0.3 0.5 0.25 0.7 0.4 0.9 0.35; do
    "$program" train study.toml --store killed > /dev/null 2>&1 &
    process=$!
    sleep "$wait"
    if kill -KILL "$process" 2> /dev/null; then kills=$((kills + 1)); fi
    wait "$process" 2> /dev/null || true
done
# Once more, politely: Ctrl-C ends with 130 and says how to go on. On a busy machine the signal may
# come before the program listens; then it is given more time.
polite=
for wait in 0.4 0.8 1.6 3.2 6.4; do
    code=0
    timeout --preserve-status -s INT "$wait" \
        "$program" train study.toml --store killed > /dev/null 2> interrupted.txt || code=$?
    case $code in
        130) if grep -q "continue them with" interrupted.txt; then polite=yes; break; fi ;;
        0) polite=yes; break ;; # it was done before
        *) break ;;
    esac
done
if [ -z "$polite" ]; then
    echo "Ctrl-C: exit code $code, and it said:"
    cat interrupted.txt
    exit 1
fi

"$program" train study.toml --store killed > killed.txt 2> /dev/null
cmp whole.txt killed.txt
compared=0
for run in whole/runs/*; do
    other=killed/runs/$(basename "$run")
    for file in best.safetensors last.safetensors predictions/best.npz predictions/last.npz; do
        cmp "$run/$file" "$other/$file"
        compared=$((compared + 1))
    done
done
[ "$kills" -ge 3 ] || { echo "only $kills kills hit a running process"; exit 1; }
[ "$compared" -eq 8 ] || { echo "only $compared files were compared"; exit 1; }
echo "killed $kills times; $compared files are the same, bit for bit"

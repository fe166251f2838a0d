#!/usr/bin/env bash
# Uses the built program as a new user would, in an empty folder, and checks what comes out.
#
#     scripts/end-to-end.sh PATH/TO/dissensus
set -euo pipefail
program=$(realpath "$1")
root=$(cd "$(dirname "$0")/.." && pwd)
mirror=${DISSENSUS_MIRROR:-$root/../shared/data}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export DISSENSUS_CACHE="$work/cache"

passed=0
ok() { passed=$((passed + 1)); }
fail() { echo "FAILED: $1"; exit 1; }
# Succeeds and prints a text / fails with an exit code and prints a text.
says() { local text=$1; shift; "$@" > out.txt 2>&1 || fail "$*: $(cat out.txt)"; grep -qF -- "$text" out.txt || fail "$* does not say '$text': $(cat out.txt)"; ok; }
refuses() { local code=$1 text=$2; shift 2; local got=0; "$@" > out.txt 2>&1 || got=$?; [ "$got" = "$code" ] || fail "$* exits $got, not $code"; grep -qF -- "$text" out.txt || fail "$* does not say '$text': $(cat out.txt)"; ok; }

# The built-in data: the same bytes each time, and it inspects as itself.
says "wrote first/votes.csv" "$program" demo --items 300 --out first
says "wrote second/votes.csv" "$program" demo --items 300 --out second
for file in votes.csv images.npy truth.npz; do cmp "first/$file" "second/$file" || fail "$file differs"; ok; done
refuses 2 "exists already" "$program" demo --items 300 --out first
says "items       300" "$program" votes inspect first/votes.csv
says "only probabilities" "$program" votes inspect first/truth.npz

# Through every form and back, the digest stays.
digest() { "$program" votes inspect "$1" --json | grep '"digest"'; }
"$program" votes convert first/votes.csv votes.parquet
"$program" votes convert votes.parquet again.csv
[ "$(digest first/votes.csv)" = "$(digest again.csv)" ] || fail "the digest changes"; ok
cmp first/votes.csv again.csv || fail "CSV → Parquet → CSV changes the file"; ok
gzip -k again.csv
[ "$(digest again.csv)" = "$(digest again.csv.gz)" ] || fail "gzip changes the digest"; ok
"$program" votes convert - - < again.csv | cmp - again.csv || fail "a pipe changes the file"; ok
"$program" votes inspect again.csv | head -1 > /dev/null || fail "a closed pipe is an error"; ok

# What is wrong is said, with its place, and nothing is left behind.
printf 'item,annotator,label\na,w,x\nb,w\n' > bad.csv
refuses 2 "bad.csv, row 3: 2 cells where 3 are expected" "$program" votes convert bad.csv bad.npz
[ ! -e bad.npz ] || fail "a half-written file"; ok
refuses 1 "ragged-row" "$program" votes lint bad.csv
refuses 2 "the file is empty" "$program" votes inspect /dev/null

# Datasets from a local mirror.
if [ -d "$mirror" ]; then
    for name in cifar10h cifar100 svhn chaosnli popquorn lewidi cifar10n; do
        says "$name" "$program" data fetch "$name" --from "$mirror"
    done
    says "unanimous   4,393" "$program" votes inspect cache/cifar10h/cifar10h-counts.npy
    says "items       50,000" "$program" votes inspect cache/cifar10n/CIFAR-10_human.pt
    says "in the cache" "$program" data list
else
    echo "SKIPPED: no datasets at $mirror (set DISSENSUS_MIRROR): real data was not fetched"
fi
echo "$passed passed, 0 failed"

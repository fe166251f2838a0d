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
for file in votes.csv images.npz truth.npz; do cmp "first/$file" "second/$file" || fail "$file differs"; ok; done
refuses 2 "exists already" "$program" demo --items 300 --out first
# The same images without ids.
python3 -c 'import zipfile; zipfile.ZipFile("first/images.npz").extract("images.npy", "first")'
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

# Training. A store has one run after `only`, and its loss falls from the first to the last epoch.
only() { "$program" runs list --store "$1" --csv | sed -n '2{s/,.*//;p}'; }
falls() {
    "$program" runs show "$(only "$1")" --store "$1" --json > show.json
    awk -F'[:,]' '/"loss":/ { last = $2; if (n++ == 0) first = $2 }
        END { exit !(n > 1 && last + 0 < first + 0) }' show.json || fail "$1: the loss does not fall"
    ok
}
cat > study.toml <<'TOML'
[data]
votes = "first/votes.csv"
inputs = "first/images.npy"
inputs_by_position = true
[model]
name = "smallcnn"
width = 4
[delivery]
methods = ["sls"]
[training]
epochs = 4
batch_size = 32
[run]
seeds = 1
TOML
says "sls · all votes · seed 0  to train" "$program" train study.toml --dry-run
[ ! -e runs ] || fail "a dry run makes a store"; ok
refuses 2 "have no ids" "$program" train - < <(sed '/by_position/d' study.toml)
says "matched with the votes by position" "$program" train study.toml
falls runs
says "done before" "$program" train study.toml
says "finished, epoch 4" "$program" train study.toml --dry-run
refuses 2 "did you mean \`epochs\`?" "$program" train - < <(sed 's/epochs/epoch/' study.toml)
refuses 2 "did you mean \`learning_rate\`?" "$program" train study.toml --set training.rat=1
refuses 2 "run.precision is \"f64\", which is unknown" "$program" train study.toml --set run.precision=f64
says "selected epoch 1" "$program" train study.toml --set training.epochs=1 --store one
says "1 of 1 epochs" "$program" runs show "$(only one)" --store one
refuses 1 "failed: 1 of 1 runs" "$program" train study.toml --set training.learning_rate=1e10 --store diverged
says "the loss" "$program" runs list --store diverged
says "removed" "$program" runs rm --failed --yes --store diverged

# Predictions of a run are what score reads; those that it has stored carry the ids of the votes.
says "300 items × 10 classes" "$program" predict "$(only runs)" first/images.npy --out own.npz
refuses 2 "exists already" "$program" predict "$(only runs)" first/images.npy --out own.npz
refuses 2 "does not fit run" "$program" predict "$(only runs)" first/truth.npz
stored=runs/runs/$(only runs)/predictions/best.npz
says "60 of 300 items matched by id" "$program" score --votes first/votes.csv --predictions "$stored" --replicates 0

# Feature vectors by id, from CSV and npz: here the votes themselves, so that there is much to learn.
"$program" baseline votes --votes first/votes.csv --out features.csv 2> /dev/null
"$program" votes convert first/votes.csv features.npz
sed -e 's/smallcnn/mlp/' -e '/width/d' -e '/by_position/d' -e 's/^batch/optimizer = "adam"\n&/' study.toml > vectors.toml
for form in csv npz; do
    says "soft NLL" "$program" train vectors.toml --set "data.inputs=features.$form" --store "$form"
    if grep -q "by position" out.txt; then fail "features.$form: ids are not used"; fi
    falls "$form"
done
# The same model from the same rows in another order.
{ head -1 features.csv; tail -n +2 features.csv | sort -r; } > turned.csv
says "done before" "$program" train vectors.toml --set data.inputs=turned.csv --store csv

# A folder of pictures, named by item: upright and lying bars of 8 × 8 pixels.
mkdir bars
echo item,annotator,label > bars.csv
for item in $(seq 1 20); do
    echo iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAAAAADhZOFXAAAAE0lEQVR42mMQERE5cQJIMFDGAABJZhBBzPOcNgAAAABJRU5ErkJggg== | base64 -d > "bars/up-$item.png"
    echo iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAAAAADhZOFXAAAAFUlEQVR42mMQgQIGTMYJKEAwcCsGAElmEEE+KpA3AAAAAElFTkSuQmCC | base64 -d > "bars/flat-$item.png"
    printf 'up-%s,a,up\nup-%s,b,up\nflat-%s,a,flat\nflat-%s,b,flat\n' "$item" "$item" "$item" "$item" >> bars.csv
done
says "accuracy 1.0000" "$program" train study.toml --set data.votes=bars.csv --set data.inputs=bars \
    --set data.inputs_by_position=false \
    --set training.epochs=10 --set training.batch_size=4 --store bars-store
falls bars-store
says "flat-1,0.9" "$program" predict "$(only bars-store)" bars --store bars-store --weights last

# A study: a part of it, the rest, and nothing twice; a run that diverges stops no other.
cat > compare.toml <<'TOML'
[study]
name = "compare"
title = "Soft and sampled labels"
[data]
votes = "first/votes.csv"
inputs = "first/images.npy"
inputs_by_position = true
[model]
name = "smallcnn"
width = 4
[training]
epochs = 3
batch_size = 32
[run]
seeds = 2
[[arm]]
name = "soft"
delivery = "soft"
[[arm]]
name = "drawn"
delivery = "sls"
[[table]]
name = "main"
title = "Which is better?"
down = ["arm"]
metrics = ["soft_nll", "accuracy"]
against = { arm = "soft" }
[[figure]]
name = "points"
kind = "points"
metrics = ["soft_nll"]
[[figure]]
name = "pictures"
kind = "images"
count = 3
TOML
study() { "$program" study "$@"; }
says "demo " study list
"$program" study show demo | grep -q '^name = "demo"' || fail "study show demo"; ok
refuses 2 "did you mean \`soft\`?" study run compare.toml --arms sft
refuses 2 "there is no store at whole" study status compare.toml --store whole
says "soft · all votes · seed 0 " study run compare.toml --store whole --arms soft
says "2        –            –       –        2" study status compare.toml --store whole
says "Which is better?" study run compare.toml --store whole
[ "$(grep -c "done before" out.txt)" = 2 ] || fail "a study trains again what is done: $(cat out.txt)"; ok
says "all runs are done" study status compare.toml --store whole
sed 's/^delivery = "sls"/&\nset = { "training.learning_rate" = 1e10 }/' compare.toml > diverges.toml
refuses 1 "failed: drawn · all votes · seed 1: " study run diverges.toml --store diverges
grep -q "^soft  *[0-9.]* ± [0-9.]*  [0-9.]* ± [0-9.]*$" out.txt || fail "the other arm: $(cat out.txt)"; ok

# Its report; and that of two stores that have trained half of it each and were packed together.
says "whole-report/index.html" "$program" report whole
for file in index.html results.parquet tables/main.tex figures/points.pdf figures/pictures.png; do
    [ -s "whole-report/$file" ] || fail "the report has no $file"; ok
done
says "soft · all votes · seed 1 " study run compare.toml --store left --arms soft
says "drawn · all votes · seed 1 " study run compare.toml --store right --arms drawn
says "2 runs and 1 study" "$program" pack left
says "2 runs added" "$program" unpack left.pack --store right
says "0 runs added, 0 replaced, 2 kept" "$program" unpack left.pack --store right
says "right-report/index.html" "$program" report right
for file in tables/main.csv figures/points.svg figures/pictures.csv; do
    cmp "whole-report/$file" "right-report/$file" || fail "the halves give another $file"; ok
done
head -c 2000 left.pack > cut.pack
refuses 2 "is not a whole pack" "$program" unpack cut.pack --store cut
[ ! -e cut ] || fail "a pack that is cut makes a store"; ok

# Datasets from a local mirror.
if [ -d "$mirror" ]; then
    for name in cifar10h cifar100 svhn chaosnli popquorn lewidi; do
        says "$name" "$program" data fetch "$name" --from "$mirror"
    done
    says "unanimous   4,393" "$program" votes inspect cache/cifar10h/cifar10h-counts.npy
    says "items       50,000" "$program" votes inspect "$mirror/cifar10n/CIFAR-10_human.pt"
    says "in the cache" "$program" data list
    # A small ResNet-18 learns from 500 photographs in two epochs.
    sed -e 's/^votes = .*/dataset = "cifar10h"/' -e 's/^inputs = .*/items = 500/' \
        -e '/by_position/d' -e 's/smallcnn/resnet18/' -e 's/^width = .*/width = 8/' study.toml > photographs.toml
    says "soft NLL" "$program" train photographs.toml --set training.epochs=2 --store photographs
    falls photographs
    says "cifar10h, 500 items" "$program" runs show "$(only photographs)" --store photographs
    # Three votes per item, evaluated on fifty.
    if [ -e "$mirror/cifar10/data_batch_5.bin" ]; then
        says cifar10n "$program" data fetch cifar10n --from "$mirror"
        sed -e 's/^dataset = .*/dataset = "cifar10n"\nevaluate_on = "cifar10h"/' \
            photographs.toml > sparse.toml
        says "soft NLL" "$program" train sparse.toml --set training.epochs=2 --store sparse
        says "evaluate on cifar10h, 500 items" "$program" runs show "$(only sparse)" --store sparse
    else
        echo "SKIPPED: no images of CIFAR-10N at $mirror: nothing was evaluated on another dataset"
    fi
else
    echo "SKIPPED: no datasets at $mirror (set DISSENSUS_MIRROR): real data was not fetched"
fi
echo "$passed passed, 0 failed"

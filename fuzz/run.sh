#!/usr/bin/env bash
# Runs every fuzz target (or those named) and prints a table of how many inputs each has seen.
#
#     fuzz/run.sh [RUNS] [TARGET …]        RUNS is 1000000 unless given
#
# Needs nightly Rust and cargo-fuzz. Stops at the first crash, which is left in fuzz/artifacts.
set -euo pipefail
cd "$(dirname "$0")"

runs=1000000
if [[ ${1:-} =~ ^[0-9]+$ ]]; then
    runs=$1
    shift
fi
host=$(rustc +nightly -vV | sed -n 's/^host: //p')
# There is no unsafe code of ours for a sanitizer to watch; overflow checks are on. Tracing every
# comparison makes a run five times slower, most of it inside the CSV reader's own tables; the
# dictionaries and seeds stand in for it.
cargo +nightly fuzz build --fuzz-dir . --sanitizer none --no-trace-compares

targets=("$@")
if [[ ${#targets[@]} -eq 0 ]]; then
    mapfile -t targets < <(cargo +nightly fuzz list --fuzz-dir .)
fi

dictionary() {
    case $1 in
        long | wide | matrix | popquorn) echo csv ;;
        array | cifar10n | npy | npz | parquet | pickle) echo array ;;
        *) echo json ;;
    esac
}

table="| target | inputs | seconds | inputs kept |"$'\n'"|---|---:|---:|---:|"$'\n'
for target in "${targets[@]}"; do
    # What is found is kept between runs, beside the build.
    corpus=target/corpus/$target
    artifacts=artifacts/$target
    mkdir -p "$corpus" "$artifacts"
    log=target/$target.log
    begin=$SECONDS
    # An allocation that a header asks for, and a loop that does not end, are crashes as well.
    if ! "target/$host/release/$target" "$corpus" "seeds/$target" \
        -runs="$runs" -max_len=4096 -timeout=10 -rss_limit_mb=2048 -malloc_limit_mb=1024 \
        -dict="dict/$(dictionary "$target").dict" -artifact_prefix="$artifacts/" \
        -print_final_stats=1 >"$log" 2>&1; then
        tail -n 40 "$log" >&2
        echo "$target crashed: the input is in fuzz/$artifacts" >&2
        exit 1
    fi
    seen=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    kept=$(find "$corpus" -type f | wc -l)
    table+="| $target | $seen | $((SECONDS - begin)) | $kept |"$'\n'
    echo "$target: $seen inputs, no crash" >&2
done
echo "$table"

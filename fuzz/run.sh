#!/usr/bin/env bash
# Runs every fuzz target (or those named) and prints a table of how many inputs each has seen.
#
#     fuzz/run.sh [RUNS] [TARGET …]        RUNS is 1000000 unless given
#
# Needs stable Rust and a C++ compiler (for libFuzzer). Stops at the first crash, which is left in
# fuzz/artifacts. SECONDS_EACH=600 ends a target after ten minutes, too.
set -euo pipefail
cd "$(dirname "$0")"

runs=1000000
if [[ ${1:-} =~ ^[0-9]+$ ]]; then
    runs=$1
    shift
fi
targets=("$@")
if [[ ${#targets[@]} -eq 0 ]]; then
    mapfile -t targets < <(cd src/bin && ls | sed 's/\.rs$//')
fi

# Counters for libFuzzer in every crate. There is no unsafe code of ours for a sanitizer to watch;
# overflow checks are on. Tracing every comparison makes a run five times slower, most of it inside the
# CSV reader's own tables; the dictionaries and seeds stand in for it. Naming the host keeps these flags
# from build scripts.
host=$(rustc -vV | sed -n 's/^host: //p')
flags="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4"
flags+=" -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table"
RUSTFLAGS=$flags cargo build --release --locked --target "$host" "${targets[@]/#/--bin=}"

dictionary() {
    case $1 in
        long | wide | matrix | mturk | popquorn | results | toloka) echo csv ;;
        array | cache | checkpoint | cifar10n | image | inputs | logits | npy | npz) echo array ;;
        pack | parquet | pickle | predictions | safetensors) echo array ;;
        spec | study) echo toml ;;
        *) echo json ;;
    esac
}

# Files that targets write are in memory where the system has such a folder.
scratch=$(mktemp -d -p "$([[ -d /dev/shm ]] && echo /dev/shm || echo /tmp)")
trap 'rm -rf "$scratch"' EXIT

table="| target | inputs | seconds | inputs kept |"$'\n'"|---|---:|---:|---:|"$'\n'
for target in "${targets[@]}"; do
    # What is found is kept between runs, beside the build.
    corpus=target/corpus/$target
    artifacts=artifacts/$target
    mkdir -p "$corpus" "$artifacts"
    log=target/$target.log
    begin=$SECONDS
    # An allocation that a header asks for, and a loop that does not end, are crashes as well.
    if ! TMPDIR=$scratch "target/$host/release/$target" "$corpus" "seeds/$target" \
        -runs="$runs" -max_total_time="${SECONDS_EACH:-0}" \
        -max_len=4096 -timeout=5 -rss_limit_mb=2048 -malloc_limit_mb=256 \
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

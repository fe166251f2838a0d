#!/usr/bin/env bash
# Runs every fuzz target (or those named) and prints a table of how many inputs each has seen.
#
#     fuzz/run.sh [TARGET …]
#
#     RUNS=1000000   inputs after which a target is done
#     EACH=          seconds after which it is, too
#     TOTAL=         seconds for all targets together
#     JOBS=1         processes at a time; idle ones take a target that another process already runs
#     OUT=target     folder of artifacts, logs of crashes and summary.tsv, which has a line per target at any time
#     CORPUS=        folder of the inputs that are kept, OUT/corpus unless given
#     PROGRAM=       a program that was built before; otherwise it is built, which needs stable Rust and a
#                    C++ compiler (for libFuzzer)
#
# Crashes are in OUT/artifacts. A target is left after three of them, and the script fails.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
runs=${RUNS:-1000000} each=${EACH:-1000000000} total=${TOTAL:-1000000000} jobs=${JOBS:-1}
out=${OUT:-$here/target} program=${PROGRAM:-}
corpus=${CORPUS:-$out/corpus}

targets=("$@")
if [[ ${#targets[@]} -eq 0 ]]; then
    mapfile -t targets < <(cd "$here/seeds" && ls -d */ | tr -d /)
fi

if [[ -z $program ]]; then
    # Counters for libFuzzer in every crate. There is no unsafe code of ours for a sanitizer to watch;
    # overflow checks are on. Tracing every comparison makes a run five times slower, most of it inside the
    # CSV reader's own tables; the dictionaries and seeds stand in for it. Naming the host keeps these flags
    # from build scripts.
    host=$(rustc -vV | sed -n 's/^host: //p')
    flags="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4"
    flags+=" -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table"
    (cd "$here" && RUSTFLAGS=$flags cargo build --release --locked --target "$host")
    program=$here/target/$host/release/dissensus-fuzz
fi

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
mkdir -p "$out"

# A target is run in slices of at most a minute, the one with the least time first, so that all have had the
# same time when it is over. What is found is kept between slices and runs.
slice=$((total * jobs / ${#targets[@]} / 4))
slice=$((slice < 5 ? 5 : slice > 60 ? 60 : slice))
declare -A inputs=() seconds=() crashes=() running=() slot_target=() slot_begin=() slot_log=()
for target in "${targets[@]}"; do
    inputs[$target]=0 seconds[$target]=0 crashes[$target]=0 running[$target]=0
    mkdir -p "$corpus/$target" "$out/artifacts/$target" "$out/logs"
done

summary() {
    {
        printf 'target\tinputs\tseconds\tcrashes\n'
        for target in "${targets[@]}"; do
            printf '%s\t%s\t%s\t%s\n' "$target" "${inputs[$target]}" "${seconds[$target]}" "${crashes[$target]}"
        done
    } >"$out/summary.tsv.new"
    mv "$out/summary.tsv.new" "$out/summary.tsv"
}

# The target to run next: not done, and the least time of those.
pick() {
    picked=
    local least target cost
    for target in "${targets[@]}"; do
        if ((inputs[$target] >= runs || seconds[$target] >= each || crashes[$target] >= 3)); then
            continue
        fi
        cost=$((seconds[$target] + slice * running[$target]))
        if [[ -z $picked ]] || ((cost < least)); then
            picked=$target least=$cost
        fi
    done
}

number=0
start() {
    local target=$1 length=$slice left=$((total - SECONDS))
    ((left < length)) && length=$left
    ((each - seconds[$target] < length)) && length=$((each - seconds[$target]))
    number=$((number + 1))
    local log=$out/logs/$target.$number.log
    # An allocation that a header asks for, and a loop that does not end, are crashes as well. The entropic
    # schedule takes longer than the readers.
    TMPDIR=$scratch TARGET=$target "$program" "$corpus/$target" "$here/seeds/$target" \
        -runs=$((runs - inputs[$target])) -max_total_time="$length" \
        -max_len=4096 -len_control=100 -entropic=0 -timeout=5 -rss_limit_mb=2048 -malloc_limit_mb=256 \
        -dict="$here/dict/$(dictionary "$target").dict" -artifact_prefix="$out/artifacts/$target/" \
        -print_final_stats=1 >"$log" 2>&1 &
    running[$target]=$((running[$target] + 1))
    slot_target[$!]=$target slot_begin[$!]=$SECONDS slot_log[$!]=$log
}

# Adds up what a process has done.
finish() {
    local pid=$1 status=$2 target=${slot_target[$1]} log=${slot_log[$1]} seen
    # A process that was killed has only said where it was.
    seen=$(sed -nE 's/^(stat::number_of_executed_units: *|#)([0-9]+).*/\2/p' "$log" | tail -n 1)
    inputs[$target]=$((inputs[$target] + ${seen:-0}))
    seconds[$target]=$((seconds[$target] + SECONDS - slot_begin[$pid]))
    running[$target]=$((running[$target] - 1))
    # 0: done; 72: interrupted.
    if [[ $status -eq 0 || $status -eq 72 || -n $stopped ]]; then
        rm -f "$log"
    else
        crashes[$target]=$((crashes[$target] + 1))
        tail -n 20 "$log" >&2
        echo "$target crashed: the input is in $out/artifacts/$target, the log $log" >&2
    fi
    rm -rf "$scratch/dissensus-fuzz-$pid"
    unset "slot_target[$pid]" "slot_begin[$pid]" "slot_log[$pid]"
    summary
}

stopped=
trap 'stopped=1; kill -TERM "${!slot_target[@]}" 2>/dev/null || true' TERM INT
summary
while :; do
    while [[ -z $stopped ]] && ((${#slot_target[@]} < jobs && SECONDS < total)); do
        pick
        [[ -n $picked ]] || break
        start "$picked"
    done
    ((${#slot_target[@]})) || break
    status=0 pid=
    wait -n -p pid "${!slot_target[@]}" || status=$?
    # Nothing ended where a signal came.
    [[ -z ${pid:-} ]] || finish "$pid" "$status"
done

column -t -s $'\t' "$out/summary.tsv" 2>/dev/null || cat "$out/summary.tsv"
for target in "${targets[@]}"; do
    ((crashes[$target] == 0)) || exit 1
done

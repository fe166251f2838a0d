#!/usr/bin/env bash
# Runs a study as a job array on a real Slurm while its nodes are killed, and checks that the results are those of
# one machine, byte for byte. Slurm is Debian's: a controller and two node daemons, all on this machine, in a folder
# that is removed at the end.
#
#     clusters/slurm.sh target/release/dissensus
set -euo pipefail
program=$(realpath "${1:?the program}")
skipped() { echo "SKIPPED: $1; NO CLUSTER WAS TESTED"; exit 0; }
export PATH=$PATH:/usr/sbin
missing=
for command in munged mungekey slurmctld slurmd sbatch squeue scontrol; do
    command -v "$command" > /dev/null || missing="$missing $command"
done
if [ -n "$missing" ]; then
    [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null || skipped "there is no$missing"
    { apt-get update && apt-get install -y --no-install-recommends slurm-wlm munge; } > /dev/null 2>&1 \
        || skipped "Debian's packages slurm-wlm and munge cannot be installed"
fi
[ "$(id -u)" = 0 ] || skipped "the daemons of Slurm are started by root"

work=$(mktemp -d)
host=$(hostname -s)
base=$((20000 + RANDOM % 10000))
export SLURM_CONF=$work/slurm.conf
mkdir "$work/state" "$work/study"

# A process and all below it.
tree() { local child; for child in $(pgrep -P "$1"); do tree "$child"; done; echo "$1"; }
# Whether a process or one below it belongs to this cluster.
ours() {
    local id
    for id in $(tree "$1"); do if grep -qs "$work" "/proc/$id/cmdline"; then return 0; fi; done
    return 1
}
end() { kill -KILL "$@" 2> /dev/null || true; }
alone= # the study on this machine
left=() # processes of jobs whose daemons were killed, and that live on
stop() {
    local code=$? file id
    trap - EXIT
    if [ "$code" != 0 ]; then
        echo "FAILED ($code); the ends of the logs:"
        tail -n 20 "$work"/slurm*.log "$work"/study/*/studies/*/cluster/logs/*.log 2> /dev/null || true
    fi
    # shellcheck disable=SC2086
    end $alone
    for file in "$work"/*.pid; do
        # shellcheck disable=SC2046
        [ ! -e "$file" ] || end $(tree "$(cat "$file")")
    done
    for id in "${left[@]}"; do
        if grep -qs "$work" "/proc/$id/cmdline"; then end "$id"; fi
    done
    rm -rf "$work"
    exit "$code"
}
trap stop EXIT

# No accounting, no cgroups: what a small cluster has at least. A requeued job may begin again after 5 s, not 2 min, and
# one that a node has lost is missed after 2 s.
cat > "$SLURM_CONF" <<CONF
ClusterName=proof
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$base
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket,cred_expire=5
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool-%n
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd-%n.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=1,sched_min_interval=100000,batch_sched_delay=0
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
ReturnToService=2
SlurmdTimeout=5
BatchStartTimeout=2
KillWait=2
CompleteWait=0
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((base + 1)) CPUs=2 State=UNKNOWN
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((base + 2)) CPUs=2 State=UNKNOWN
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=30 State=UP
CONF
echo "# not used" > "$work/cgroup.conf"
mungekey --create --keyfile="$work/munge.key"
munged --force --key-file="$work/munge.key" --socket="$work/munge.socket" --pid-file="$work/munged.pid" \
    --log-file="$work/munged.log" --seed-file="$work/munged.seed" 2> /dev/null
slurmctld
start() { slurmd -N "$1"; }
start n1
start n2
# Waits for a condition, for at most so many seconds.
within() {
    local seconds=$1 end=$((SECONDS + $1))
    shift
    until "$@"; do
        if [ "$SECONDS" -ge "$end" ]; then echo "after $seconds s: not $*"; return 1; fi
        sleep 0.2
    done
}
idle() { [ "$(sinfo --noheader --Node --states=idle --format=%N 2> /dev/null | wc -l)" = 2 ]; }
running() { squeue --noheader --states=running --nodelist="$1" --format=%A 2> /dev/null | grep .; }
within 30 idle

cd "$work/study"
cat > study.toml <<'TOML'
[study]
name = "proof"
title = "Twenty-four runs on a cluster whose nodes fail"

[data]
dataset = "blends"
items = 400
votes_per_item = 5

[model]
name = "smallcnn"
width = 4

[training]
epochs = 200
batch_size = 32

[run]
seeds = 12
threads = 1

[[arm]]
name = "soft"
delivery = "soft"

[[arm]]
name = "drawn"
delivery = "sls"

[stages]
truth = {}
variance = {}
cka = { items = 64 }

[[table]]
name = "main"
down = ["arm"]
metrics = ["soft_nll", "true_kl", "accuracy", "cka"]
against = { arm = "soft" }
TOML
# The same on this machine alone, in what time the cluster leaves.
nice "$program" study run study.toml --store local > local.txt 2>&1 &
alone=$!
"$program" study submit study.toml --on slurm --shards 8 --cpus 1 --jobs 1 --time 20 --warning 60 > submitted.txt
cat submitted.txt

# Both daemons of a node die: alone, so that its jobs live on without them, or with everything on the node. Or the
# signal comes that Slurm sends before the time limit.
fail() {
    local kind=$1 node=$2 jobs job ids=() id
    jobs=$(running "$node") || return 1
    if [ "$kind" = limit ]; then
        # By its place in the array: the id of the last task is also that of the whole array.
        job=$(squeue --noheader --array --states=running --nodelist="$node" --format=%F_%K | shuf -n 1)
        scancel --batch --signal=USR1 "$job" || return 1
        echo "the signal before the time limit: $job on $node"
        return
    fi
    ids=("$(cat "$work/slurmd-$node.pid")")
    for job in $jobs; do
        for id in $(pgrep -f "^slurmstepd: \[$job\."); do
            ours "$id" || continue
            if [ "$kind" = power ]; then
                mapfile -t -O "${#ids[@]}" ids < <(tree "$id")
            else
                ids+=("$id")
                mapfile -t -O "${#left[@]}" left < <(tree "$id" | grep -vx "$id")
            fi
        done
    done
    # Slurm may not have noticed yet that the jobs of the node are gone.
    [ "${#ids[@]}" -ge 2 ] || return 1
    end "${ids[@]}"
    echo "killed ($kind): $node with jobs $(echo $jobs), ${#ids[@]} processes"
    sleep 1
    start "$node"
}
empty() { [ -z "$(squeue --noheader)" ]; }
kinds=$(shuf -e power daemons limit power daemons limit)
count=0
for kind in $kinds; do
    for _ in 1 2 3 4 5 6; do
        sleep "$((1 + RANDOM % 3))"
        if empty; then break; fi
        # A node that has something to do.
        within 60 running n1,n2 > /dev/null
        node=$(shuf -e n1 n2 | while read -r node; do if running "$node" > /dev/null; then echo "$node"; break; fi; done)
        if fail "$kind" "$node"; then
            count=$((count + 1))
            break
        fi
    done
done
[ "$count" -ge 2 ] || { echo "only $count of 6 failures hit a running shard"; exit 1; }
"$program" study status study.toml
within 180 empty
requeued=$(grep -c "Requeuing JobId" "$work/slurmctld.log")
[ "$requeued" -ge 2 ] || { echo "only $requeued jobs were queued again"; exit 1; }

wait "$alone" || { cat local.txt; exit 1; }
alone=
"$program" report runs --out cluster-report > /dev/null
"$program" report local --out local-report > /dev/null
compared=0
same() { cmp "$1" "$2" && compared=$((compared + 1)); }
for file in results.csv results.parquet study.toml; do same "runs/studies/proof/$file" "local/studies/proof/$file"; done
for file in local-report/tables/*; do same "$file" "cluster-report/tables/$(basename "$file")"; done
for run in local/runs/*; do same "$run/predictions/best.npz" "runs/runs/$(basename "$run")/predictions/best.npz"; done
[ "$compared" -ge 30 ] || { echo "only $compared files were compared"; exit 1; }

# Cancelled jobs do not come back.
# The same on this machine alone, in what time the cluster leaves.
nice "$program" study run study.toml --store local > local.txt 2>&1 &
alone=$!
"$program" study submit study.toml --on slurm --shards 8 --store other > /dev/null 2>&1
within 20 running n1,n2 > /dev/null
"$program" study cancel study.toml --store other
within 30 empty
sleep 7
empty
echo "$count failures, $requeued jobs queued again; $compared files are the same, byte for byte; $SECONDS s"

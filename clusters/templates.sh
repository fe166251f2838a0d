#!/usr/bin/env bash
# What `study submit --dry-run` prints for SSH, Kubernetes and Ray is run on this machine, and gives the results of an
# ordinary run, byte for byte: SSH with a stand-in that runs commands here, the commands of Kubernetes' Jobs without
# Kubernetes, and Ray with a local Ray from PyPI.
#
#     clusters/templates.sh target/release/dissensus
set -euo pipefail
program=$(realpath "${1:?the program}")
here=$(realpath "$(dirname "$0")")
small=$(realpath "$(dirname "$0")/../crates/cli/tests/common/small.toml")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir bin
ln -s "$program" bin/dissensus
export PATH="$work/bin:$PATH"

cat "$small" - > study.toml <<'TOML'

[split]
parts = "train/validation/test"

[run]
seeds = 3

[grid]
"training.learning_rate" = [0.1, 0.01]

[stages]
cka = { items = 16 }
TOML
dissensus study run study.toml --store local > /dev/null 2>&1
same() {
    cmp "local/studies/small/results.csv" "$2/studies/small/results.csv"
    echo "$1: the same results, byte for byte"
}
submit() { dissensus study submit study.toml --shards 3 --dry-run "$@" 2> /dev/null; }

printf '#!/bin/sh\n[ "$1" = -n ] && shift\nshift\nexec bash -c "$*"\n' > bin/ssh
chmod +x bin/ssh
submit --on ssh --hosts one,two --store ssh > shards.sh
bash shards.sh > /dev/null 2>&1
same SSH ssh

if ! { python3 -m venv environment && environment/bin/pip install --quiet ray pyyaml; } > /dev/null 2>&1; then
    echo "SKIPPED: pip cannot install ray and pyyaml; THE SCRIPTS FOR RAY AND KUBERNETES WERE NOT RUN"
    exit 0
fi

environment/bin/python "$here/fuzz-scripts.py" "$program" 50
submit --on kubernetes --image none --claim none --store kubernetes > study.yaml
cat > jobs.py <<'PYTHON'
# Runs the command of every pod, in the order of the Jobs.
import os, subprocess, sys, yaml

resources = list(yaml.safe_load_all(open("study.yaml")))
study = next(one for one in resources if one["kind"] == "ConfigMap")["data"]["study.toml"]
open("mounted.toml", "w").write(study)
for job in (one for one in resources if one["kind"] == "Job"):
    command = job["spec"]["template"]["spec"]["containers"][0]["command"]
    command = ["mounted.toml" if word == "/study/study.toml" else word for word in command]
    for index in range(job["spec"].get("completions", 1)):
        environment = {**os.environ, "JOB_COMPLETION_INDEX": str(index)}
        code = subprocess.run(command, env=environment, capture_output=True).returncode
        if code != 0:
            sys.exit(f"{job['metadata']['name']}, {index}: exit code {code}")
PYTHON
environment/bin/python jobs.py
same Kubernetes kubernetes

submit --on ray --cpus 1 --store ray > shards.py
RAY_USAGE_STATS_ENABLED=0 environment/bin/python shards.py > ray.txt 2> ray.log || { tail -n 30 ray.log; exit 1; }
same Ray ray

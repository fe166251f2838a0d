"""Scripts for clusters with hostile texts in them are read back: YAML by PyYAML, shell by bash.

    python3 clusters/fuzz-scripts.py PROGRAM [CASES]

Titles, paths, images, hosts and settings are made of what ends lines, quotes, blocks and words. Every script must
hold exactly the texts that were given, or be refused with exit code 2.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

PROGRAM = os.path.realpath(sys.argv[1])
CASES = int(sys.argv[2]) if len(sys.argv) > 2 else 100
PIECES = [
    *"abz09 '\"`$\\!#&|;<>(){}[]*?~-=:,%@.^", "\t", "\n", "\r", "\x0b", "\x7f", "\x85", "\u2028", "\u2029", "\ufeff",
    "é", "🦀", "---", "\n---\n", "\nkind: Secret\n", "$(touch broken)", "`touch broken`", "'; touch broken; '",
    "\u2028---\u2028kind: Secret\u2028", " #", ": ", "- ", "${HOME}", "-oProxyCommand=touch broken",
]
# Each call in a file of its own: machines work at the same time.
RECORDER = '#!/bin/sh\nfor word in "$@"; do printf "%s\\0" "$word"; done > "$RECORD/$$"\n'
STUDY = (Path(__file__).resolve().parent.parent / "crates/cli/tests/common/small.toml").read_text()
rng = random.Random(int(os.environ.get("SEED", "0")))


def text(least=0):
    return "".join(rng.choice(PIECES) for _ in range(rng.randint(least, 8)))


def toml(value):
    # The escapes of JSON are those of TOML, but for pairs of surrogates and for DEL.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def submit(study, *options):
    done = subprocess.run([PROGRAM, "study", "submit", study, "--shards", "2", "--dry-run", *options], capture_output=True)
    if done.returncode == 2:
        assert b"panicked" not in done.stderr, done.stderr
        return None
    assert done.returncode == 0, (options, done.stderr)
    return done.stdout.decode()


def study_file(title):
    """A study with this title, in a file whose name is as hostile."""
    path = Path("./s" + text().replace("/", "") + ".toml")
    path.write_text(STUDY.replace('"Soft and sampled labels"', toml(title)))
    return str(path)


def kubernetes(title):
    image, claim, program = text(1), text(1), "p" + text()
    options = [f"--image={image}", f"--claim={claim}", f"--program={program}", "--store=/data/runs"]
    script = submit(study_file(title), "--on", "kubernetes", *options)
    if script is None:
        return False
    documents = list(yaml.safe_load_all(script))
    assert [one["kind"] for one in documents] == ["ConfigMap", "Job", "Job"], script
    study = documents[0]["data"]["study.toml"]
    # Blanks at the ends of a title mean nothing, and none is the name.
    assert (title.strip() or "small") == read_title(study), (title, study)
    for job in documents[1:]:
        pod = job["spec"]["template"]["spec"]
        container = pod["containers"][0]
        assert container["image"] == image and program in container["command"], script
        claims = [volume["persistentVolumeClaim"]["claimName"] for volume in pod["volumes"] if "persistentVolumeClaim" in volume]
        assert claims == [claim], script
    return True


def read_title(study):
    try:
        import tomllib
    except ImportError:  # before Python 3.11, what is written is compared as text
        line = next(line for line in study.split("\n") if line.startswith("title = "))
        return json.loads(line.removeprefix("title = "))
    return tomllib.loads(study)["study"]["title"]


def shell(system, folder, title):
    store, device, study = "/x" + text(1) + "x", text(1), study_file(title)
    host = rng.choice(["one", "two", text(1)])
    options = [f"--program={folder}/recorder", f"--store={store}", f"--device={device}"]
    script = submit(study, "--on", system, *options, *([f"--hosts=one,{host}"] if system == "ssh" else []))
    if script is None:
        return False
    path = folder / "script.sh"
    scripts = [script] if system == "ssh" else script.split("#!/bin/bash\n")[1:]
    wanted = [["study", "run"], ["study", "finish"]]
    record = Path(tempfile.mkdtemp(dir=folder))
    for one in scripts:
        path.write_bytes(one.encode())
        subprocess.run(["bash", "-n", path], check=True)
        environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "RECORD": str(record), "SLURM_ARRAY_TASK_ID": "1"}
        subprocess.run(["bash", path], env=environment, capture_output=True, timeout=20)
    calls = [call.read_bytes().decode().split("\0")[:-1] for call in record.iterdir()]
    assert sorted({tuple(call[:2]) for call in calls}) == sorted(map(tuple, wanted)), (script, calls)
    for call in calls:
        assert call[call.index("--store") + 1] == store, (call, store)
        if system == "ssh":
            assert study in call, (call, study)
        if call[1] == "run":
            assert call[call.index("--device") + 1] == device, (call, device)
    return True


def main():
    written = {}
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        os.chdir(folder)
        # Runs here what would run there.
        (folder / "ssh").write_text('#!/bin/sh\n[ "$1" = -n ] && shift\ncase $1 in -*) touch broken ;; esac\nshift\nexec bash -c "$*"\n')
        (folder / "recorder").write_text(RECORDER)
        for name in ["ssh", "recorder"]:
            (folder / name).chmod(0o755)
        for _ in range(CASES):
            title = text()
            written["kubernetes"] = written.get("kubernetes", 0) + kubernetes(title)
            for system in ["ssh", "slurm"]:
                written[system] = written.get(system, 0) + shell(system, folder, title)
            assert not list(folder.rglob("broken")), "a text was run as a command"
    print(f"{CASES} cases; written and read back: {written}; the others were refused")
    assert all(count >= CASES // 10 for count in written.values()), "too few scripts were written"


main()

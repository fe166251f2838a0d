"""The command ``dissensus`` of the package behaves as the program."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import dissensus
import pytest

COMMAND = [sys.executable, "-m", "dissensus"]
# Far more epochs than anybody waits for.
LONG = ["demo", "--items", "200", "--epochs", "100000", "--seeds", "1"]


def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=120, **options)


def test_help_and_version_are_no_errors() -> None:
    shown = run("--help")
    assert shown.returncode == 0 and "Usage: dissensus" in shown.stdout and not shown.stderr
    # A build from a clone also names its commit.
    assert run("--version").stdout.split()[:2] == ["dissensus", dissensus.__version__]


def test_wrong_usage_exits_with_2() -> None:
    wrong = run("demo", "--nonsense")
    assert wrong.returncode == 2 and "--nonsense" in wrong.stderr and not wrong.stdout
    missing = run("votes", "inspect", "no-such-file.csv")
    assert missing.returncode == 2 and "no-such-file.csv" in missing.stderr


def test_the_installed_script_is_the_same_command() -> None:
    script = Path(sys.executable).with_name("dissensus")
    if not script.exists():
        pytest.skip("the package is not installed, only on the path")
    shown = subprocess.run([script, "--version"], capture_output=True, text=True, timeout=60)
    assert shown.returncode == 0 and shown.stdout.split()[:2] == ["dissensus", dissensus.__version__]


def test_bytes_to_standard_output_are_whole(tmp_path: Path) -> None:
    votes = tmp_path / "votes.csv"
    votes.write_text("item,annotator,label\na,x,cat\na,y,dog\nb,x,cat\n")
    convert = [*COMMAND, "votes", "convert", str(votes)]
    subprocess.run([*convert, str(tmp_path / "out.npz")], check=True, capture_output=True, timeout=60)
    shown = subprocess.run([*convert, "-", "--to", "npz"], check=True, capture_output=True, timeout=60)
    assert shown.stdout == (tmp_path / "out.npz").read_bytes()


def test_a_closed_pipe_is_quiet() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as closed:
        ended = subprocess.run(
            [*COMMAND, "metrics", "list"], stdout=closed, stderr=subprocess.PIPE, text=True, timeout=60
        )
    assert (ended.returncode, ended.stderr) == (0, "")


def begin(store: Path, *arguments: str) -> subprocess.Popen[str]:
    """Training that has begun a run in the store."""
    command = [*COMMAND, *arguments, "--store", str(store)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for _ in range(600):
        if any(store.glob("runs/*/lock")) or process.poll() is not None:
            break
        time.sleep(0.1)
    time.sleep(0.3)
    assert process.poll() is None, process.communicate()
    return process


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent by POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_training_in_order(tmp_path: Path, number: signal.Signals) -> None:
    store = tmp_path / "runs"
    process = begin(store, *LONG)
    process.send_signal(number)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors
    assert "ending after the epochs that are under way" in errors
    assert "Traceback" not in errors and "KeyboardInterrupt" not in errors
    listed = run("runs", "list", "--store", str(store))
    assert listed.returncode == 0 and "interrupted" in listed.stdout, listed


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent by POSIX")
def test_the_command_to_continue_with_is_the_one_that_was_typed(tmp_path: Path) -> None:
    spec = tmp_path / "spec.toml"
    spec.write_text("data.dataset = 'blends'\ndelivery.methods = 'soft'\nmodel.name = 'smallcnn'\ntraining.epochs = 100000\n")
    store = tmp_path / "runs"
    process = begin(store, "train", str(spec))
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors
    assert f"dissensus train {spec} --store {store}" in errors


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent by POSIX")
def test_ctrl_c_ends_a_command_that_does_not_train(tmp_path: Path) -> None:
    pipe = tmp_path / "votes.csv"
    os.mkfifo(pipe)
    process = subprocess.Popen([*COMMAND, "votes", "inspect", str(pipe)], stderr=subprocess.PIPE, text=True)
    # Opens once the command reads.
    with open(pipe, "w") as writer:
        writer.write("item,annotator,label\n")
        writer.flush()
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT and "Traceback" not in errors

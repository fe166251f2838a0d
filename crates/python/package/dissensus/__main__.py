"""The command ``dissensus``, also as ``python -m dissensus``."""

import signal
import sys

from dissensus._dissensus import main


def command() -> int:
    """Runs the command with the arguments of the process, and returns its exit code."""
    # The interpreter would only note Ctrl-C and wait for the native part. As in the program, a command that trains
    # listens to it, and any other ends at once. Where the parent ignores Ctrl-C, it stays ignored.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return main()


if __name__ == "__main__":
    sys.exit(command())

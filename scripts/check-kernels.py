#!/usr/bin/env python3
"""Compiles the CUDA kernels with NVRTC for every kind of card and precision. Needs no GPU.

    scripts/check-kernels.py [--verbose] [--folder FOLDER] [--library PATH/TO/libnvrtc.so.13]

The program compiles its kernels where it runs, so an error in one would first be seen there. This
compiles them here, down to machine code, with the oldest NVRTC of the major version that is used:
what it takes, the later ones take. NVRTC comes from PyPI into target/nvrtc-venv, once. Kernels
include no header of the toolkit, so none is needed.

Each file is compiled behind common.cu, and then all of them as one text, as the program does; those of a folder
only so.

Exits with 0 if all compile (or there are none yet), 1 if one does not, 2 if NVRTC cannot be had.
"""

import argparse
import ctypes
import re
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KERNELS = ROOT / "crates" / "engine" / "src" / "cuda" / "kernels"
VENV = ROOT / "target" / "nvrtc-venv"
PACKAGE, VERSION = "nvidia-cuda-nvrtc", "13.0.88"
# the architecture, and whether bf16 is used there: cards before sm_80 have no units for it
SETTINGS = [("sm_90", 0), ("sm_90", 1), ("sm_80", 0), ("sm_80", 1), ("sm_75", 0)]
# kernels in these folders are for some cards only, and are compiled by themselves: for which, and in which order
FOLDERS = {"hopper": ([("sm_90a", 1)], ["common", "weights", "conv", "stride", "stem", "parts"]),
           "bf16x3": ([("sm_80", 0), ("sm_90", 0)], ["conv"])}


def stop(message):
    print(f"error: {message}", file=sys.stderr)
    sys.exit(2)


def installed():
    """The library of the pinned package, which is installed where it is not yet."""
    def found():
        if not list(VENV.glob(f"lib/python*/site-packages/nvidia_cuda_nvrtc-{VERSION}.dist-info")):
            return None
        return next(iter(sorted(VENV.rglob("libnvrtc.so.*"))), None)

    if not found():
        print(f"installing {PACKAGE} {VERSION} into {VENV.relative_to(ROOT)}", flush=True)
        try:
            venv.create(VENV, with_pip=True)
            subprocess.run([VENV / "bin" / "python", "-m", "pip", "install", "--quiet",
                            "--disable-pip-version-check", f"{PACKAGE}=={VERSION}"], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            stop(f"{PACKAGE} {VERSION} could not be installed: {error}\n"
                 "hint: give a libnvrtc.so that is there already with --library")
    return found() or stop(f"expected libnvrtc.so.* in {VENV}, found none; remove the folder and "
                           "run this again")


class Nvrtc:
    """The few calls of NVRTC that compile a text."""

    def __init__(self, path):
        try:
            # the compiler looks for its built-ins by name, and finds them if they are loaded
            for builtins in sorted(path.resolve().parent.glob("libnvrtc-builtins.so.*")):
                ctypes.CDLL(str(builtins), mode=ctypes.RTLD_GLOBAL)
            self.library = ctypes.CDLL(str(path))
        except OSError as error:
            stop(f"{path} cannot be loaded: {error}")
        self.library.nvrtcGetErrorString.restype = ctypes.c_char_p
        major, minor = ctypes.c_int(), ctypes.c_int()
        self.call("nvrtcVersion", ctypes.byref(major), ctypes.byref(minor))
        self.version = f"{major.value}.{minor.value}"

    def call(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        if code != 0:
            raise RuntimeError(f"{name}: {self.library.nvrtcGetErrorString(code).decode()}")

    def text(self, program, what):
        size = ctypes.c_size_t()
        self.call(f"nvrtcGet{what}Size", program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        self.call(f"nvrtcGet{what}", program, buffer)
        return buffer.raw

    def compile(self, text, options):
        """The names of the kernels in a text, or None if it does not compile; and the log."""
        program = ctypes.c_void_p()
        self.call("nvrtcCreateProgram", ctypes.byref(program), text.encode(), b"kernels", 0, None,
                  None)
        try:
            failed = None
            words = (ctypes.c_char_p * len(options))(*(word.encode() for word in options))
            try:
                self.call("nvrtcCompileProgram", program, len(options), words)
            except RuntimeError as error:
                failed = str(error)
            log = self.text(program, "ProgramLog").rstrip(b"\0").decode(errors="replace").strip()
            if failed:
                return None, log or failed
            entries = re.findall(rb"\.entry\s+([\w$]+)", self.text(program, "PTX"))
            if not self.text(program, "CUBIN"):
                return None, f"{log}\nno machine code came out"
            return [entry.decode() for entry in entries], log
        finally:
            self.call("nvrtcDestroyProgram", ctypes.byref(program))


def joined(paths, folder):
    """The files one behind the other, each with its name and lines for messages."""
    return "\n".join(f'#line 1 "{path.relative_to(folder)}"\n{path.read_text()}' for path in paths)


def check(nvrtc, name, text, folder, verbose):
    """Compiles a text in all settings, says how it went, and whether it went well."""
    well, kernels, seen = True, set(), set()
    settings = FOLDERS[name.rstrip("/")][0] if name.endswith("/") else SETTINGS
    for architecture, bf16 in settings:
        options = [f"--gpu-architecture={architecture}", f"-DBF16={bf16}", "--std=c++17",
                   f"--include-path={folder}"]
        if verbose:
            options.append("--ptxas-options=-v")
        found, log = nvrtc.compile(text, options)
        result = "FAILED" if found is None else f"ok, kernels: {len(found)}"
        again = ", with the log above" if log in seen else ""
        print(f"{name:24} {architecture} BF16={bf16}  {result}{again}", flush=True)
        if log and not again:
            print("    " + log.replace("\n", "\n    "), flush=True)
        seen |= {log} - {""}
        well &= found is not None
        kernels |= set(found or [])
    if well and not kernels and name != "common.cu":
        print(f'{name:24} FAILED: no kernel came out in any setting; one is extern "C" __global__')
        return False
    return well


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--folder", type=Path, default=KERNELS, help="where the .cu files are")
    parser.add_argument("--library", type=Path, help="a libnvrtc.so that is there already")
    parser.add_argument("--verbose", action="store_true", help="registers and spills, too")
    options = parser.parse_args()
    folder = options.folder
    if folder != KERNELS and not folder.is_dir():  # a typing error must not pass for success
        stop(f"expected a folder of .cu files, but {folder} is none")
    files = sorted(folder.rglob("*.cu"), key=lambda path: (path.name != "common.cu", path))
    if not files:
        print(f"NO KERNELS YET: there is no .cu file in {folder}; NOTHING WAS CHECKED")
        return 0
    if options.library and not options.library.is_file():
        stop(f"expected a libnvrtc.so, but {options.library} is no file")
    nvrtc = Nvrtc(options.library or installed())
    print(f"NVRTC {nvrtc.version}, {len(files)} files, {len(SETTINGS)} settings", flush=True)
    everywhere = [path for path in files if path.parent.name not in FOLDERS]
    common = [path for path in everywhere if path.name == "common.cu"]
    texts = {str(path.relative_to(folder)): joined(common + [path] * (path not in common), folder)
             for path in everywhere}
    texts["all together"] = joined(everywhere, folder)
    for name in FOLDERS:
        own = [folder / name / f"{part}.cu" for part in FOLDERS[name][1]]
        texts[f"{name}/"] = joined(common + own, folder)
    broken = [name for name, text in texts.items()
              if not check(nvrtc, name, text, folder, options.verbose)]
    print(f"FAILED: {', '.join(broken)}" if broken else "all compile everywhere")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())

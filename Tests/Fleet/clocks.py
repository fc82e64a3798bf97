#!/usr/bin/env python3
"""Clocks that are wrong: a wall clock that a file sets while a process runs, and another boot for each node.

clocks.py FILE SECONDS COMMAND...   runs a command as on a machine whose boot id the file has, and whose monotonic
                                    clocks are off by so many seconds
"""

import ctypes
import os
import struct
import subprocess
import sys
import uuid

NEW_TIME, NEW_FILES = 0x80, 0x20000
BIND, PRIVATE = 0x1000, 0x40000 | 0x4000
BOOT = "/proc/sys/kernel/random/boot_id"


class Clock:
    """A wall clock, by the library that is preloaded into the processes that go by it."""

    def __init__(self, path, library):
        self.path = path
        self.set(0)
        path.chmod(0o644)
        self.environment = {"LD_PRELOAD": str(library), "FLEET_CLOCK": str(path)}

    def set(self, seconds):
        # Writes in place: the processes have the file mapped.
        with open(self.path, "r+b" if self.path.exists() else "wb") as file:
            file.write(struct.pack("=q", int(seconds * 1_000_000)))


def another_boot(path, seconds):
    """What a command begins with that runs within another boot."""
    path.write_text(f"{uuid.uuid4()}\n")
    return [sys.executable, os.path.abspath(__file__), str(path), str(seconds)]


def is_possible(directory):
    command = [*another_boot(directory / "boot", 1000), "true"]
    return subprocess.run(command, stderr=subprocess.DEVNULL).returncode == 0


def main():
    path, seconds, *command = sys.argv[1:]
    library = ctypes.CDLL(None, use_errno=True)

    def call(name, *arguments):
        if getattr(library, name)(*arguments):
            raise OSError(ctypes.get_errno(), name)

    call("unshare", NEW_TIME | NEW_FILES)
    with open("/proc/self/timens_offsets", "w") as file:
        file.write(f"monotonic {seconds} 0\nboottime {seconds} 0\n")
    namespace = os.open("/proc/self/ns/time_for_children", os.O_RDONLY | os.O_CLOEXEC)
    call("setns", namespace, NEW_TIME)
    call("mount", None, b"/", None, PRIVATE, None)
    call("mount", path.encode(), BOOT.encode(), None, BIND, None)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()

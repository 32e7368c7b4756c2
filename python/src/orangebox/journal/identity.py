"""Enough to tell later, from another process, whether this one is gone. A member is None where the platform does not say."""

from __future__ import annotations

import os
import sys


def this_process() -> dict[str, object]:
    pid = os.getpid()
    # A /proc of another pid namespace would describe a stranger under our number.
    proc_is_ours = _read_link("/proc/self") == str(pid)
    return {
        "pid": pid,
        "thread_id": 0,
        "start_ticks": _start_ticks(pid) if proc_is_ours else None,
        "boot_id": _read_text("/proc/sys/kernel/random/boot_id"),
        "pid_namespace": _read_link("/proc/self/ns/pid"),
        "hostname": _uname(1),
        "machine_id": _read_text("/etc/machine-id"),
    }


def runtime() -> str:
    return "python " + ".".join(map(str, sys.version_info[:3]))


def runtime_and_platform() -> str:
    return f"{runtime()} {sys.platform} {_uname(4)}"


def is_gone(identity: dict[str, object], observer: dict[str, object]) -> bool:
    """Dead only on proof: the pid with that start time is gone from this boot and this pid namespace, or the machine has booted since."""
    if identity.get("hostname") != observer["hostname"] or identity.get("machine_id") != observer["machine_id"]:
        return False
    if identity.get("boot_id") is None or observer["boot_id"] is None:
        return False
    if identity["boot_id"] != observer["boot_id"]:
        return identity.get("machine_id") is not None
    if identity.get("pid_namespace") is None or identity["pid_namespace"] != observer["pid_namespace"]:
        return False
    if identity.get("start_ticks") is None or observer["start_ticks"] is None:
        return False
    pid = identity["pid"]
    if not isinstance(pid, int):
        return False
    ticks = _start_ticks(pid)
    if ticks is None:
        return _pid_is_free(pid)
    return ticks != identity["start_ticks"] or _state(pid) in ("Z", "X")


def _uname(field: int) -> str:
    if hasattr(os, "uname"):
        return os.uname()[field]
    import platform

    return platform.uname()[field]


def _pid_is_free(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        pass
    return False


def _stat_fields(pid: int) -> list[str]:
    text = _read_text(f"/proc/{pid}/stat")
    # The second field is the command name in parentheses and may itself hold spaces and parentheses.
    return [] if text is None else text[text.rfind(")") + 2 :].split(" ")


def _start_ticks(pid: int) -> int | None:
    fields = _stat_fields(pid)
    return int(fields[19]) if len(fields) > 19 and fields[19].isdigit() else None


def _state(pid: int) -> str:
    fields = _stat_fields(pid)
    return fields[0] if fields else "?"


def _read_text(path: str) -> str | None:
    try:
        with open(path, encoding="latin-1") as file:
            return file.read().strip() or None
    except OSError:
        return None


def _read_link(path: str) -> str | None:
    try:
        return os.readlink(path)
    except (OSError, AttributeError):
        return None



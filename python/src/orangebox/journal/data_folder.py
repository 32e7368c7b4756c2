"""Where recordings lie, and where a user's own settings and key do."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping

from .private_file import FILE_MODE, ensure_private_folder

_NAME = ".orangebox"


def find_data_folder(cwd: str | None = None, env: Mapping[str, str] = os.environ) -> str:
    """`ORANGEBOX_HOME`; else the nearest `.orangebox` here or further up; else `.orangebox` here. Creates nothing."""
    here = os.path.abspath(cwd or os.getcwd())
    home = env.get("ORANGEBOX_HOME", "")
    if home != "":
        return os.path.abspath(os.path.join(here, home))
    folder = here
    while True:
        candidate = os.path.join(folder, _NAME)
        if os.path.exists(candidate):
            return candidate
        parent = os.path.dirname(folder)
        if parent == folder:
            return os.path.join(here, _NAME)
        folder = parent


def open_data_folder(path: str) -> tuple[str, str]:
    """The folder and its journal folder, created where they are missing; refused where they are not private to this user."""
    folder = os.path.abspath(path)
    ensure_private_folder(folder)
    journal_folder = os.path.join(folder, "journal")
    for inner in (journal_folder, os.path.join(folder, "store")):
        ensure_private_folder(inner)
    _keep_out_of_git(folder)
    return folder, journal_folder


_HARMLESS = (errno.EEXIST, errno.ENOSPC, getattr(errno, "EDQUOT", 122), errno.EROFS, errno.EACCES)


def _keep_out_of_git(folder: str) -> None:
    try:
        fd = os.open(os.path.join(folder, ".gitignore"), os.O_CREAT | os.O_EXCL | os.O_WRONLY, FILE_MODE)
    except OSError as error:
        # One that is there already is the user's business; a full disk is no reason to refuse the folder.
        if error.errno not in _HARMLESS:
            raise
        return
    try:
        os.write(fd, b"*\n")
    except OSError as error:
        if error.errno not in _HARMLESS:
            raise
    finally:
        os.close(fd)


def user_folder(env: Mapping[str, str] = os.environ) -> str:
    home = env.get("XDG_CONFIG_HOME", "")
    if home == "":
        home = os.path.join(env.get("HOME") or os.path.expanduser("~"), ".config")
    return os.path.join(home, "orangebox")

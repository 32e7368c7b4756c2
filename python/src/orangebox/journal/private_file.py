"""
Files and folders of a data folder: private to this user, never through a link. All that is written to one goes through here, because the
folder may have come with a clone or an archive.
"""

from __future__ import annotations

import json
import os
import stat

from ..contract.error import OrangeboxError
from .failure import failure_code

FILE_MODE = 0o600
FOLDER_MODE = 0o700

_SAFELY = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_CREATE = os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def create_private_file(path: str, appends: bool) -> int:
    """A new file, made by this call or not at all. The mode of open(2) passes through the umask and must not end up narrower or wider."""
    fd = os.open(path, _CREATE | (os.O_WRONLY | os.O_APPEND if appends else os.O_RDWR), FILE_MODE)
    if hasattr(os, "fchmod"):
        os.fchmod(fd, FILE_MODE)
    return fd


def read_private_file(path: str, most_bytes: int) -> bytes:
    try:
        fd = os.open(path, os.O_RDONLY | _SAFELY)
    except OSError as error:
        word = {"ELOOP": "is a symbolic link", "ENXIO": "is no file", "EISDIR": "is a folder"}.get(failure_code(error))
        if word is None:
            raise
        raise _file_refusal(path, word, "Remove it, or use a data folder of your own") from error
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise _file_refusal(path, "is no file", "Remove it")
        if hasattr(os, "geteuid"):
            if found.st_uid != os.geteuid():
                raise _file_refusal(
                    path,
                    f"belongs to user {found.st_uid}, this process runs as {os.geteuid()}",
                    f'Run as its owner, or give it away with "chown {os.geteuid()}"',
                )
            if found.st_mode & 0o022:
                mode = f"{found.st_mode & 0o777:04o}"
                raise _file_refusal(path, f"can be written by others (mode {mode})", f"Run: chmod go-w {json.dumps(path)}")
        if found.st_size > most_bytes:
            raise _file_refusal(path, f"has {found.st_size} bytes, {most_bytes} at most are read", "Remove it")
        return os.read(fd, most_bytes)
    finally:
        os.close(fd)


def ensure_private_folder(path: str) -> None:
    """Makes sure that `path` is a folder only its owner can write to, creating it when it is missing."""
    found = _look_at(path)
    if found is None:
        try:
            _make_folder(path)
        except OSError as error:
            raise _folder_refusal(
                path,
                f"cannot be created ({failure_code(error)})",
                "Make its parent writable, or set ORANGEBOX_HOME to a folder that is",
            ) from error
        found = _look_at(path)
        if found is None:
            raise _folder_refusal(path, "disappeared as it was created", "Choose another folder")
    _check_folder(path, found)


def _look_at(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        what = f"cannot be looked at ({failure_code(error)})"
        raise _folder_refusal(path, what, "Check the permissions of its parent folders") from error


def _make_folder(path: str) -> None:
    try:
        os.mkdir(path, FOLDER_MODE)
    except FileExistsError:
        return  # Another writer was quicker; what it made is looked at next.
    except FileNotFoundError:
        parent = os.path.dirname(path)
        if parent == path or _look_at(parent) is not None:
            raise
        _make_folder(parent)
        _make_folder(path)


def _check_folder(path: str, found: os.stat_result) -> None:
    if stat.S_ISLNK(found.st_mode):
        raise _folder_refusal(path, "is a symbolic link", "Set ORANGEBOX_HOME to the folder it points to")
    if not stat.S_ISDIR(found.st_mode):
        raise _folder_refusal(path, "is a file, not a folder", "Move it away or choose another folder")
    if not hasattr(os, "geteuid"):
        return
    uid = os.geteuid()
    if found.st_uid != uid:
        raise _folder_refusal(
            path,
            f"belongs to user {found.st_uid}, this process runs as {uid}",
            f'Run as its owner, give it away with "chown -R {uid}", or set ORANGEBOX_HOME to a folder of your own',
        )
    if found.st_mode & 0o022:
        mode = f"{found.st_mode & 0o777:04o}"
        raise _folder_refusal(path, f"can be written by others (mode {mode})", f"Run: chmod go-w {json.dumps(path)}")


def _folder_refusal(path: str, what: str, next: str) -> OrangeboxError:
    return OrangeboxError("FOLDER_REFUSED", f"the folder {what}", path, next)


def _file_refusal(path: str, what: str, next: str) -> OrangeboxError:
    return OrangeboxError("FILE_REFUSED", f"a file of the data folder {what}", path, next)

"""
The key of a data folder: 32 random bytes, made once. Tags of masked secrets are keyed with it, so that they compare within the store and
tell nothing to a reader without the key. Behind it stands its seal, made with a key of the user's own that no folder holds: a key that
came with a clone is refused until the user agrees to it (`orangebox trust --key`).
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from collections.abc import Mapping

from ..contract.error import OrangeboxError
from .data_folder import user_folder
from .failure import failure_code
from .private_file import FOLDER_MODE, create_private_file, read_private_file

_KEY_FILE = "store.key"
_KEY_BYTES = 32
_MOST_BYTES = 4096
_RESTORE = "Restore the file from where the store was copied; a new key makes earlier masks incomparable"


def open_store_key(folder: str, env: Mapping[str, str] = os.environ) -> bytes:
    path = os.path.join(folder, _KEY_FILE)
    found = _read_key_file(path)
    seal = _seal_key(env)
    if found is None:
        return _make_key_file(path, _sealed(os.urandom(_KEY_BYTES), seal))[:_KEY_BYTES]
    key = found[:_KEY_BYTES]
    if seal is not None and not hmac.compare_digest(found, _sealed(key, seal)):
        raise _key_error(
            path,
            "was not made by you: whoever made it can tell masked secrets by their tags",
            "If you moved the store here yourself, agree to its key with: orangebox trust --key; "
            "else delete the file, and a new one is made",
        )
    return key


def _sealed(key: bytes, seal: bytes | None) -> bytes:
    if seal is None:
        return key
    return key + hmac.new(seal, b"the key of a data folder" + key, hashlib.sha256).digest()


def _seal_key(env: Mapping[str, str]) -> bytes | None:
    """The user's own key; none where it can be neither read nor made."""
    path = os.path.join(user_folder(env), "seal.key")
    try:
        found = _read_key_file(path)
        if found is not None:
            return found[:_KEY_BYTES]
        os.makedirs(os.path.dirname(path), FOLDER_MODE, exist_ok=True)
        return _make_key_file(path, os.urandom(_KEY_BYTES))
    except (OSError, OrangeboxError):
        return None


def _read_key_file(path: str) -> bytes | None:
    try:
        data = read_private_file(path, _MOST_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _key_error(path, f"cannot be read ({failure_code(error)})", _RESTORE) from error
    if hasattr(os, "geteuid") and os.lstat(path).st_mode & 0o077:
        raise _key_error(path, "can be read by others", f"Run: chmod 600 {json.dumps(path)}, if it is yours")
    if len(data) in (_KEY_BYTES, 2 * _KEY_BYTES):
        return data
    raise _key_error(path, f"has {len(data)} bytes instead of {_KEY_BYTES} with or without a seal", _RESTORE)


def _make_key_file(path: str, data: bytes) -> bytes:
    """Written whole under another name first: of several processes that start at once, all end up with the same complete key."""
    draft = os.path.join(os.path.dirname(path), f".{_KEY_FILE}.{os.getpid()}.{os.urandom(6).hex()}")
    try:
        fd = create_private_file(draft, appends=True)
        try:
            os.write(fd, data)
            os.fsync(fd)
        finally:
            os.close(fd)
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            os.unlink(draft)
    except OSError as error:
        raise _key_error(path, f"cannot be made ({failure_code(error)})", "Make the folder writable") from error
    made = _read_key_file(path)
    assert made is not None
    return made


def _key_error(path: str, what: str, next: str) -> OrangeboxError:
    return OrangeboxError("STORE_KEY", f"the store's key {what}", path, next)

"""
`orangebox.config.json`, as far as a recorder goes by it: the user's own file, and over it the nearest one at or above the working folder.
A file that came with a repository may ask for more care than the user does; what keeps more, or could lose recordings, waits for
`orangebox trust`.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Mapping

from .contract.error import OrangeboxError
from .journal.data_folder import user_folder

CONFIG_FILE = "orangebox.config.json"
_MOST_BYTES = 4 * 2**20

# Settings of the file that are for other parts of Orangebox.
_OTHERS = frozenset(("$schema", "upstreams", "judges", "retention", "store", "constraints", "prices", "classify"))
# Rules a user writes are interpreted by the TypeScript recorder only. Nothing is recorded under rules that may not hold.
_RULES_NOT_READ = ("deny", "allow", "keys", "values", "safeIds")


def find_config(cwd: str, env: Mapping[str, str] = os.environ) -> tuple[dict[str, object], list[str]]:
    """What is in effect, and the settings of the repository's file that are not."""
    named = env.get("ORANGEBOX_CONFIG", "")
    user_path = os.path.abspath(named) if named else os.path.join(user_folder(env), "config.json")
    user_text = _read(user_path)
    if user_text is None and named:
        raise OrangeboxError("CONFIG", "ORANGEBOX_CONFIG names a file that is not there", user_path, "Correct the variable or unset it")
    user = {} if user_text is None else _parse(user_text, user_path)
    found = _nearest(cwd)
    if found is None:
        return user, []
    path, text = found
    repository = _parse(text, path)
    ignored: list[str] = []
    if not _is_trusted(os.path.join(user_folder(env), "trust.json"), path, text):
        ignored = _take_out_unsafe(repository, user)
    merged = {**user, **repository}
    rules = {**_redaction(user), **_redaction(repository)}
    if rules:
        merged["redaction"] = {
            name: bool(_redaction(user).get(name)) or bool(_redaction(repository).get(name)) for name in rules
        }
    return merged, [f"{path} is not trusted, so these settings have no effect: {', '.join(ignored)}"] if ignored else []


def _redaction(config: Mapping[str, object]) -> dict[str, object]:
    rules = config.get("redaction")
    return dict(rules) if isinstance(rules, dict) else {}


def _take_out_unsafe(config: dict[str, object], user: Mapping[str, object]) -> list[str]:
    ignored = [name for name in ("journal", "allowFull", "strict") if config.pop(name, None) not in (None, False)]
    if config.get("capture") == "full" and user.get("capture") != "full":
        config.pop("capture")
        ignored.append("capture")
    if config.get("enabled") is False and user.get("enabled") is True:
        config.pop("enabled")
        ignored.append("enabled")
    return ignored


def _nearest(cwd: str) -> tuple[str, str] | None:
    folder = os.path.abspath(cwd)
    while True:
        path = os.path.join(folder, CONFIG_FILE)
        text = _read(path)
        if text is not None:
            return path, text
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def _read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read(_MOST_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise OrangeboxError("CONFIG", f"the configuration cannot be read ({type(error).__name__})", path, "Correct the file or remove it") from error


def _parse(text: str, path: str) -> dict[str, object]:
    try:
        config = json.loads(text)
    except ValueError as error:
        where = f"line {getattr(error, 'lineno', '?')}, column {getattr(error, 'colno', '?')}"
        # Not what stands there: it may be a file of secrets that was named by mistake.
        raise OrangeboxError("CONFIG", f"the configuration is not valid JSON: {where}", path, "Correct the file or remove it") from None
    if not isinstance(config, dict):
        raise OrangeboxError("CONFIG", "the configuration is no object", path, "Correct the file or remove it")
    rules = _redaction(config)
    unread = [name for name in _RULES_NOT_READ if rules.get(name)]
    if unread:
        raise OrangeboxError(
            "REDACTION_RULES",
            f"redaction rules of a user ({', '.join(unread)}) are not interpreted by the Python recorder",
            path,
            "Record this agent through the proxy, which does: orangebox run -- python agent.py",
        )
    return {name: value for name, value in config.items() if name not in _OTHERS}


def _is_trusted(list_path: str, path: str, text: str) -> bool:
    try:
        found = os.lstat(list_path)
        if hasattr(os, "geteuid") and (not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022):
            return False
        with open(list_path, encoding="utf-8") as file:
            trusted = json.load(file).get("trusted", [])
        place, digest = os.path.realpath(path), hashlib.sha256(text.encode()).hexdigest()
        return any(entry.get("path") == place and entry.get("sha256") == digest for entry in trusted)
    except (OSError, ValueError, AttributeError):
        return False

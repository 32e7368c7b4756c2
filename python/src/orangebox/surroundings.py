"""Where this process runs, from CI variables first and from the git work tree otherwise. Starts no process."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

_COMMIT = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")
_CI_REPO = ("GITHUB_REPOSITORY", "CI_PROJECT_PATH", "BITBUCKET_REPO_FULL_NAME", "BUILD_REPOSITORY_NAME")
_CI_BRANCH = (
    "GITHUB_HEAD_REF",
    "GITHUB_REF_NAME",
    "CI_COMMIT_REF_NAME",
    "BITBUCKET_BRANCH",
    "BUILDKITE_BRANCH",
    "CIRCLE_BRANCH",
    "BUILD_SOURCEBRANCHNAME",
)
_BUILD_COMMIT = (
    "GITHUB_SHA",
    "CI_COMMIT_SHA",
    "BITBUCKET_COMMIT",
    "BUILDKITE_COMMIT",
    "CIRCLE_SHA1",
    "BUILD_SOURCEVERSION",
    "GIT_COMMIT",
    "SOURCE_VERSION",
)
_MOST_BYTES = 64 * 2**20
_MOST_SYMBOLIC = 5


def read_surroundings(cwd: str, env: Mapping[str, str] = os.environ) -> dict[str, str]:
    """`environment`, and `repo`, `branch` and `commit` where they are known."""
    git = _read_git(cwd)
    found = {
        "environment": _environment(env),
        "repo": _first_of(env, _CI_REPO) or git.get("repo"),
        "branch": _first_of(env, _CI_BRANCH) or git.get("branch"),
        # What is checked out is what runs; a variable tells where the repository was left behind, as in an image.
        "commit": git.get("commit") or _first_of(env, _BUILD_COMMIT),
    }
    if found["commit"] is not None and _COMMIT.match(found["commit"]) is None:
        found["commit"] = None
    return {name: value for name, value in found.items() if value is not None}


def _first_of(env: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    return next((env[name] for name in names if env.get(name)), None)


def _environment(env: Mapping[str, str]) -> str:
    if env.get("CI", "") not in ("", "0", "false"):
        return "ci"
    # The word of Node is heard here too: one machine is one environment, whatever its processes are written in.
    return {"production": "prod", "staging": "staging"}.get(env.get("NODE_ENV", ""), "local")


def _read_git(cwd: str) -> dict[str, str]:
    folder = os.path.abspath(cwd)
    while True:
        git_folder = _git_folder_of(folder)
        if git_folder is not None:
            return _read_git_folder(git_folder)
        parent = os.path.dirname(folder)
        if parent == folder:
            return {}
        folder = parent


def _git_folder_of(folder: str) -> str | None:
    path = os.path.join(folder, ".git")
    if _read_text(os.path.join(path, "HEAD")) is not None:
        return path
    # In a linked work tree .git is a file that names the real folder.
    pointer = re.search(r"^gitdir: (.+)$", _read_text(path) or "", re.M)
    return os.path.abspath(os.path.join(folder, pointer[1].strip())) if pointer else None


def _read_git_folder(git_folder: str) -> dict[str, str]:
    head = (_read_text(os.path.join(git_folder, "HEAD")) or "").strip()
    branch = re.match(r"ref: refs/heads/(.+)\Z", head)
    pointer = (_read_text(os.path.join(git_folder, "commondir")) or "").strip()
    common = os.path.abspath(os.path.join(git_folder, pointer)) if pointer else git_folder
    config = _read_text(os.path.join(common, "config")) or ""
    url = re.search(r'\[remote "origin"\][^[]*?\n\s*url\s*=\s*(\S+)', config)
    facts = {
        "branch": branch[1] if branch else None,
        "repo": _repo_name(url[1]) if url else None,
        "commit": _commit_of(head, (git_folder, common)),
    }
    return {name: value for name, value in facts.items() if value}


def _commit_of(ref: str, folders: tuple[str, str], depth: int = 0) -> str | None:
    named = re.match(r"ref: (refs/.+)\Z", ref)
    if named is None:
        return ref if _COMMIT.match(ref) else None
    name = named[1]
    if depth > _MOST_SYMBOLIC or ".." in name.split("/"):
        return None
    for folder in folders:
        found = _read_text(os.path.join(folder, name))
        if found is not None:
            return _commit_of(found.strip(), folders, depth + 1)
    for line in (_read_text(os.path.join(folders[1], "packed-refs")) or "").split("\n"):
        if line.endswith(f" {name}"):
            return _commit_of(line[: line.index(" ")], folders, depth + 1)
    return None


def _repo_name(url: str) -> str | None:
    """`host/owner/name` without credentials: people keep tokens in their remote URLs."""
    match = re.match(r"(?:[a-z+]+://)?(?:[^@/]*@)?([^:/]+)(?::\d+)?[:/](.+?)(?:\.git)?/?\Z", url, re.I)
    return f"{match[1]}/{match[2]}"[:512] if match else None


def _read_text(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_MOST_BYTES)
    except OSError:
        return None

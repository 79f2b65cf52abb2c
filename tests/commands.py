"""Commands of `misled`, each in a child of a process that has imported everything already.

    misled("estimate plan.toml", tmp_path) -> CompletedProcess with returncode, stdout, stderr

Most of a small run is importing. A child is a process with its own directory, environment and
outputs; all children share one seed of `hash`, and only `fresh` starts an interpreter.
"""

from __future__ import annotations

import atexit
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

__all__ = ["Running", "fresh", "misled", "started"]

_SECONDS = 120
_APART = {"misled.__main__", "misled.engines.embedded"}  # these are programs


def fresh(
    words: str | Sequence[object], cwd: Path, **options: Any
) -> subprocess.CompletedProcess[str]:
    """How a command ends in an interpreter of its own."""
    return subprocess.run(
        [sys.executable, "-m", "misled", *_words(words)],
        capture_output=True,
        text=True,
        check=False,
        timeout=_SECONDS,
        cwd=cwd,
        **options,
    )


class Running:
    """A command under way; one at a time. It hears signals as any process does."""

    returncode: int | None = None

    def __init__(self, words: Sequence[str], cwd: Path, env: dict[str, str], feed: bytes) -> None:
        self.words = list(words)
        self._files = [tempfile.TemporaryFile() for _ in range(3)]  # noqa: SIM115 (closed at its end)
        self._files[0].write(feed)
        self._files[0].seek(0)
        asked = {"words": self.words, "cwd": str(cwd), "env": env}
        numbers = [file.fileno() for file in self._files]
        socket.send_fds(_server(), [json.dumps(asked).encode()], numbers)
        self.pid = int(_server().recv(64))

    def send_signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            if self.poll() is None:
                os.kill(self.pid, number)

    def poll(self, seconds: float = 0) -> int | None:
        """The exit code once it has ended, for which it may take so long."""
        if self.returncode is None and select.select([_server()], [], [], seconds)[0]:
            self.returncode = int(_server().recv(64))
        return self.returncode

    def ended(self, seconds: float = _SECONDS) -> subprocess.CompletedProcess[str]:
        """How it ended."""
        code = self.poll(seconds)
        if code is None:
            raise subprocess.TimeoutExpired(self.words, seconds)
        said = []
        for file in self._files:
            file.seek(0)
            said.append(file.read())
            file.close()
        out, err = (text.decode() for text in said[1:])
        return subprocess.CompletedProcess(self.words, code, out, err)


def started(words: str | Sequence[object], cwd: Path) -> Running:
    """A command, not waited for."""
    return Running(_words(words), cwd, dict(os.environ), b"")


def misled(
    words: str | Sequence[object],
    cwd: Path,
    *,
    env: dict[str, str] | None = None,
    feed: str | bytes = "",
) -> subprocess.CompletedProcess[str]:
    """How a command ends that reads `feed`."""
    given = feed.encode() if isinstance(feed, str) else feed
    return Running(_words(words), cwd, dict(env or os.environ), given).ended()


def _words(words: str | Sequence[object]) -> list[str]:
    return words.split() if isinstance(words, str) else [str(word) for word in words]


# --- the process that forks --------------------------------------------------------------------


@cache
def _server() -> socket.socket:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        place = str(theirs.fileno())
        process = subprocess.Popen(
            [sys.executable, "-P", __file__, place], pass_fds=[theirs.fileno()]
        )

    def close() -> None:
        ours.close()
        process.wait()

    atexit.register(close)
    return ours


def _serve(place: int) -> None:
    """Forks for every message, until there are no more."""
    package = importlib.import_module("misled")
    for module in pkgutil.walk_packages(package.__path__, "misled."):
        if module.name not in _APART:
            importlib.import_module(module.name)
    report = importlib.import_module("misled.report")
    for study in ("cpt", "judge"):  # compiles their templates
        report.html(report.ReportInput(entries=(), plan_toml="", study=study))
    importlib.import_module("matplotlib.mathtext").MathTextParser("path").parse("$x$")
    warnings.filterwarnings("ignore", ".*multi-threaded.*", DeprecationWarning)  # of fork
    with socket.socket(fileno=place) as clients:
        while True:
            message, files, _, _ = socket.recv_fds(clients, 1 << 20, 3)
            if not message:
                return
            pid = os.fork()
            if pid == 0:
                _become(json.loads(message), files)
            for file in files:
                os.close(file)
            clients.send(str(pid).encode())
            _, status = os.waitpid(pid, 0)
            clients.send(str(os.waitstatus_to_exitcode(status)).encode())


def _become(asked: dict[str, Any], files: list[int]) -> NoReturn:
    """Be that command, to the end of the process."""
    code = 70
    try:
        signal.alarm(_SECONDS)
        for number, file in enumerate(files):
            os.dup2(file, number)
        os.chdir(asked["cwd"])
        os.environ.clear()
        os.environ.update(asked["env"])
        sys.argv = ["misled", *asked["words"]]
        importlib.import_module("misled.cli").main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException as error:  # noqa: BLE001 - nothing may return into the loop
        print(f"{type(error).__name__}: {error}", file=sys.stderr)  # noqa: T201
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    _serve(int(sys.argv[1]))

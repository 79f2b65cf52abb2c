r"""Whether two formulas are equal, asked of `math-verify` in a process that may die.

    with Checker() as equal:
        equal(r"\frac{\sqrt{3}}{3}", r"1/\sqrt{3}")   # "equal"

An algebra system can hang on an expression, or fill the memory. So it lives in one
child process, a new interpreter (no fork), which is asked one pair after another. A
pair may spend a number of calls, counted and not timed, so that the outcome depends
neither on the machine nor on its load; seconds of CPU, memory and, last, the clock
bound what no count can see, and then the child is replaced. A decision is kept by
its pair. Does not know which of two formulas is the gold one.
"""

from __future__ import annotations

import json
import os
import resource
import select
import subprocess
import sys
import threading
from types import FrameType, TracebackType
from typing import Literal, Self, TypeAlias, get_args

__all__ = ["Checker", "Equality", "serve"]

Equality: TypeAlias = Literal["equal", "different", "unparsed", "timeout", "memory", "crash"]

CALLS = 4_000_000  # of Python functions a pair: a hard one of the public sets needs 600,000
CPU = 10  # seconds a pair
WALL = 60.0  # seconds a pair, on a machine that has other things to do
START = 60.0  # seconds that the import may take
MEMORY = 1 << 30  # bytes of address space
LONGEST = 2000  # code points of a formula


class Checker:
    """One child, started when it is first asked, and replaced when it dies."""

    def __init__(self, *, calls: int = CALLS, cpu: int = CPU, wall: float = WALL) -> None:
        self._limits = (calls, cpu)
        self._wall = wall
        self._child: subprocess.Popen[bytes] | None = None
        self._owner = os.getpid()
        self._one_by_one = threading.Lock()
        self._known: dict[tuple[str, str], Equality] = {}

    def __call__(self, one: str, other: str) -> Equality:
        """Whether two formulas are equal, or why that is not known; the same pair, the same."""
        pair = (one, other)
        if pair not in self._known:
            with self._one_by_one:
                self._known[pair] = self._asked(pair)
        return self._known[pair]

    def close(self) -> None:
        """Ends the child."""
        child, self._child = self._child, None
        if child is None:
            return
        child.kill()
        child.wait()
        for pipe in (child.stdin, child.stdout):
            if pipe:
                pipe.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def _asked(self, pair: tuple[str, str]) -> Equality:
        if max(map(len, pair)) > LONGEST:
            return "unparsed"
        line = json.dumps(pair).encode() + b"\n"
        if self._owner != os.getpid():  # forked: the child answers another process
            self._child, self._owner = None, os.getpid()
        for _ in range(2):  # a child that was killed between two pairs is no fault of this pair
            started = self._child is None
            child = self._child or self._start()
            if not started or self._line(child, START) == "ready":
                try:
                    os.write(child.stdin.fileno(), line)  # type: ignore[union-attr] # a pipe
                except BrokenPipeError:
                    self.close()
                    continue
                said = self._line(child, self._wall)
                if said in get_args(Equality):
                    return said  # type: ignore[return-value] # one of the six words
                code = self._ended(said)
                if code == "killed":
                    continue
                return code
            self.close()
        return "crash"

    def _ended(self, said: str) -> Equality | Literal["killed"]:
        """Why the child gave no answer; it is dead afterwards."""
        child = self._child
        code = child.wait() if child and said != "slow" else None
        self.close()
        if code is None or code == -24:  # SIGXCPU
            return "timeout"
        return "killed" if code in (-9, -15) else "crash"

    def _start(self) -> subprocess.Popen[bytes]:
        calls, cpu = self._limits
        self._child = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [sys.executable, "-I", __file__, str(calls), str(cpu)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONHASHSEED": "0"},
            bufsize=0,
        )
        return self._child

    def _line(self, child: subprocess.Popen[bytes], seconds: float) -> str:
        """One line of the child, "" if it is dead, `slow` if it is none in time."""
        pipe = child.stdout
        if pipe is None or not select.select([pipe], [], [], seconds)[0]:
            return "slow"
        return pipe.readline().decode().strip()


class _Spent(BaseException):
    """The calls of a pair are spent."""


def serve(calls: int, cpu: int) -> None:
    """Answers pairs from standard input, a JSON array a line, until it ends."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    out, null = os.fdopen(os.dup(1), "w"), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)  # what a library prints is no answer
    from math_verify import LatexExtractionConfig, parse, verify  # noqa: PLC0415 - a second
    from sympy.core.cache import clear_cache  # noqa: PLC0415 - in the child alone

    def formula(text: str) -> list[object]:
        config = (LatexExtractionConfig(),)
        found = parse(f"${text}$", config, fallback_mode="no_fallback", parsing_timeout=None)
        return [each for each in found if not isinstance(each, str)]

    def compared(one: str, other: str) -> Equality:
        first, second = formula(one), formula(other)
        if not (first and second):
            return "unparsed"
        same = verify(first, second, float_rounding=10, timeout_seconds=None)
        return "equal" if same else "different"

    compared("1", "2")
    print("ready", file=out, flush=True)
    for line in sys.stdin:
        one, other = json.loads(line)
        clear_cache()
        used = resource.getrusage(resource.RUSAGE_SELF)
        soft = int(used.ru_utime + used.ru_stime) + cpu + 1
        resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.RLIM_INFINITY))
        print(_bounded(compared, one, other, calls), file=out, flush=True)


def _bounded(compared: object, one: str, other: str, calls: int) -> Equality:
    """What `compared` says within a number of calls."""
    left = calls

    def count(frame: FrameType, event: str, arg: object) -> None:
        nonlocal left
        del frame, arg
        left -= event == "call"
        if left < 0:
            raise _Spent

    sys.setprofile(count)
    try:
        return compared(one, other)  # type: ignore[operator,no-any-return]
    except _Spent:
        return "timeout"
    except (MemoryError, OverflowError):
        return "memory"
    except RecursionError:
        return "unparsed"
    finally:
        sys.setprofile(None)


if __name__ == "__main__":
    serve(int(sys.argv[1]), int(sys.argv[2]))

"""The code blocks of the documentation, carried out in order, and what they are said to print.

    python docs/make/blocks.py docs/index.md            says what differs, exits 1
    python docs/make/blocks.py --write docs/index.md    puts what was printed in its place

A page's blocks share one empty directory. A `sh` or `python` block is carried out; a `text` or
`json` block that follows it at once is what it prints, in which a line `...` stands for any
lines. Other blocks with a title are files of that name. A `sh` block with a title says why it
is not carried out; where that is "needs a key", its runs are rehearsed with `--dry-run`.

Of a shell it knows what the pages need: commands of `misled`, and `echo` into one of them. Each
runs in a child that has everything imported already, since most of a small run is importing.
"""

from __future__ import annotations

import importlib
import os
import re
import shlex
import signal
import sys
import tempfile
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from misled.cli import main as command_line
from misled.parts import PARTS
from misled.report import ReportInput, html

for heavy in ("misled.publishing", "misled.rehearsal", "misled.estimates", "misled.embedding"):
    importlib.import_module(heavy)
for study in PARTS:  # compiles their templates
    html(ReportInput(entries=(), plan_toml="", study=study))

_FENCE = re.compile(r'^```(\w+)(?: title="([^"]*)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)
_RUNS = ("cpt", "judge", "run", "report")
_SECONDS = 120


class Block(NamedTuple):
    """A fenced block: its language, its title, its text, and where that stands in the page."""

    language: str
    title: str
    text: str
    start: int
    end: int


class Ran(NamedTuple):
    """What a block printed, and the block that says what it prints, if there is one."""

    block: Block
    printed: str
    code: int
    said: Block | None


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page in Markdown."""
    return [
        Block(found[1], found[2] or "", found[3], found.start(3), found.end(3))
        for found in _FENCE.finditer(page)
    ]


def carried_out(page: str) -> Iterator[Ran]:
    """Carries out a page's blocks, one by one, in a directory of their own."""
    found = blocks(page)
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch)
        for block, after in zip_longest(found, found[1:]):
            if block.language in ("sh", "python"):
                printed = _run(block, directory)
                if printed is not None:
                    said = after if after is not None and _follows(page, block, after) else None
                    yield Ran(block, *printed, said)
            elif block.title:
                (directory / block.title).write_text(block.text, encoding="utf-8")


def _follows(page: str, block: Block, after: Block) -> bool:
    between = page[block.end : after.start]
    return (
        after.language in ("text", "json") and re.fullmatch(r"```\s*```.*\s*", between) is not None
    )


def _run(block: Block, directory: Path) -> tuple[str, int] | None:
    """What a block prints, with its exit code; None where it is left alone."""
    dry = block.title.startswith("needs a key")
    if block.title and not dry:
        return None
    if block.language == "python":
        return _child(directory, ["python", block.text], "")
    printed = ""
    for line in block.text.replace("\\\n", " ").splitlines():
        words, given = shlex.split(line, comments=True), ""
        if words[:1] == ["echo"]:
            pipe = words.index("|")
            words, given = words[pipe + 1 :], " ".join(words[1:pipe]) + "\n"
        if dry and (words[:1] != ["misled"] or words[1] not in _RUNS):
            continue
        if words[:1] != ["misled"]:
            raise ValueError(f"no command of misled, and no title that says why not: {line}")
        if words[1] in _RUNS:
            words += ["--dry-run"] if dry else ["--figures", "none"]
        more, code = _child(directory, words, given)
        printed += more
        if code:
            return printed, code
    return printed, 0


def _child(directory: Path, words: list[str], given: str) -> tuple[str, int]:
    """What a command, or a text of Python, prints on both outputs, and its exit code."""
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as sink:
        source.write(given.encode())
        source.seek(0)
        pid = os.fork()
        if pid == 0:
            _become(directory, words, (source.fileno(), sink.fileno(), sink.fileno()))
        _, status = os.waitpid(pid, 0)
        sink.seek(0)
        return sink.read().decode(), os.waitstatus_to_exitcode(status)


def _become(directory: Path, words: list[str], files: tuple[int, int, int]) -> None:
    """Be that command, to the end of the process."""
    code = 70
    try:
        signal.alarm(_SECONDS)
        for number, file in enumerate(files):
            os.dup2(file, number)
        sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
        os.chdir(directory)
        os.environ |= {"COLUMNS": "100", "MISLED_CONFIG": str(directory)}
        sys.argv = words
        if words[0] == "misled":
            command_line()
        else:
            exec(words[1], {"__name__": "__main__"})
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException as error:  # noqa: BLE001 - nothing may return into the parent's code
        print(f"{type(error).__name__}: {error}")
    finally:
        sys.stdout.flush()
        os._exit(code)


def agrees(printed: str, said: str) -> bool:
    """Whether what was printed is what a page says; its lines `...` stand for any lines."""
    parts = [re.escape(part) for part in re.split(r"^\.\.\.\n", _plain(said), flags=re.MULTILINE)]
    return re.fullmatch("(?:.*\n)*?".join(parts), _plain(printed)) is not None


def _plain(text: str) -> str:
    return "".join(line.rstrip() + "\n" for line in text.splitlines())


def rewritten(page: str) -> str:
    """The page with what its blocks print, where a page does not leave lines out."""
    for ran in reversed(list(carried_out(page))):
        if ran.said is not None and "...\n" not in ran.said.text:
            page = page[: ran.said.start] + _plain(ran.printed) + page[ran.said.end :]
    return page


def faults(page: str) -> list[str]:
    """What is wrong with a page's blocks, each in a few lines."""
    found = []
    for ran in carried_out(page):
        first = ran.block.text.strip().splitlines()[0]
        if ran.code:
            found.append(f"{first}: exit {ran.code}\n{ran.printed}")
        elif ran.said is not None and not agrees(ran.printed, ran.said.text):
            found.append(f"{first}: it prints\n{ran.printed}\nnot\n{ran.said.text}")
    return found


def main() -> int:
    """Check pages, or write what their blocks print into them."""
    names = [name for name in sys.argv[1:] if name != "--write"]
    wrong = 0
    for name in names:
        page = Path(name).read_text("utf-8")
        if "--write" in sys.argv[1:]:
            Path(name).write_text(rewritten(page), encoding="utf-8")
            continue
        for fault in faults(page):
            wrong += 1
            print(f"{name}: {fault}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

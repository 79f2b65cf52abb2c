"""The code blocks of the documentation, carried out in order, and what they are said to print.

    python docs/make/blocks.py docs/index.md            says what differs, exits 1
    python docs/make/blocks.py --write docs/index.md    puts what was printed in its place

A page's blocks share one empty directory. A `sh` or `python` block is carried out; a `text` or
`json` block that follows it at once is what it prints, in which a line `...` stands for any
lines. Other blocks with a title are files of that name. A `sh` block with a title says why it
is not carried out; where that is "needs a key", its runs are rehearsed with `--dry-run`.

Knows nothing about what a command means.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_FENCE = re.compile(r'^```(\w+)(?: title="([^"]*)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)
_ENTRY = "import sys; from misled.cli import main; sys.argv[0] = 'misled'; main()"
# What a run costs is the drawing: no page shows the files.
_SHIM = """misled() {{
  case "$1" in cpt|judge|run|report) set -- "$@" {more} ;; esac
  {python} -c {entry!r} "$@"
}}
"""
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
        for block, after in zip(found, [*found[1:], None], strict=True):
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
    command = [sys.executable, "-c", block.text]
    if block.language == "sh":
        text = _dry(block.text) if dry else block.text
        if not text:
            return None
        more = "--figures none" + (" --dry-run" if dry else "")
        shim = _SHIM.format(more=more, python=sys.executable, entry=_ENTRY)
        command = ["bash", "-c", f"set -e -o pipefail\n{shim}{text}"]
    done = subprocess.run(
        command,
        cwd=directory,
        env=os.environ
        | {"COLUMNS": "100", "MISLED_CONFIG": str(directory), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        timeout=_SECONDS,
        text=True,
    )
    return done.stdout, done.returncode


def _dry(text: str) -> str:
    """The commands of a block that can be rehearsed, without their keys."""
    whole = text.replace("\\\n", " ").splitlines()
    return "\n".join(each for each in whole if re.match(r"misled (cpt|judge|run)\b", each))


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

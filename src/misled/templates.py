r"""Texts with holes, from the bundled file or the user's own, filled once.

    >>> fill("{question}\n\nThink of {this}.", question="What is {x}?")
    'What is {x}?\n\nThink of {this}.'

A text that is put in is never read as a template: it may hold any brace. Knows
nothing about what the words are for.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from misled.errors import UserError, nearest

__all__ = ["check_holes", "fill", "parts", "words"]

_HOLE = re.compile(r"\{([a-z]+)\}")


def fill(template: str, **texts: str) -> str:
    """`template` with each of its holes that `texts` names filled; other braces are text."""
    return _HOLE.sub(lambda found: texts.get(found[1], found[0]), template)


def parts(template: str, names: Collection[str]) -> list[str]:
    """The texts of `template` and between them the names of its holes, in turn."""
    return re.split(rf"\{{({'|'.join(names)})\}}", template)


def words(table: str, path: str | None = None) -> dict[str, str]:
    """The bundled texts of a table, with those of the user's TOML file in their place.

    Raises:
        UserError: the file cannot be read, or has an unknown table or key, or no text for one.
    """
    bundled = tomllib.loads((files("misled") / "data" / "prompts.toml").read_text("utf-8"))
    found: dict[str, str] = bundled[table]
    if path is None:
        return found
    for name, own in _read(path).items():
        if not isinstance(own, dict):
            raise UserError(f"{path}: {name} stands in no table; write [{table}] above it")
        if name not in bundled:
            raise UserError(f"{path}: {nearest('table', name, bundled)}")
        for key, text in own.items():
            if key not in bundled[name]:
                raise UserError(f"{path}: {nearest('key', key, bundled[name])}")
            if not isinstance(text, str) or not text.strip():
                raise UserError(f"{path}: {key} has to be a text with at least one word")
        if name == table:
            found = found | own
    return found


def check_holes(path: str, texts: Mapping[str, str], wanted: Mapping[str, tuple[str, ...]]) -> None:
    """UserError where a text lacks one of its `wanted` holes, or has one twice."""
    every = {name for names in wanted.values() for name in names}
    for key, names in wanted.items():
        found = [name for name in _HOLE.findall(texts[key]) if name in every]
        if sorted(found) != sorted(names):
            holes = ", ".join(f"{{{name}}}" for name in names)
            each = ", each" if len(names) > 1 else ""
            raise UserError(f"{path}: {key} has to hold {holes}{each} exactly once")


def _read(path: str) -> dict[str, Any]:
    try:
        return tomllib.loads(Path(path).read_text("utf-8"))
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:
        raise UserError(f"{path} is no TOML: {error}") from None

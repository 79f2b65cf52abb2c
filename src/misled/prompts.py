r"""Every word sent to a model, from `data/prompts.toml` or the user's own file.

    >>> condition = {"method": "baseline", "attribution": "own"}
    >>> messages, _ = probe(load(None), question="What is 2 + 3?", chain="So 5.", **condition)
    >>> messages[0].content
    'What is 2 + 3?\n\nBelow is your previous thought.\n\nSo 5.'

`recognise` and `question_of` read such messages back, from their wording alone.
Texts are inserted once and never read as templates: a chain may hold any brace.

Knows nothing about models, nor which of them can continue a prefix.
"""

from __future__ import annotations

import re
import tomllib
from functools import cached_property, lru_cache
from hashlib import blake2b
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any

import msgspec

from misled.errors import UserError, nearest
from misled.records import Message, Prefill, Record

__all__ = [
    "ATTRIBUTIONS",
    "METHODS",
    "Prompts",
    "Recognised",
    "load",
    "prefill",
    "probe",
    "question_of",
    "recognise",
    "solve",
]

METHODS = ("baseline", "uncertainty", "contradiction", "prefix")
ATTRIBUTIONS = ("own", "other")
FILTERS = ("baseline", "uncertainty", "contradiction")  # `prefix` uses the last [A §3.4]

_PLACEHOLDERS = {
    "solve": ("question",),
    "probe": ("question", "filter", "chain"),
    **dict.fromkeys(FILTERS, ("thought",)),
}
_PLACEHOLDER = re.compile(r"\{(question|filter|chain|thought)\}")


class Prompts(Record, frozen=True, dict=True):
    """The words of study A; the keys are explained in `data/prompts.toml`."""

    solve: str
    probe: str
    baseline: str
    uncertainty: str
    contradiction: str
    own: str
    other: str
    prefix: str

    @cached_property
    def hash(self) -> str:
        """`b2:` and 32 hexadecimal digits: equal words, equal hash."""
        body = msgspec.json.encode({"cpt": self}, order="sorted")
        return "b2:" + blake2b(body, digest_size=16).hexdigest()


class Recognised(Record, frozen=True):
    """What a probe's user message says; `filter` is one of `FILTERS`."""

    question: str
    filter: str
    attribution: str
    chain: str


def solve(prompts: Prompts, question: str) -> tuple[Message, ...]:
    """The question alone."""
    return (Message("user", _fill(prompts.solve, question=question)),)


def probe(
    prompts: Prompts, *, method: str, question: str, chain: str, attribution: str
) -> tuple[tuple[Message, ...], Prefill | None]:
    """Question, filter and chain in one user message, and the output prefix of method 3 [A §3.4].

    Raises:
        UserError: an unknown method or attribution.
    """
    if method not in METHODS:
        raise UserError(nearest("method", method, METHODS))
    if attribution not in ATTRIBUTIONS:
        raise UserError(nearest("attribution", attribution, ATTRIBUTIONS))
    name = "contradiction" if method == "prefix" else method
    text = _fill(
        prompts.probe, question=question, filter=_filter(prompts, name, attribution), chain=chain
    )
    return (Message("user", text),), prefill(prompts) if method == "prefix" else None


def prefill(prompts: Prompts) -> Prefill:
    """The beginning of the reply that commits the model to computing again."""
    return Prefill("content", prompts.prefix)


def recognise(prompts: Prompts, text: str) -> Recognised | None:
    """What `probe` put into `text`, or None where no filter of `prompts` stands in its place."""
    pattern, names, tail = _reader(prompts)
    # Without a look at the tail first, a long text of filters would be searched quadratically.
    if not text.endswith(tail) or (found := pattern.fullmatch(text)) is None:
        return None
    name, attribution = names[found["filter"]]
    return Recognised(found["question"], name, attribution, found["chain"])


def question_of(prompts: Prompts, text: str) -> str | None:
    """What `solve` put into `text`, or None where its words do not stand round it."""
    head, _, tail = _PLACEHOLDER.split(prompts.solve)
    if len(text) < len(head) + len(tail) or not (text.startswith(head) and text.endswith(tail)):
        return None
    return text[len(head) : len(text) - len(tail)]


def _filter(prompts: Prompts, name: str, attribution: str) -> str:
    return _fill(getattr(prompts, name), thought=getattr(prompts, attribution))


def _fill(template: str, **texts: str) -> str:
    """`template` with each of its own placeholders replaced; other braces are text."""
    return _PLACEHOLDER.sub(lambda found: texts.get(found[1], found[0]), template)


@lru_cache(maxsize=16)
def _reader(prompts: Prompts) -> tuple[re.Pattern[str], dict[str, tuple[str, str]], str]:
    """A pattern that reads a probe back, the name of each filter text, and the probe's tail."""
    names = {
        _filter(prompts, name, attribution): (name, attribution)
        for name, attribution in product(FILTERS, ATTRIBUTIONS)
    }
    # A filter may begin with another one, so that the longest has to be tried first.
    either = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    holes = {
        "question": "(?P<question>.*?)",
        "filter": f"(?P<filter>{either})",
        "chain": "(?P<chain>.*)",
    }
    parts = _PLACEHOLDER.split(prompts.probe)
    pattern = "".join(holes[part] if i % 2 else re.escape(part) for i, part in enumerate(parts))
    return re.compile(pattern, re.DOTALL), names, parts[-1]


# --- loading ---------------------------------------------------------------------------------


def load(path: str | None) -> Prompts:
    """The bundled words, with those of the user's TOML file in their place.

    Raises:
        UserError: the file cannot be read, has an unknown key, or its words
            would spoil the experiment (see `_check`).
    """
    words = tomllib.loads((files("misled") / "data" / "prompts.toml").read_text("utf-8"))["cpt"]
    if path is None:
        return Prompts(**words)
    for table, own in _read(path).items():
        if not isinstance(own, dict):
            raise UserError(f"{path}: {table} stands in no table; write [cpt] above it")
        if table != "cpt":
            raise UserError(f"{path}: {nearest('table', table, ['cpt'])}")
        for key, text in own.items():
            if key not in words:
                raise UserError(f"{path}: {nearest('key', key, words)}")
            if not isinstance(text, str) or not text.strip():
                raise UserError(f"{path}: {key} has to be a text with at least one word")
        words |= own
    prompts = Prompts(**words)
    _check(path, prompts)
    return prompts


def _check(path: str, prompts: Prompts) -> None:
    """Refuse words that lose a text or make two conditions one."""
    for key, wanted in _PLACEHOLDERS.items():
        found = _PLACEHOLDER.findall(getattr(prompts, key))
        if sorted(found) != sorted(wanted):
            holes = ", ".join(f"{{{name}}}" for name in wanted)
            raise UserError(f"{path}: {key} has to hold {holes}, each exactly once")
    if any(character.isdigit() for character in prompts.prefix):
        raise UserError(f"{path}: prefix holds a digit, which would be graded as the model's own")
    if prompts.prefix != prompts.prefix.rstrip():
        raise UserError(f"{path}: prefix ends in white space, which some servers refuse")
    texts: dict[str, str] = {}
    for name, attribution in product(FILTERS, ATTRIBUTIONS):
        cell = f"{name} ({attribution})"
        twin = texts.setdefault(_filter(prompts, name, attribution), cell)
        if twin != cell:
            raise UserError(f"{path}: {twin} and {cell} have the same filter")


def _read(path: str) -> dict[str, Any]:
    try:
        return tomllib.loads(Path(path).read_text("utf-8"))
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:
        raise UserError(f"{path} is no TOML: {error}") from None

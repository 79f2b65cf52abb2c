r"""Every word sent to a model, from `data/prompts.toml` or the user's own file.

    >>> messages, _ = probe(load(None), Way(), question="What is 2 + 3?", chain="So 5.")
    >>> messages[0].content
    'What is 2 + 3?\n\nBelow is your previous thought.\n\nSo 5.'

`read` reads such messages back, from their wording alone. Texts are inserted
once and never read as templates: a chain may hold any brace.

Knows nothing about models, nor which of them can continue a prefix.
"""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from hashlib import blake2b
from itertools import product

import msgspec
from msgspec.structs import asdict

from misled.errors import UserError, nearest
from misled.records import Message, Prefill, Record
from misled.templates import check_holes, fill, parts, words

__all__ = [
    "ATTRIBUTIONS",
    "CHANNELS",
    "METHODS",
    "Prompts",
    "Read",
    "Way",
    "bare",
    "load",
    "prefill",
    "probe",
    "read",
    "replay",
    "solve",
]

METHODS = ("baseline", "uncertainty", "contradiction", "prefix")
ATTRIBUTIONS = ("own", "other")
CHANNELS = ("user", "assistant", "think", "think_closed")
# `prefix` is `contradiction` and a beginning of the reply [A §3.4]; its control says that
# beginning in the user's message (protocol A.4).
AS_TEXT = "prefix_as_text"
FILTERS = ("baseline", "uncertainty", "contradiction", AS_TEXT)

_HOLES: dict[str, tuple[str, ...]] = {
    "solve": ("question",),
    "probe": ("question", "filter", "chain"),
    "bare": ("value",),
    "replay_question": ("question", "chain"),
    **dict.fromkeys(FILTERS[:-1], ("thought",)),
}


class Prompts(Record, frozen=True, dict=True):
    """The words of study A; the keys are explained in `data/prompts.toml`."""

    solve: str
    probe: str
    baseline: str
    uncertainty: str
    contradiction: str
    below: str
    above: str
    own: str
    other: str
    prefix: str
    bare: str
    replay_question: str

    @cached_property
    def hash(self) -> str:
        """`b2:` and 32 hexadecimal digits: equal words, equal hash."""
        body = msgspec.json.encode({"cpt": self}, order="sorted")
        return "b2:" + blake2b(body, digest_size=16).hexdigest()


class Way(Record, frozen=True):
    """How a chain is handed over: what is said of it, whose it is, and where it stands.

    `channel`: user (question, filter and chain in one message [A]), assistant (the
    chain as the model's own turn, then the filter), think or think_closed (the
    model's own thinking, with no place for a filter).
    """

    method: str = "baseline"
    attribution: str = "own"
    channel: str = "user"

    @property
    def impossible(self) -> str | None:
        """Why there is no such way, or None where there is one."""
        if self.channel.startswith("think") and self.method != "baseline":
            return f"the channel {self.channel} has no place for the words of {self.method}"
        return None


class Read(Record, frozen=True):
    """What messages say: a question, and of a probe its way and chain."""

    question: str
    way: Way | None = None
    chain: str | None = None


def solve(prompts: Prompts, question: str) -> tuple[Message, ...]:
    """The question alone."""
    return (Message("user", fill(prompts.solve, question=question)),)


def probe(
    prompts: Prompts, way: Way, *, question: str, chain: str
) -> tuple[tuple[Message, ...], Prefill | None]:
    """Question, filter and chain as `way` says, and the output prefix of method 3 [A §3.4].

    Raises:
        UserError: an unknown method, attribution or channel, or a way that there is not.
    """
    _check_way(way)
    if way.channel.startswith("think"):
        thought = Prefill("thinking", chain, closed=way.channel == "think_closed")
        return solve(prompts, question), thought
    opening = prefill(prompts) if way.method == "prefix" else None
    name = "contradiction" if way.method == "prefix" else way.method
    said = _filter(prompts, name, way.attribution, way.channel)
    if way.channel == "assistant":
        turns = (*solve(prompts, question), Message("assistant", chain), Message("user", said))
        return turns, opening
    text = fill(prompts.probe, question=question, filter=said, chain=chain)
    return (Message("user", text),), opening


def prefill(prompts: Prompts) -> Prefill:
    """The beginning of the reply that commits the model to computing again."""
    return Prefill("content", prompts.prefix)


def bare(prompts: Prompts, value: str) -> str:
    """A chain that only states its result (protocol A.6, contrasts)."""
    return fill(prompts.bare, value=value)


def replay(prompts: Prompts, chain: str, question: str | None = None) -> tuple[Message, ...]:
    """A chain sent back with nothing said of it, alone [A eq. 4] or after its question."""
    if question is None:
        return (Message("user", chain),)
    return (Message("user", fill(prompts.replay_question, question=question, chain=chain)),)


def read(prompts: Prompts, messages: tuple[Message, ...], opening: Prefill | None) -> Read | None:
    """What `solve` or `probe` put into `messages` and `opening`; None where neither did."""
    if len(messages) == 3:
        return _read_turns(prompts, messages, opening)
    if len(messages) != 1 or messages[0].role != "user":
        return None
    text = messages[0].content
    if opening is not None and opening.field == "thinking":
        thought = Way(channel="think_closed" if opening.closed else "think")
        question = _question(prompts, text)
        return None if question is None else Read(question, thought, opening.text)
    pattern, names, tail = _reader(prompts)
    # Without a look at the tail first, a long text of filters would be searched quadratically.
    found = pattern.fullmatch(text) if text.endswith(tail) else None
    if found is None:
        question = _question(prompts, text)
        return None if question is None else Read(question)
    way = _way(names[found["filter"]], "user", opening)
    return Read(found["question"], way, found["chain"]) if way else None


# --- words -----------------------------------------------------------------------------------


def _check_way(way: Way) -> None:
    for what, name, known in (
        ("method", way.method, (*METHODS, AS_TEXT)),
        ("attribution", way.attribution, ATTRIBUTIONS),
        ("channel", way.channel, CHANNELS),
    ):
        if name not in known:
            raise UserError(nearest(what, name, known))
    if way.impossible:
        raise UserError(way.impossible)


def _filter(prompts: Prompts, name: str, attribution: str, channel: str) -> str:
    if name == AS_TEXT:
        return f"{_filter(prompts, 'contradiction', attribution, channel)}\n\n{prompts.prefix}"
    where = prompts.above if channel == "assistant" else prompts.below
    return fill(getattr(prompts, name), where=where, thought=getattr(prompts, attribution))


# --- reading back ----------------------------------------------------------------------------


def _question(prompts: Prompts, text: str) -> str | None:
    """What `solve` put into `text`, or None where its words do not stand round it."""
    head, _, tail = parts(prompts.solve, _HOLES["solve"])
    if len(text) < len(head) + len(tail) or not (text.startswith(head) and text.endswith(tail)):
        return None
    return text[len(head) : len(text) - len(tail)]


def _read_turns(
    prompts: Prompts, messages: tuple[Message, ...], opening: Prefill | None
) -> Read | None:
    """Question, chain and filter in turns of their own."""
    asked, chain, said = messages
    question = _question(prompts, asked.content)
    name = _filters(prompts, "assistant").get(said.content)
    turns = (asked.role, chain.role, said.role)
    if turns != ("user", "assistant", "user") or question is None or name is None:
        return None
    way = _way(name, "assistant", opening)
    return Read(question, way, chain.content) if way else None


def _way(name: tuple[str, str], channel: str, opening: Prefill | None) -> Way | None:
    """The way that a filter and a prefilled reply make; None where there is no such method."""
    method, attribution = name
    if opening is not None:
        if method != "contradiction":
            return None
        method = "prefix"
    return Way(method, attribution, channel)


@lru_cache(maxsize=16)
def _filters(prompts: Prompts, channel: str) -> dict[str, tuple[str, str]]:
    """Each filter's text in a channel -> its name and attribution."""
    return {
        _filter(prompts, name, attribution, channel): (name, attribution)
        for name, attribution in product(FILTERS, ATTRIBUTIONS)
    }


@lru_cache(maxsize=16)
def _reader(prompts: Prompts) -> tuple[re.Pattern[str], dict[str, tuple[str, str]], str]:
    """A pattern that reads a probe back, the name of each filter text, and the probe's tail."""
    names = _filters(prompts, "user")
    # A filter may begin with another one, so that the longest has to be tried first.
    either = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    holes = {
        "question": "(?P<question>.*?)",
        "filter": f"(?P<filter>{either})",
        "chain": "(?P<chain>.*)",
    }
    found = parts(prompts.probe, _HOLES["probe"])
    pattern = "".join(holes[part] if i % 2 else re.escape(part) for i, part in enumerate(found))
    return re.compile(pattern, re.DOTALL), names, found[-1]


# --- loading ---------------------------------------------------------------------------------


def load(path: str | None) -> Prompts:
    """The bundled words, with those of the user's TOML file in their place.

    Raises:
        UserError: the file cannot be read, has an unknown key, or its words
            would spoil the experiment (see `_check`).
    """
    prompts = Prompts(**words("cpt", path))
    if path is not None:
        _check(path, prompts)
    return prompts


def _check(path: str, prompts: Prompts) -> None:
    """Refuse words that lose a text or make two conditions one."""
    # A filter may say where the chain stands.
    texts = {
        key: text.replace("{where}", "", 1) if key in FILTERS else text
        for key, text in asdict(prompts).items()
    }
    check_holes(path, texts, _HOLES | dict.fromkeys(("below", "above"), ()))
    if any(character.isdigit() for character in prompts.prefix):
        raise UserError(f"{path}: prefix holds a digit, which would be graded as the model's own")
    if prompts.prefix != prompts.prefix.rstrip():
        raise UserError(f"{path}: prefix ends in white space, which some servers refuse")
    for channel in ("user", "assistant"):
        filters: dict[str, str] = {}
        for name, attribution in product(FILTERS, ATTRIBUTIONS):
            cell = f"{name} ({attribution})"
            twin = filters.setdefault(_filter(prompts, name, attribution, channel), cell)
            if twin != cell:
                raise UserError(f"{path}: {twin} and {cell} have the same filter")

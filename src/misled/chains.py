r"""Chains: the raw output of any model, cut into reasoning and answer.

    >>> split("I add 2 and 3, which is 5.</think>\n\nThe answer is 5.<|im_end|>").answer
    'The answer is 5.'

Delimiters (`<think>`, `[THINK]`, Gemma's and gpt-oss's channels, s1's bare
lines, `<answer>`) differ; what real outputs do with them decides the rules:

- The **last** delimiter that opens an answer cuts. Where a model closes its
  thinking several times, what follows the last time is right far more often.
- Thinking that is opened and never closed was cut by the token limit: the
  answer is empty and `finished` is False, unless the text ends on a paragraph
  that is marked as the answer (`**Answer**: D`): then the tag was forgotten.
- A delimiter named in prose ("within the <think> block") or in quotes is text.
- Without delimiters the answer begins at the last conclusion, else it is the
  last paragraph, and `delimited` is False.

Nothing is rewritten: each part is one slice of the raw text. What lies outside
both is delimiters, special tokens and white space, and in rare outputs a
preamble before the thinking, a turn that the model then replayed, or a turn
that it made up after its own end.

Does not know why generation stopped, nor whether the answer is right.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from misled.records import Chain
from misled.roles import steps

__all__ = ["of", "split", "steps"]

_THOUGHT = r"(?:think(?:ing)?|thoughts?|reasoning|rationale|scratchpad)"
_REPLY = r"(?:answer|solution|response|final_answer)"
_HARMONY = r"(?:\|end\|>\s?<)?(?:\|start\|>assistant<)?\|channel\|>{}[^<\n]{{0,40}}<\|message\|>"
# The first character class lets the scan skip to the next bracket.
_MARK = re.compile(
    r"[<\[◁](?:"
    rf"(?P<close>\s?/\s?(?:\w{{1,12}}:)?{_THOUGHT}\s?>[：:]?|(?-i:/THINK\])|/think▷|channel\|>"
    rf"|\|(?:end_of_thought|end_thinking)\|>|\|im_start\|>answer|{_HARMONY.format('final')})"
    rf"|(?P<open>\s?(?:\w{{1,12}}:)?{_THOUGHT}\s?>[：:]?|(?-i:THINK\])|think▷|\|channel>thought"
    rf"|\|(?:begin_of_thought|start_thinking)\|>|\|im_start\|>think|{_HARMONY.format('analysis')})"
    rf"|(?P<answer>\s?{_REPLY}\s?>[：:]?|\|(?:begin_of_solution|start_response)\|>)"
    rf"|(?P<shut>\s?/\s?{_REPLY}\s?>|\|(?:end_of_solution|end_response)\|>)"
    r"|(?P<turn>(?:\|im_start\|>|\|start\|>|\|start_header_id\|>)assistant(?:<\|\w{1,20}\|>)?"
    r"|start_of_turn>model|｜assistant｜>)"
    r"|(?P<other>(?:\|im_start\|>|\|start\|>|\|start_header_id\|>)(?:user|system)(?:<\|\w{1,20}\|>)?"
    r"|start_of_turn>user|｜user｜>)"
    r"|(?P<stop>\|(?:im_end|endoftext|end_of_text|eot_id|return|end)\|>|/s>|｜end▁of▁sentence｜>"
    r"|end_of_turn>|eos>)"
    r"|(?P<token>\|\w{1,30}\|>|｜\w{1,30}｜>|(?:unk|pad|bos)>))",
    re.IGNORECASE,
)
_BARE_OPEN = re.compile(r"\s*+think[ \t]*\n")
_BARE_CLOSE = re.compile(r"^answer[ \t]*$", re.MULTILINE)
_STRIPPED = ("analysis", "assistantfinal")  # gpt-oss, decoded without its special tokens
_SPACE = re.compile(r"\s*+")
_QUOTES = frozenset("`\"'“”‘’「」")
_SAID = frozenset(".!?:;…。！？：；)]}>*_")  # what may stand before thinking that opens in a line
_NAMED_BEFORE = re.compile(r"\b(?:the|an?|my|this|of|in|with|and|or|use|using|closing)\s\Z")
_NAMED_AFTER = re.compile(r"\s(?:tag|token|marker|section|block)s?\b")
_MARKED = re.compile(
    r"^[ \t>#*_\-]*+(?:(?:the )?(?:final |correct )?answer\b[*_ ]*[:：*\n]"
    r"|(?:最终)?答案[*_ ]*[:：])",
    re.IGNORECASE | re.MULTILINE,
)
_BRIEF = 300  # code points of a text that can be an answer and nothing else


class _Mark(NamedTuple):
    """A delimiter or special token; `kind` is the name of its group in `_MARK`."""

    kind: str
    start: int
    end: int


def split(raw: str) -> Chain:
    """Reasoning and answer of a raw output, with their spans; never raises on any text."""
    marks = list(_marks(raw))
    first, limit = _output(raw, marks)
    marks = [mark for mark in marks if first <= mark.start < limit]
    opened = [mark for mark in marks if mark.kind == "open"]
    cut = _boundary(raw, marks, limit)
    if opened and (cut is None or opened[-1].start > cut.start):
        start = _begin(raw, marks, first, limit)
        reply = _forgotten(raw, start, limit)
        if reply is None:
            return _chain(raw, marks, (start, limit), None)
    elif cut is None:
        start = _begin(raw, marks, first, limit)
        reply = _concluded(raw, marks, start, limit)
    else:
        start = _begin(raw, marks, first, cut.start)
        return _chain(raw, marks, (start, cut.start), (cut.end, limit))
    return _chain(raw, marks, (start, reply), (reply, limit), delimited=False)


def of(content: str, reasoning: str | None) -> Chain:
    """The chain of a response's two fields.

    A reasoning field that says something is the reasoning, unchanged; the spans
    are None, since no one text was cut. Tags and special tokens in the content
    are still taken off. Without such a field the content is split.
    """
    if reasoning is None or not reasoning.strip():
        return split(content)
    marks = list(_marks(content))
    if not marks:
        return Chain(reasoning=reasoning, answer=content)
    inner = split(content)
    if inner.delimited:
        return Chain(reasoning=reasoning, answer=inner.answer, finished=inner.finished)
    start, end = _spoken(content, marks, 0, len(content))
    return Chain(reasoning=reasoning, answer=content[start:end])


def _marks(raw: str) -> Iterator[_Mark]:
    """The delimiters and special tokens of `raw`, ascending; those that are only named left out."""
    bare = _bare(raw)
    struck = "<s>" in raw  # then </s> is the end of struck text, not of a turn
    last = 0
    for match in _MARK.finditer(raw):
        mark = _Mark(match.lastgroup or "token", *match.span())
        while bare and bare[0].start <= mark.start:
            yield bare.pop(0)
        if match.group() == "</s>" and struck:
            mark = mark._replace(kind="token")
        if not _named(raw, mark, last):
            yield mark
            last = mark.end
    yield from bare


def _bare(raw: str) -> list[_Mark]:
    """Delimiters that are words alone: the lines of s1, the channel names of gpt-oss."""
    opening = _BARE_OPEN.match(raw)
    if opening:
        closes = list(_BARE_CLOSE.finditer(raw))[-1:]
        return [_Mark("open", *opening.span()), *(_Mark("close", *c.span()) for c in closes)]
    first, last = _STRIPPED
    at = raw.rfind(last)
    if raw.startswith(first) and at > 0:
        return [_Mark("open", 0, len(first)), _Mark("close", at, at + len(last))]
    return []


def _named(raw: str, mark: _Mark, last: int) -> bool:
    """Whether `mark` is only named in prose; `last` is where the mark before it ended."""
    kind, start, end = mark
    before, after = raw[max(0, start - 1) : start], raw[end : end + 1]
    if kind not in {"open", "close", "answer"} or raw[start + 1] == "|":
        return False
    if before in _QUOTES and after in _QUOTES:
        return True
    if kind == "close":
        named = _NAMED_BEFORE.search(raw[max(0, start - 12) : start])
        return bool(named or _NAMED_AFTER.match(raw, end))
    at = start
    while at > last and raw[at - 1] in " \t":
        at -= 1
    opens_line = at == last or raw[at - 1] == "\n"
    return not opens_line and not (kind == "open" and raw[at - 1] in _SAID)


def _boundary(raw: str, marks: list[_Mark], limit: int) -> _Mark | None:
    """The last delimiter that opens an answer; None where there is none."""
    cuts = [mark for mark in marks if mark.kind in {"close", "answer"}]
    if not cuts:
        return None
    start, end = _spoken(raw, marks, cuts[-1].end, limit)
    while start == end and len(cuts) > 1:
        # Nothing follows: the tag may have closed the answer, if that is brief.
        answer = raw[cuts[-2].end : cuts[-1].start].strip()
        if answer:
            brief = len(answer) <= _BRIEF and "\n\n" not in answer
            return cuts[-2] if brief else cuts[-1]
        cuts.pop()
    return cuts[-1]


def _output(raw: str, marks: list[_Mark]) -> tuple[int, int]:
    """The range of the output: without turns of others that follow it, or that came before."""
    others = [mark for mark in marks if mark.kind == "other"]
    first = 0
    if others and not raw[: others[0].start].strip():
        # The log of a whole conversation: its last turn is the output.
        first = next((mark.start for mark in reversed(marks) if mark.kind == "turn"), 0)
        others = [mark for mark in others if mark.start > first]
    return first, others[0].start if others else len(raw)


def _begin(raw: str, marks: list[_Mark], first: int, end: int) -> int:
    """Where the reasoning that ends at `end` begins: in the last turn, after its first opening."""
    _, said = _spoken(raw, marks, first, end, whole=True)
    turns = [mark.end for mark in marks if mark.kind == "turn" and mark.end < said]
    begin = turns[-1] if turns else first
    opened = [mark.end for mark in marks if mark.kind == "open" and begin <= mark.start < end]
    return opened[0] if opened else begin


def _forgotten(raw: str, start: int, limit: int) -> int | None:
    """Where thinking that was never closed turns into a marked, brief, final answer, if it does."""
    marked = [match.start() for match in _MARKED.finditer(raw, start, limit)]
    # A marked answer that comes again and again is a loop that the token limit cut.
    return marked[0] if len(marked) == 1 and limit - marked[0] <= _BRIEF else None


def _concluded(raw: str, marks: list[_Mark], start: int, limit: int) -> int:
    """Where the answer begins in a text without delimiters."""
    start, end = _spoken(raw, marks, start, limit)
    for step in reversed(steps(raw[start:end])):
        if step.role == "conclusion":
            return start + step.start
    return max(start, raw.rfind("\n\n", start, end))


def _spoken(
    raw: str, marks: list[_Mark], start: int, end: int, *, whole: bool = False
) -> tuple[int, int]:
    """`start:end` without the marks and white space at its edges.

    Unless `whole`, it ends with the turn: what a model makes up after its own
    end is no part of it.
    """
    index = bisect_left(marks, start, key=lambda mark: mark.start)
    start = min(end, _lead(raw, start))
    while index < len(marks) and marks[index].start == start < end:
        start = min(end, _lead(raw, marks[index].end))
        index += 1
    inside = [mark for mark in marks[index:] if mark.end <= end]
    if not whole:
        end = next((mark.start for mark in inside if mark.kind == "stop"), end)
        inside = [mark for mark in inside if mark.end <= end]
    end = _stripped(raw, start, end)
    while inside and inside[-1].end == end:
        end = _stripped(raw, start, inside.pop().start)
    return start, end


def _lead(raw: str, start: int) -> int:
    """`start` or the first place after it that is no white space."""
    match = _SPACE.match(raw, start)
    return match.end() if match else start


def _stripped(raw: str, start: int, end: int) -> int:
    """The end of `start:end` without white space."""
    while end > start and raw[end - 1].isspace():
        end -= 1
    return end


def _chain(
    raw: str,
    marks: list[_Mark],
    reasoning: tuple[int, int],
    answer: tuple[int, int] | None,
    *,
    delimited: bool = True,
) -> Chain:
    """The chain of two ranges of `raw`, trimmed; an answer of None was never reached."""
    begin, end = _spoken(raw, marks, *reasoning, whole=True)
    start, stop = _spoken(raw, marks, *answer) if answer else (0, 0)
    return Chain(
        reasoning=raw[begin:end],
        answer=raw[start:stop],
        reasoning_span=(begin, end) if begin < end else None,
        answer_span=(start, stop) if start < stop else None,
        finished=answer is not None,
        delimited=delimited,
    )

"""Question sets of the Hugging Face hub, read with `datasets`.

    hf:gsm8k  ->  Source("openai/gsm8k", "main", "test", "740312add88f...", "question", "answer")
              ->  {"question": "...", "gold": ["18"]}, ...

`hf:NAME` is a set of `KNOWN`, at the revision named there; `hf:ORG/NAME` any
other, and `hf:./DIRECTORY` a copy of a repository on this machine. All three
take `:CONFIG`, `@SPLIT` and `#REVISION`, in this order.

`datasets` is imported when a set is read. Knows nothing about what makes a
question a problem.
"""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from misled.errors import UserError, nearest
from misled.records import Record

__all__ = ["KNOWN", "Source", "commit", "find", "golds", "read"]


class Source(Record, frozen=True):
    """Where a set lies and which columns of it hold question and answer; None is not yet known."""

    repository: str
    config: str | None = None
    split: str | None = None
    revision: str | None = None
    question: str | None = None
    answer: str | None = None


KNOWN = {
    "gsm8k": Source(
        *("openai/gsm8k", "main", "test"),
        *("740312add88f781978c0658806c59bc2815b9866", "question", "answer"),
    ),
    "math500": Source(
        *("HuggingFaceH4/MATH-500", None, "test"),
        *("6e4ed1a2a79af7d8630a6b768ec859cb5af4d3be", "problem", "answer"),
    ),
    "nq": Source(
        *("google-research-datasets/nq_open", "nq_open", "validation"),
        *("5dd9790a83002ad084ddeb7c420dc716852c6f28", "question", "answer"),
    ),
    "hotpotqa": Source(
        *("hotpotqa/hotpot_qa", "distractor", "validation"),
        *("1908d6afbbead072334abe2965f91bd2709910ab", "question", "answer"),
    ),
}

# Columns of other sets, the first pair that a set has.
COLUMNS = (
    *(("question", "answer"), ("question", "answers"), ("problem", "answer")),
    *(("query", "answer"), ("question", "target"), ("input", "target")),
)
SPLITS = ("test", "validation", "train")  # the first that a set has, where none is named

_SPEC = re.compile(
    r"(?P<name>[^:@#]+)(?::(?P<config>[^:@#]+))?(?:@(?P<split>[^:@#]+))?(?:#(?P<revision>\w+))?"
)
_LAST_LINE = re.compile(r"^#### *(.+)\Z", re.MULTILINE)
_COMMIT = re.compile(r"[0-9a-f]{40}")


def find(name: str) -> Source:
    """The source that `name` (what follows `hf:`) means; UserError where it means none."""
    parts = _SPEC.fullmatch(name)
    if parts is None:
        raise UserError(f"hf:{name}: write hf:NAME or hf:ORG/NAME, then :CONFIG and @SPLIT")
    given = {key: part for key, part in parts.groupdict().items() if part and key != "name"}
    repository = parts["name"]
    if "/" not in repository:
        if repository not in KNOWN:
            raise UserError(f"hf: {nearest('set', repository, KNOWN)}; any other is hf:ORG/NAME")
        return replace(KNOWN[repository], **given)
    return Source(repository, **given)


def read(name: str) -> tuple[str, Iterator[dict[str, Any]]]:
    """The name with the revision that was read, if it names none, and a record per question.

    A record has `question`, `gold` (a list) and, where the set has them, `id`.

    Raises:
        UserError: `datasets` is not installed, the hub cannot be reached, or
            the set has not the named config, split or columns.
    """
    source = find(name)
    data = _load(name, source)
    columns = list(data.column_names)
    pairs = [(source.question, source.answer)] if source.question else COLUMNS
    pair = next((pair for pair in pairs if set(pair) <= set(columns)), None)
    if pair is None:
        raise UserError(
            f"hf:{name}: no columns that are known as question and answer; "
            f"it has {', '.join(columns)}"
        )
    found = None if source.revision else commit(data)
    return f"{name}#{found}" if found else name, (_record(row, *pair) for row in data)


def commit(data: Any) -> str | None:
    """The commit of the hub that a `datasets.Dataset` was read from; None for a local copy.

    `datasets` keeps what it read in a folder with the commit's name.
    """
    folders = (Path(file["filename"]).parent.name for file in data.cache_files)
    return next((name for name in folders if _COMMIT.fullmatch(name)), None)


def golds(answer: object) -> list[object]:
    """The accepted answers in a cell of an answer column.

    A text (of GSM8K's kind: what follows `####`), a list of texts, or as in
    SQuAD and TriviaQA a mapping that holds them. What is none of these is
    given back, for whoever makes a problem of it to refuse.
    """
    if isinstance(answer, Mapping):
        given = [answer.get(key) for key in ("value", "text", "aliases")]
        parts = [part for part in given if part is not None]
        found = [gold for part in parts for gold in golds(part)]
    elif isinstance(answer, list):
        found = list(answer)
    else:
        final = _LAST_LINE.search(answer) if isinstance(answer, str) else None
        found = [final[1].strip() if final else answer]
    return list(dict.fromkeys(found))


def _record(row: Mapping[str, Any], question: str | None, answer: str | None) -> dict[str, Any]:
    record = {"question": row[question or ""], "gold": golds(row[answer or ""])}
    for key in ("id", "unique_id"):
        if row.get(key) is not None:
            record["id"] = row[key]
            break
    return record


def _load(name: str, source: Source) -> Any:
    """One split of a set, a `datasets.Dataset`."""
    try:
        import datasets  # noqa: PLC0415 - an extra, and slow to import
    except ImportError:
        raise UserError(f"hf:{name} needs the package datasets: pip install 'misled[hf]'") from None
    local = source.repository.startswith((".", "/", "~"))
    path = Path(source.repository).expanduser()
    if path.exists() != local:
        here = "is no directory" if local else f"also lies here: write hf:./{name} to read that"
        raise UserError(f"hf:{name}: {source.repository} {here}")
    try:
        with _quiet(datasets):
            found = datasets.load_dataset(
                str(path) if local else source.repository,
                source.config,
                split=source.split,
                revision=source.revision,
            )
    except ConnectionError:
        raise UserError(
            f"hf:{name}: the hub cannot be reached and no copy is kept here; try again with a "
            "network, name a mirror in HF_ENDPOINT, or give a file of the questions as file:PATH"
        ) from None
    except (OSError, ValueError, datasets.exceptions.DatasetsError) as error:
        # All else that `datasets` and the hub's client raise: no such set, config or split.
        said = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise UserError(f"hf:{name}: {said[:300]}; a file is read with file:PATH") from None
    if source.split is not None:
        return found
    split = next((split for split in SPLITS if split in found), None)
    if split is None:
        raise UserError(f"hf:{name}: name a split, @ and one of {', '.join(found)}")
    return found[split]


@contextmanager
def _quiet(datasets: Any) -> Iterator[None]:
    """Without the bars, the log and the warnings of `datasets` and of the hub's client."""
    import huggingface_hub.utils as client  # noqa: PLC0415 - comes with `datasets`

    shown = [part for part in (datasets, client) if not part.are_progress_bars_disabled()]
    logs = [logging.getLogger(name) for name in ("datasets", "huggingface_hub")]
    levels = [log.level for log in logs]
    for part in shown:
        part.disable_progress_bars()
    for log in logs:
        log.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    finally:
        for part in shown:
            part.enable_progress_bars()
        for log, level in zip(logs, levels, strict=True):
            log.setLevel(level)

"""The trials of a run as a report holds them: the index, and the texts while they are not too many.

    embedded(Trials(session, rows), store) -> Listed(n=1234, index="...", shards=("H4sI...", ...))

A report is one file that is opened with a click and sent by mail, which takes some 25 MB.
Larger runs are looked at with `misled view DIR`. Same rows and answers, same bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from misled import pages
from misled.dossiers import Dossier
from misled.explorer import Trials
from misled.pages import Listed
from misled.store import Store
from misled.trial_index import squeezed

__all__ = ["LARGEST", "LIMIT", "SHARD", "embedded", "shared"]

SHARD = 100  # trials whose texts are packed together: a click unpacks so many
LIMIT = 20_000_000  # characters of all shards
LARGEST = 250_000  # trials of an index
_WORTH = 24  # characters of a text that is put where it stands once
_PROBED = 8  # shards from which the size of all is told
_SURE = 1.3  # times the limit, from which on the other shards are not made

_TEXTS = "The texts of these {n:,} trials are too large for this file: misled view DIR shows them"
_TRIALS = "{n:,} trials are too many for this file: misled view DIR lists and shows them."


def embedded(trials: Trials, store: Store) -> Listed:
    """What a report holds of `trials`."""
    n = len(trials)
    if n > LARGEST:
        return Listed(n, why=_TRIALS.format(n=n))
    shards = _shards(trials, store)
    if shards:
        where = {"mode": "embedded", "shards": len(shards), "size": SHARD}
    else:
        where = {"mode": "none", "why": _TEXTS.format(n=n)}
    return Listed(n, pages.shown(trials.index(where)), tuple(shards))


def _shards(trials: Trials, store: Store) -> list[str]:
    """Every shard, or none where they are too large together."""
    count = -(-len(trials) // SHARD)
    probes = min(_PROBED, count)
    places = [i * count // probes for i in range(probes)]
    probed = {i: _shard(trials, store, i) for i in places}
    if sum(map(len, probed.values())) / len(probed) * count > _SURE * LIMIT:
        return []
    found: list[str] = []
    size = 0
    for i in range(count):
        found.append(probed.pop(i, "") or _shard(trials, store, i))
        size += len(found[-1])
        if size > LIMIT:
            return []
    return found


def _shard(trials: Trials, store: Store, i: int) -> str:
    places = range(i * SHARD, min((i + 1) * SHARD, len(trials)))
    return squeezed(msgspec.json.encode(shared(trials.dossiers(store, places))))


def shared(dossiers: Sequence[Dossier]) -> dict[str, Any]:
    """The dossiers with what several of them hold in `texts`, once, and its number in its stead.

    A chain and a control's reply stand in many trials, too far apart for gzip to see.
    """
    plain = msgspec.to_builtins(dossiers)
    every = [each for dossier in plain for each in _pieced(dossier)]
    times = Counter(piece[0] for each in every for piece in each["pieces"])
    numbers: dict[str, int] = {}
    for each in every:
        each["pieces"] = [
            (numbers.setdefault(said, len(numbers)), *more)
            if times[said] > 1 and len(said) >= _WORTH
            else (said, *more)
            for said, *more in each["pieces"]
        ]
    return {"texts": list(numbers), "dossiers": plain}


def _pieced(dossier: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """All that has pieces in a dossier."""
    sides = (section for side in dossier.get("sides", ()) for section in side["sections"])
    for section in (*dossier["sections"], *sides):
        yield from (each for each in (section, *section.get("messages", ())) if "pieces" in each)

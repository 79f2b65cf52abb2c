"""The trials of a run as a report holds them: the index, and the texts while they are not too many.

    embedded(Trials(session, rows), store) -> Listed(n=1234, index="...", shards=("H4sI...", ...))

A report is one file that is opened with a click and sent by mail, which takes some 25 MB.
Larger runs are looked at with `misled view DIR`. Same rows and answers, same bytes.
"""

from __future__ import annotations

import msgspec

from misled import pages
from misled.explorer import Trials
from misled.pages import Listed
from misled.store import Store
from misled.trial_index import squeezed

__all__ = ["LARGEST", "LIMIT", "SHARD", "embedded"]

SHARD = 100  # trials whose texts are packed together: a click unpacks so many
LIMIT = 20_000_000  # characters of all shards
LARGEST = 250_000  # trials of an index
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
    probed = {i * count // _PROBED: "" for i in range(min(_PROBED, count))}
    probed |= {i: _shard(trials, store, i) for i in probed}
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
    return squeezed(msgspec.json.encode(trials.dossiers(store, places)))

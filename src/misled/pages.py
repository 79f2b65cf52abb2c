"""A page that lists the trials of a run: its script, what it may do, and the page alone.

    standalone("Trials", Listed(n=1234, index='{"study": ...}')) -> "<!DOCTYPE html> ..."

The script is part of the page, and the only one that may run in it: the policy names its
hash. Knows nothing about what stands in an index.
"""

from __future__ import annotations

import base64
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

import jinja2
import msgspec
from markupsafe import Markup

from misled import sheets
from misled.records import Record

__all__ = ["Listed", "blocks", "environment", "policy", "script", "shown", "standalone"]

SCRIPTS = ("trial.js", "trials.js", "explorer.js")
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


class Listed(Record, frozen=True):
    """An index of trials as JSON for a page, and their texts in shards, as far as it holds them.

    Without an index, `why` says where the trials are to be seen.
    """

    n: int
    index: str = ""
    shards: tuple[str, ...] = ()
    why: str = ""


def shown(value: object) -> str:
    """JSON that can stand in a page: no tag, no comment and no line end of scripts in it."""
    text = msgspec.json.encode(value).decode()
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


@cache
def script() -> str:
    """What lists the trials and shows one."""
    data = files("misled") / "data"
    return "".join((data / name).read_text("utf-8") for name in SCRIPTS)


def policy(*, scripted: bool = False, served: bool = False) -> str:
    """What a page may do: show itself; run its script; ask its own server for texts."""
    may = [_POLICY]
    if served:
        may.append("connect-src 'self'")
    if scripted:
        digest = base64.b64encode(sha256(script().encode()).digest()).decode()
        may.append(f"script-src 'sha256-{digest}'; require-trusted-types-for 'script'")
    return "; ".join(may)


def standalone(title: str, listed: Listed, note: str = "") -> str:
    """The trials alone, as a page whose texts come from its server; `note` says what it lacks."""
    page = environment().get_template("view.html.jinja")
    may = policy(scripted=True, served=True)
    return page.render(title=title, note=note, csp=may, n=listed.n, **blocks(listed))


def blocks(listed: Listed | None) -> dict[str, Any]:
    """What stands in a page as it is: base64, our own script, and JSON in which no tag can be."""
    index, shards = (listed.index, listed.shards) if listed else ("", ())
    raw = [Markup(text) for text in (index, script(), *shards)]  # noqa: S704 - see above
    return {"index": raw[0], "script": raw[1], "shards": raw[2:]}


@cache  # its templates are compiled once
def environment() -> jinja2.Environment:
    """The package's templates; all that they print is escaped, and made visible."""
    return jinja2.Environment(
        loader=jinja2.PackageLoader("misled", "data"),
        autoescape=True,
        finalize=_plain,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
    )


def _plain(value: Any) -> Any:
    """Every value that a template prints, with what cannot be seen written out."""
    return (
        value if isinstance(value, Markup) or not isinstance(value, str) else sheets.visible(value)
    )

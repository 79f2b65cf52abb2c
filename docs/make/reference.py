"""The pages of reference, made from the code: command line, keys of a plan, columns of a trial.

    python docs/make/reference.py            writes docs/cli.md, docs/plans.md and docs/schema.md
    python docs/make/reference.py --check    names those that are not as the code is, and exits 1

What a key means stands once: with the command's option of its name or, where there is none or
it means something else, in the `Attributes` of its record. Knows no command and no record
beyond the lists below.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
import typer.models

import misled.cli
from misled import models, row
from misled.judge_plans import JudgeCell, JudgePlan
from misled.plans import Cell, Plan
from misled.records import Entry, Record
from misled.settings import ModelPlan, Prices, Settings
from misled.wire import Capabilities

DOCS = Path(__file__).parents[1]
MADE = "<!-- made by docs/make/reference.py: change the code, then run it -->\n"

CLI = f"""{MADE}
# Command line

`misled COMMAND --help` says the same. Options that may be repeated also take several values
(`--model A B`); the others that name several take a list with commas.

Results go to standard output, everything else to standard error. `--json` makes the results JSON
Lines. Exit codes: 0 done; 1 done, but requests failed or items were left out for bad input; 2
nothing could start or go on, and one line says what to do; 130 interrupted, and the same command
goes on.
"""

PLANS = f"""{MADE}
# Plan keys

A plan is a TOML file for `misled run`; a run directory keeps its own as `plan.toml`. An unknown key
is an error that names the nearest known one. Lists may stand as one string where there is one
value, numbers as `"1-6"`. [A server of your own](models.md#a-server-of-your-own) shows a plan,
`plans/` holds those of both papers.
"""

SHARED = "## Both studies\n"
MODEL = """## `[models."ID"]`

What is not given is the plan's.
"""
PRICES = """### `prices`

As in `prices = { input = 1.1, output = 4.4 }`.
"""
PROVIDER = """## `[providers.NAME]`

Also in `providers.toml` of your own. [A server of your own](models.md#a-server-of-your-own) shows
one.
"""
CAPABILITIES = """## Capabilities

In a `[providers.NAME]` table, in its `[providers.NAME.models."PATTERN"]` tables, and as
`capabilities` of a `[models."ID"]` table. `misled probe` finds them.
"""

SCHEMA = f"""{MADE}
# Schema

`misled export DIR --to parquet|jsonl|csv` writes every graded trial, a row each, with the columns
below; `misled.rows(DIR)` gives them as a polars frame. `misled report DIR --json` writes every
estimate, and `misled.tables(DIR)` gives those.

A column that does not apply is null: in CSV an empty field, which is never a zero. `flags` is a
list, in CSV its items with a space between them. Lengths and offsets count Unicode code points.
Values are strings of canonical digits, since they may be longer than any machine number. Section
numbers are those of [the protocol](protocol.md).
"""


def pages() -> dict[str, str]:
    """Every page of reference, by its file name."""
    options = _options()
    return {"cli.md": _cli(), "plans.md": _plans(options), "schema.md": _schema()}


# --- command line ----------------------------------------------------------------------------


def _commands() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every command, in the order of the source: that of registration depends on who imported."""
    for module in pkgutil.iter_modules(misled.cli.__path__):
        importlib.import_module(f"misled.cli.{module.name}")
    shown = [c for c in misled.cli.app.registered_commands if c.callback and not c.hidden]
    functions = {c.callback: c.name for c in shown if c.callback}
    for made in sorted(functions, key=lambda f: (f.__module__, f.__code__.co_firstlineno)):
        yield functions[made] or made.__name__.replace("_", "-"), made


def _parameters(
    command: Callable[..., Any],
) -> Iterator[tuple[inspect.Parameter, Any, typer.models.ParameterInfo]]:
    """Each parameter of a command with its type and what typer is told of it."""
    hints = get_type_hints(command, include_extras=True)
    for parameter in inspect.signature(command).parameters.values():
        kind, info = get_args(hints[parameter.name])
        yield parameter, kind, info


def _cli() -> str:
    parts = [CLI]
    for name, command in _commands():
        arguments, rows = [], []
        for parameter, kind, info in _parameters(command):
            if isinstance(info, typer.models.ArgumentInfo):
                word = parameter.name.rstrip("_").upper()
                optional = parameter.default is not inspect.Parameter.empty
                arguments.append(f"[{word}]" if optional else word)
                rows.append((f"`{word}`", _default(parameter), info.help or ""))
            else:
                flag = _flag(parameter, info)
                spelled = flag if kind is bool else f"{flag} {_value(kind)}"
                rows.append((f"`{spelled}`", _default(parameter), info.help or ""))
        usage = " ".join(["misled", name, *arguments, "[OPTIONS]"])
        said = inspect.getdoc(command) or ""
        parts.append(f"## {name}\n\n{said}\n\n    {usage}\n")
        parts.append(_table(("option", "default", "meaning"), rows))
    return "\n".join(parts)


def _flag(parameter: inspect.Parameter, info: typer.models.ParameterInfo) -> str:
    named = [word for word in info.param_decls or () if word.startswith("--")]
    return named[0] if named else "--" + parameter.name.strip("_").replace("_", "-")


def _value(kind: Any) -> str:
    """What stands behind an option, as a word."""
    words = {"integer": "N", "number": "X", "path": "PATH"}
    return words.get(_spelled(kind).removesuffix(" or null"), "TEXT")


def _default(parameter: inspect.Parameter) -> str:
    value = parameter.default
    if value is inspect.Parameter.empty:
        return "required"
    return "" if value in (None, False) else f"`{value}`"


def _options() -> dict[str, str]:
    """What each option of the studies' commands means, by the key of a plan that it stands for."""
    found: dict[str, str] = {}
    for name, command in _commands():
        if name in {"cpt", "judge"}:
            for parameter, _, info in _parameters(command):
                said = re.sub(r"; may be repeated", "", info.help or "")
                found[f"{name} {parameter.name}"] = said
    return found


# --- plans -----------------------------------------------------------------------------------


def _plans(options: Mapping[str, str]) -> str:
    shared = Settings.__struct_fields__
    parts = [PLANS]
    for head, kind, command in (
        (SHARED, Settings, "cpt"),
        (MODEL, ModelPlan, "cpt"),
        (PRICES, Prices, ""),
        ("## Study A\n", Plan, "cpt"),
        ("## `[[cells]]` of study A\n", Cell, "cpt"),
        ("## Study B\n", JudgePlan, "judge"),
        ("## `[[cells]]` of study B\n", JudgeCell, "judge"),
        (PROVIDER, models.Endpoint, ""),
        (CAPABILITIES, Capabilities, ""),
    ):
        known = shared if kind in (Plan, JudgePlan) else ()
        fields = [each for each in msgspec.structs.fields(kind) if each.name not in known]
        parts += [head, _keys(kind, fields, options, command)]
    return "\n".join(parts)


def _keys(
    kind: type[Record],
    fields: Iterable[msgspec.structs.FieldInfo],
    options: Mapping[str, str],
    command: str,
) -> str:
    """A table of a record's fields, each with its own meaning or that of a command's option."""
    own, hints = meanings(kind), get_type_hints(kind)
    rows = []
    for field in fields:
        said = own.get(field.name) or options.get(f"{command} {field.name}")
        if not said:
            raise LookupError(f"{kind.__name__}.{field.name} is described nowhere")
        rows.append((f"`{field.name}`", _spelled(hints[field.name]), _given(field), _phrase(said)))
    return _table(("key", "type", "default", "meaning"), rows)


def _given(field: msgspec.structs.FieldInfo) -> str:
    """A field's default as a plan would spell it."""
    if field.default is msgspec.NODEFAULT:
        made = field.default_factory
        return "required" if made is msgspec.NODEFAULT else ""
    if field.default is None or field.default in ((), {}, ""):
        return ""
    value = list(field.default) if isinstance(field.default, tuple) else field.default
    return f"`{msgspec.json.encode(value).decode()}`"


# --- records ---------------------------------------------------------------------------------


def _schema() -> str:
    outlines = (
        ("Trials of study A", row.Row),
        ("Lines of study B", row.Judged),
        ("Estimates", Entry),
    )
    parts = [SCHEMA]
    for title, kind in outlines:
        own, hints = meanings(kind), get_type_hints(kind)
        rows = [(f"`{n}`", _spelled(hints[n]), _phrase(own[n])) for n in kind.__struct_fields__]
        said = (inspect.getdoc(kind) or "").split("\n\nAttributes:")[0]
        parts += [f"## {title}\n\n{said}\n", _table(("column", "type", "meaning"), rows)]
    return "\n".join(parts)


def meanings(kind: type[Record]) -> dict[str, str]:
    """What each field means, from the docstrings of a record and of what it is made from."""
    found: dict[str, str] = {}
    for each in reversed(kind.__mro__):
        _, _, listed = (inspect.cleandoc(each.__doc__ or "")).partition("Attributes:\n")
        block = listed.split("\n\n")[0]
        for name, said in re.findall(r"^ {4}(\w+): (.*(?:\n {5,}.*)*)", block, re.MULTILINE):
            found[name] = " ".join(said.split())
    return {name: said for name, said in found.items() if name in kind.__struct_fields__}


_WORDS = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    Path: "path",
    NoneType: "null",
}


def _spelled(kind: Any) -> str:
    """A type in the words of JSON and TOML."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return " or ".join(map(_spelled, inner))
    if origin is Literal:
        return " or ".join(f"`{each}`" for each in inner)
    if origin in (tuple, list):
        return f"list of {_spelled(inner[0])}s"
    return _WORDS.get(kind, "table")


def _phrase(said: str) -> str:
    """A meaning as a cell of a table: its first word small, unless it is a name."""
    return said[:1].lower() + said[1:] if said[1:2].islower() or said[1:2] == " " else said


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table of Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(cell.replace("|", r"\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write the pages, or with --check say which of them are out of date."""
    made = pages()
    if "--check" not in sys.argv[1:]:
        for name, text in made.items():
            (DOCS / name).write_text(text, encoding="utf-8")
        return 0
    stale = [name for name, text in made.items() if (DOCS / name).read_text("utf-8") != text]
    for name in stale:
        print(f"docs/{name} is out of date: run python docs/make/reference.py")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())

"""The shape of the package, as ARCHITECTURE.md tells it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "misled"
FILES = sorted(SOURCE.rglob("*.py"))

# Reading order is dependency order; a folder counts as one layer.
ORDER = """
errors draws records row cache tokens numbers numerals values
words prose facts hub problems sentences roles chains logs
refusals remarks statements claims answers results
perturbations asides structures interventions fences templates prompts
verdict_words verdict_tongues verdicts expressions aliases labels
faults flags metrics contracts intervals stats batches judging wire
models settings judge_plans plans judge_prompts conditions units judge_units showing handing
grading deciding
mathchild sieve places schema store damage reuse bills ledger
engines probe experiments studies progress frontier loop
trials captions_judge captions glossary sheets latex lines
cells comparisons sweeps families exhibits costs effort exhibits_effort conduct estimates
judged rulings flips controlled labelling strengths exhibits_judge judgements
sides differing pairing pairing_judge versus versus_judge facing
strokes curves dots panels figures figures_effort figures_judge figures_versus
phrases overview overview_judge findings findings_beside findings_judge cautions cautions_judge
glance parts plates pages report
marks reasons reasons_judge dossiers replies dossier_cpt dossier_judge trial_index
session rehearsal recall explorer embedding publishing directory viewing
opening provisos comparing versus_page api
__init__ cli __main__
"""
LAYERS = tuple(ORDER.split())
PURE = LAYERS[: LAYERS.index("models")]
IMPURE = {"os", "time", "random", "sqlite3", "asyncio", "socket", "subprocess", "datetime"}
HEAVY = {
    "aiohttp",
    "bpe_openai",
    "datasets",
    "jinja2",
    "matplotlib",
    "polars",
    "rich",
    "scipy",
    "xllamacpp",
    "uvloop",
}


def layer(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(path: Path) -> Iterator[str]:
    """Every module that a file imports, dotted; relative imports are not used here."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            module = node.module or ""
            yield module
            if module == "misled":
                yield from (f"misled.{name.name}" for name in node.names)


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_imports_only_from_the_layers_above_it(path: Path) -> None:
    own = LAYERS.index(layer(path))
    for name in imports(path):
        parts = name.split(".")
        if parts[0] != "misled" or len(parts) < 2 or parts[1].startswith("__"):
            continue
        other = LAYERS.index(parts[1])
        assert other <= own, f"{layer(path)} imports {name}, which stands below it"


def test_experiments_know_neither_wire_nor_engines() -> None:
    for path in (SOURCE / "experiments").glob("*.py"):
        assert not {n for n in imports(path) if n.startswith(("misled.wire", "misled.engines"))}


@pytest.mark.parametrize("name", PURE)
def test_pure_modules_have_no_clock_no_chance_and_no_files(name: str) -> None:
    for path in (path for path in FILES if layer(path) == name):
        assert not {module.split(".")[0] for module in imports(path)} & IMPURE


def test_every_module_stands_in_a_layer_and_says_what_it_is() -> None:
    for path in FILES:
        assert layer(path) in LAYERS
        assert ast.get_docstring(tree(path)), path


def test_no_module_is_longer_than_350_lines() -> None:
    long = {p.name: n for p in FILES if (n := len(p.read_text("utf-8").splitlines())) > 350}
    assert not long


def test_no_function_is_longer_than_50_lines_or_takes_more_than_6_parameters() -> None:
    for path in FILES:
        for function in functions(path):
            length = (function.end_lineno or 0) - function.lineno + 1
            count = len(function.args.args) + len(function.args.kwonlyargs)
            if layer(path) == "cli":
                continue
            assert length <= 50, f"{path.name}: {function.name} has {length} lines"
            assert count <= 6, f"{path.name}: {function.name} takes {count}"


def test_one_broad_except_stands_in_the_package_at_the_http_engine() -> None:
    broad = [
        path.relative_to(SOURCE).as_posix()
        for path in FILES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or getattr(node.type, "id", "") == "Exception")
    ]
    assert broad == ["engines/http.py"]


def test_public_modules_list_their_names_and_the_names_exist() -> None:
    for path in FILES:
        module = tree(path)
        lists = [
            node.value
            for node in module.body
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__"
        ]
        if path.name == "__init__.py" and layer(path) == "experiments":
            continue
        assert lists, f"{path} has no __all__"
        names = ast.literal_eval(lists[0])
        defined = {name for node in ast.walk(module) for name in _names(node)}
        assert set(names) <= defined, path


def _names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    if isinstance(node, ast.ImportFrom | ast.Import):
        return [alias.asname or alias.name for alias in node.names]
    return []


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv = ['misled', 'cpt', '--help']\n"
        "from misled.cli import main\n"
        "try: main()\n"
        "except SystemExit: print(*sorted({m.split('.')[0] for m in sys.modules}), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "--methods" in done.stdout
    assert not set(done.stderr.split()) & (HEAVY | {"msgspec", "numpy"})


def test_no_text_of_the_package_holds_a_path_of_a_machine() -> None:
    pattern = re.compile(r"(?<![\w./])/(home|root|Users|work)/\w")
    for path in ROOT.rglob("*"):
        ours = path.suffix in {".py", ".md", ".toml", ".cff", ".jinja"} and path.is_file()
        if ours and not {".git", ".venv", "runs"} & set(path.relative_to(ROOT).parts):
            assert not pattern.search(path.read_text("utf-8")), path


def test_no_pattern_repeats_a_group_possessively() -> None:
    """Python 3.11.0 to 3.11.4 match such patterns wrongly; an atomic group says the same."""
    repeated = re.compile(r"(?<!\\)[)}][*+?]\+")
    for path in FILES:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert not repeated.search(node.value), f"{path.name}: {node.value[:60]!r}"
            if isinstance(node, ast.JoinedStr):
                for value, after in pairwise(node.values):
                    text = getattr(after, "value", "")
                    if isinstance(value, ast.FormattedValue) and isinstance(text, str):
                        assert not re.match(r"[*+?]\+", text), f"{path.name}: {text[:60]!r}"

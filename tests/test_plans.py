"""Plans: what is read, what is refused, and in which words."""

from __future__ import annotations

import inspect
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misled.cli.studies import cpt
from misled.errors import UserError
from misled.plans import Plan, parse, read
from misled.settings import numbers, sampling

TOML = """
study = "cpt"
n = 5
model = ["planted/mixed", "openai/o3-mini"]
source = "planted/mixed"
temperature = 0.6

[models."openai/o3-mini"]
effort = "high"
temperature = 1.0

[[cells]]
problems = ["addition:15+13"]
digits = "1-3,6"
methods = ["baseline", "prefix"]

[[cells]]
problems = "small"
place = "0,2"
digits = 1
"""


def plain(**changes: object) -> dict[str, object]:
    cell = {"problems": ["small"]} | {k: v for k, v in changes.items() if k in {"digits", "scope"}}
    return {"model": ["planted/mixed"], "cells": [cell]} | {
        key: value for key, value in changes.items() if key not in cell
    }


def test_a_plan_file_is_read_with_lists_and_single_names(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(TOML)
    plan = read(str(path))
    assert isinstance(plan, Plan)
    assert plan.cells[0].digits == (1, 2, 3, 6)
    assert plan.cells[1].problems == ("small",)
    assert plan.cells[1].place == (0, 2)
    assert plan.cells[1].digits == (1,)


def test_a_models_own_setting_comes_before_the_plans(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(TOML)
    plan = read(str(path))
    assert sampling(plan, "planted/mixed").temperature == 0.6
    assert sampling(plan, "openai/o3-mini").temperature == 1.0
    assert sampling(plan, "openai/o3-mini").effort == "high"


def test_the_file_that_a_run_keeps_is_the_same_plan(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(TOML)
    plan = read(str(path))
    path.write_text(plan.toml)
    assert read(str(path)) == plan
    assert read(str(path)).hash == plan.hash


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ("modle = 1", "unknown key 'modle'; did you mean 'model'?"),
        ("digits = 1", "'digits' is a key of a [[cells]] table"),
        ("[[cells]]\nproblem = 1", "unknown key 'problem'; did you mean 'problems'?"),
        ("[models.x]\neffrt = 1", "unknown key 'effrt'; did you mean 'effort'?"),
        ('[models."planted/mixd"]\n', "did you mean 'planted/mixed'?"),
        ("n = 0", "n: 0 is below 1"),
        ('n = "many"', "Expected `int`, got `str`"),
        ('study = "ctp"', "unknown study 'ctp'; did you mean 'cpt'?"),
        ('controls = ["cleam"]', "unknown control 'cleam'; did you mean 'clean'?"),
        ('feed = "reasonings"', "did you mean 'reasoning'?"),
        ("seed = ", "Invalid"),
        ("temperature = inf", "temperature: inf is no number of 0 or more"),
        ("temperature = nan", "temperature: nan"),
        ("top_p = -1", "top_p: -1.0"),
    ],
)
def test_what_is_wrong_in_a_plan_is_named_in_one_line(
    tmp_path: Path, change: str, line: str
) -> None:
    path = tmp_path / "plan.toml"
    base = 'model = ["planted/mixed"]\n{}\n[[cells]]\nproblems = ["small"]\n'
    path.write_text(base.format("") + change if change.startswith("[") else base.format(change))
    with pytest.raises(UserError) as error:
        read(str(path))
    assert line in str(error.value)
    assert "\n" not in str(error.value)
    assert str(path) in str(error.value)


@pytest.mark.parametrize(
    ("axis", "value", "line"),
    [
        ("methods", "baselne", "unknown method 'baselne'; did you mean 'baseline'?"),
        ("perturbations", "digit", "unknown perturbation 'digit'; did you mean 'digits'?"),
        ("scope", "ending", "unknown scope 'ending'; did you mean 'endings'?"),
        ("place", "hihg", "unknown place 'hihg'; did you mean 'high'?"),
        ("structures", "intakt", "did you mean 'intact'?"),
        ("digits", "0", "digits: 0 is below 1"),
        ("digits", "1-", "is not a list of numbers"),
        ("digits", [], "digits: name at least one"),
        ("place", [-1], "place: -1 is no list of 1 different places"),
    ],
)
def test_an_unknown_name_on_an_axis_names_the_nearest(axis: str, value: object, line: str) -> None:
    with pytest.raises(UserError) as error:
        parse({"model": ["planted/mixed"], "cells": [{"problems": ["small"], axis: value}]})
    assert line in str(error.value)


def test_a_plan_needs_a_model_and_a_cell() -> None:
    with pytest.raises(UserError, match="model: name at least one"):
        parse({"model": [], "cells": [{"problems": ["small"]}]})
    with pytest.raises(UserError, match=r"at least one \[\[cells\]\]"):
        parse({"model": ["planted/mixed"], "cells": []})


def test_a_missing_plan_file_is_one_line() -> None:
    with pytest.raises(UserError, match=r"cannot read plan nowhere\.toml: No such file"):
        read("nowhere.toml")


def test_the_hash_is_of_what_is_asked() -> None:
    assert parse(plain()).hash == parse(plain(seed=0)).hash
    assert parse(plain()).hash != parse(plain(seed=1)).hash


@given(st.lists(st.integers(1, 50), min_size=1, max_size=6, unique=True))
def test_a_list_of_numbers_is_read_as_it_is_written(degrees: list[int]) -> None:
    assert numbers(",".join(map(str, degrees))) == tuple(degrees)


@given(st.text(max_size=30))
def test_any_text_as_digits_is_numbers_or_one_line(text: str) -> None:
    found: tuple[int, ...] = (0,)
    with suppress(UserError):
        found = numbers(text)
    assert found
    assert all(number >= 0 for number in found)


def test_every_field_of_a_plan_is_a_flag_or_stands_in_a_table() -> None:
    flags = set(inspect.signature(cpt).parameters)
    in_files = {"study", "cells", "models", "providers", "top_p", "top_k"}
    assert set(Plan.__struct_fields__) <= flags | in_files


def test_a_model_named_twice_is_asked_once() -> None:
    cell = {"problems": ["small"]}
    assert parse({"model": ["planted/mixed"] * 2, "cells": [cell]}).model == ("planted/mixed",)


def test_a_plan_of_any_depth_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text("a = " + "[" * 5000)
    with pytest.raises(UserError) as error:
        read(str(path))
    assert "\n" not in str(error.value)

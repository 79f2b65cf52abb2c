"""The command line as a whole: what it prints, what it leaves, and how it ends."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

import misled as package
from commands import fresh, misled

CPT = "cpt --model planted/mixed --problems addition:15+13 --n 12 --digits 1-2 --figures svg"
SMALL = "cpt --model planted/mixed --problems addition:15+13 --n 5 --digits 1 --figures none"


def one_line(done: subprocess.CompletedProcess[str], *words: str) -> None:
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("misled: ")
    for word in words:
        assert word in done.stderr


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    done = misled(f"{CPT} --run first", folder)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "R_CPT" in done.stdout
    assert "report: first/report.html" in done.stdout
    return folder / "first"


def test_a_run_leaves_tables_figures_plan_and_report(finished: Path) -> None:
    names = {path.relative_to(finished).as_posix() for path in finished.rglob("*")}
    assert {"report.html", "plan.toml", "misled.db", "tables/cpt.csv", "tables/net.md"} <= names
    drawn = {name for name in names if name.startswith("figures/")}
    assert {"figures/figure4-addition-15+13.svg", "figures/figure5-net.svg"} <= drawn
    assert {Path(name).suffix for name in drawn} == {".svg"}
    page = (finished / "report.html").read_text("utf-8")
    assert "One problem of this run, and its chain" in page
    assert "problem, of addition:15+13" in page
    assert not [name for name in names if name.endswith(".part")]


def test_report_gives_the_same_bytes_again(finished: Path) -> None:
    kept = {p: p.read_bytes() for d in ("tables", "figures") for p in (finished / d).iterdir()}
    kept[finished / "report.html"] = (finished / "report.html").read_bytes()
    assert fresh(f"report {finished} --figures svg", finished).returncode == 0
    assert {path: path.read_bytes() for path in kept} == kept


def test_lists_may_be_written_behind_one_option(tmp_path: Path) -> None:
    sets = "--problems addition:3+2 multiplication:2x2 --digits 1 --n 2"
    done = misled(f"cpt --model planted/mixed planted/vigilant {sets} --dry-run --json", tmp_path)
    assert done.returncode == 0, done.stderr
    cells = [json.loads(line) for line in done.stdout.splitlines()]
    assert {cell["target"] for cell in cells} == {"planted/mixed", "planted/vigilant"}
    assert {cell["set"] for cell in cells} == {"addition:3+2", "multiplication:2x2"}


def test_an_estimate_says_what_a_plan_would_cost(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(
        'model = ["planted/mixed"]\nn = 2\n[[cells]]\nproblems = ["addition:3+2"]\n', "utf-8"
    )
    done = misled("estimate plan.toml", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "8 requests" in done.stdout.splitlines()[-1]
    (bill,) = map(json.loads, misled("estimate plan.toml --json", tmp_path).stdout.splitlines())
    assert bill["requests"] == 8


def test_the_same_command_again_asks_nothing_and_gives_the_same(finished: Path) -> None:
    before = misled(f"status {finished} --json", finished).stdout
    again = misled(f"{CPT} --run first", finished.parent)
    assert again.returncode == 0
    assert misled(f"status {finished} --json", finished).stdout == before


def test_json_is_one_estimate_a_line_and_nothing_else(finished: Path) -> None:
    done = misled(f"report {finished} --json --figures none", finished)
    entries = [json.loads(line) for line in done.stdout.splitlines()]
    contract = "table study metric keys value low high n clusters method left_out"
    tested = {"p", "p_adjusted"}  # only of tests
    assert {frozenset(entry) - tested for entry in entries} == {frozenset(contract.split())}
    assert {entry["study"] for entry in entries} == {"cpt"}


def test_the_kept_plan_carries_the_run_out_again(finished: Path, tmp_path: Path) -> None:
    done = misled(
        f"run {finished / 'plan.toml'} --run copy --reuse {finished} --figures none", tmp_path
    )
    assert done.returncode == 0, done.stderr
    for name in ("cpt.csv", "net.csv"):
        assert (tmp_path / "copy/tables" / name).read_bytes() == (
            finished / "tables" / name
        ).read_bytes()
    verified = misled("verify copy", tmp_path)
    assert verified.returncode == 0
    assert "nothing is damaged" in verified.stdout


def test_trials_are_exported_in_every_format(finished: Path, tmp_path: Path) -> None:
    for name in ("parquet", "csv", "jsonl"):
        done = misled(f"export {finished} --to {name} --out {tmp_path / name}", tmp_path)
        assert done.returncode == 0, done.stderr
    frame = pl.read_parquet(tmp_path / "parquet")
    assert frame.height == pl.read_csv(tmp_path / "csv").height
    assert frame.height == len((tmp_path / "jsonl").read_text().splitlines())
    assert frame.equals(package.rows(finished))


def test_a_dry_run_prints_the_first_prompt_of_every_cell_and_asks_nothing(tmp_path: Path) -> None:
    done = misled(f"{CPT} --methods baseline,prefix --dry-run --json", tmp_path)
    prompts = [json.loads(line) for line in done.stdout.splitlines()]
    cells = [(p["arm"], p.get("method"), p.get("d_t")) for p in prompts]
    assert cells.count(("tampered", "prefix", 2)) == 1
    assert all(prompt["messages"] for prompt in prompts)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--model planed/mixed --problems small", ("planed", "planted")),
        ("--model planted/mixd --problems small", ("mixd", "mixed")),
        ("--model smollm2 --problems small", ("smollm2", "PROVIDER/MODEL")),
        ("--model planted/mixed --problems adition:3+3", ("adition", "addition")),
        ("--model planted/mixed --problems addition:3x3", ("addition:3x3",)),
        ("--model planted/mixed --problems small --methods baseline,prefx", ("prefx", "prefix")),
        ("--model planted/mixed --problems small --n 900", ("57", "900")),
        ("--model planted/mixed --problems small --digits 3", ("digits", "2")),
        ("--model planted/mixed --problems small --place 7", ("place", "1")),
        ("--model planted/mixed --problems small --place 0,0 --digits 2", ("place", "2")),
        ("--model planted/mixed --problems small --temperature inf", ("temperature", "inf")),
        ("--model planted/mixed --problems file:no.jsonl", ("no.jsonl",)),
        ("--model planted/mixed --problems file:\x1b[2Jno\u202e", ("⟨U+001B⟩[2Jno⟨U+202E⟩",)),
        ("--model planted/mixed --problems my.jsonl", ("file:my.jsonl",)),
        ("--model planted/mixed --problems small --prompts no.toml", ("no.toml",)),
        ("--model planted/mixed --problems small --reuse nowhere", ("nowhere",)),
        ("--model openai/o3-mini --problems small", ("OPENAI_API_KEY",)),
        ("--model local/none.gguf --problems small", ("none.gguf",)),
    ],
)
def test_what_cannot_start_is_one_line_that_names_the_fix(
    tmp_path: Path, options: str, words: tuple[str, ...]
) -> None:
    clean = {key: value for key, value in os.environ.items() if not key.endswith("_API_KEY")}
    done = misled(f"cpt {options} --run r", tmp_path, env=clean)
    one_line(done, *words)
    assert done.stdout == ""


def test_a_server_that_is_not_there_ends_the_run_at_once(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    done = misled(
        f"cpt --model vllm/m --base-url http://127.0.0.1:{port}/v1 --problems small --run r",
        tmp_path,
    )
    one_line(done, f"127.0.0.1:{port}", "is the server running?")
    assert '"failures":{}' in misled("status r --json", tmp_path).stdout


def test_a_directory_of_another_plan_is_refused_and_named(finished: Path) -> None:
    done = misled(f"{CPT} --seed 1 --run first", finished.parent)
    one_line(done, "first", "another plan", "seed")


def test_a_directory_where_nothing_was_answered_takes_another_plan(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    base = f"--base-url http://127.0.0.1:{port}/v1 --problems addition:15+13 --n 2 --run r"
    one_line(misled(f"cpt --model vllm/m {base}", tmp_path), "is the server running?")
    small = "cpt --model planted/mixed --problems small --n 2 --figures none --run r"
    assert misled(small, tmp_path).returncode == 0


def test_the_kept_plan_goes_on_with_its_own_run(tmp_path: Path) -> None:
    assert misled(f"{SMALL} --max-requests 5 --run r", tmp_path).returncode == 0
    assert misled("run r/plan.toml --figures none", tmp_path).returncode == 0
    assert not (tmp_path / "runs").exists()
    assert "not finished" not in (tmp_path / "r/report.html").read_text()


def test_a_report_says_that_its_run_is_not_finished(tmp_path: Path) -> None:
    done = misled(f"{SMALL} --max-requests 10 --run r", tmp_path)
    assert "are not finished" in done.stderr
    assert misled("report r --figures none", tmp_path).returncode == 0
    assert "not finished" in (tmp_path / "r/report.html").read_text()


def test_a_damaged_answer_is_not_reused(finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished, tmp_path / "bad")
    with sqlite3.connect(tmp_path / "bad/misled.db") as db:
        db.execute("UPDATE answers SET body = replace(body, '1', '7') WHERE rowid = 3")
    db.close()
    one_line(misled("report bad", tmp_path), "damaged")
    one_line(misled("verify bad --json", tmp_path), "1 entries", "--reuse")
    done = misled(f"{CPT} --run good --reuse bad", tmp_path)
    assert done.returncode == 0, done.stderr
    for table in (tmp_path / "good/tables").iterdir():
        assert table.read_bytes() == (finished / "tables" / table.name).read_bytes()


def test_prompts_that_changed_since_the_run_began_are_noticed(tmp_path: Path) -> None:
    words = tmp_path / "words.toml"
    words.write_text('[cpt]\nuncertainty = "Here is {thought}, which may be wrong."\n')
    command = f"{SMALL} --prompts words.toml --run r"
    assert misled(command, tmp_path).returncode == 0
    words.write_text('[cpt]\nuncertainty = "Here is {thought}, which could be wrong."\n')
    one_line(misled(command, tmp_path), "other prompts")
    words.unlink()
    assert misled("report r --figures none", tmp_path).returncode == 0


def test_a_damaged_store_is_named_and_never_reported(finished: Path, tmp_path: Path) -> None:
    copy = tmp_path / "r"
    copy.mkdir()
    data = bytearray((finished / "misled.db").read_bytes())
    (copy / "misled.db").write_bytes(data[: len(data) // 3])
    for command in ("report r", "verify r", f"{CPT} --run r"):
        one_line(misled(command, tmp_path), "misled.db")
    (copy / "misled.db").write_bytes(b"no database")
    one_line(misled("report r", tmp_path), "misled.db")
    one_line(misled("report nowhere", tmp_path), "nowhere")


def test_a_problem_file_with_bad_records_goes_on_without_them_and_exits_1(tmp_path: Path) -> None:
    lines = [
        {"id": "a", "question": "What is 123456 + 654321?", "gold": "777777"},
        {"id": "a", "question": "What is 1 + 1?", "gold": "2"},
        {"id": "b", "question": "Who?", "gold": "Ada"},
        {"id": "c", "question": "What is 5 + 5?"},
        {"id": "d", "question": "What is 223456 + 554321?", "answer": ["777,777"]},
    ]
    file = tmp_path / "items.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines) + "not json\n")
    done = misled(
        "cpt --model planted/vigilant --problems file:items.jsonl --n 9 --figures none --run r",
        tmp_path,
    )
    assert done.returncode == 1, done.stderr
    assert done.stderr.count("left out") == 4
    assert package.rows(tmp_path / "r").filter(pl.col("arm") == "source").height == 2
    assert "items left out of problem files" in (tmp_path / "r/report.html").read_text()


def test_a_budget_stops_the_run_says_so_and_the_same_command_goes_on(
    finished: Path, tmp_path: Path
) -> None:
    done = misled(f"{CPT} --max-requests 20 --run r", tmp_path)
    assert done.returncode == 0
    assert "--max-requests 20 is spent" in done.stderr
    status = json.loads(misled("status r --json", tmp_path).stdout)
    assert status["responses"] == 20
    assert misled(f"{CPT} --run r", tmp_path).returncode == 0
    for table in (finished / "tables").iterdir():
        assert table.read_bytes() == (tmp_path / "r/tables" / table.name).read_bytes()


def test_a_token_budget_is_kept(tmp_path: Path) -> None:
    done = misled(f"{SMALL} --n 12 --max-tokens-total 2000 --run r", tmp_path)
    assert done.returncode == 0
    assert "--max-tokens-total 2000 is spent" in done.stderr


def test_a_disk_that_is_full_is_one_line_and_what_was_answered_is_kept(tmp_path: Path) -> None:
    def cramped() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))

    done = fresh(f"{SMALL} --n 40 --run r", tmp_path, preexec_fn=cramped)
    one_line(done, "misled.db", "free space")
    assert misled(f"{SMALL} --n 40 --run r", tmp_path).returncode == 0
    assert misled("verify r", tmp_path).returncode == 0


def test_a_directory_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    one_line(misled(f"{CPT} --run file/r", tmp_path), "file/r", "--run")


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_an_interrupt_exits_130_and_the_run_can_go_on(tmp_path: Path) -> None:
    command = f"{CPT.replace('--n 12', '--n 400')} --run r".split()
    process = subprocess.Popen(
        [sys.executable, "-m", "misled", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not (tmp_path / "r/misled.db-wal").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert errors == "misled: interrupted; run the same command again to go on\n"
    assert misled("verify r", tmp_path).returncode == 0


def test_no_key_of_the_environment_is_written_anywhere(tmp_path: Path) -> None:
    secret = "sk-do-not-write-me-anywhere"
    environment = os.environ | {"OPENAI_API_KEY": secret, "VLLM_API_KEY": secret}
    done = misled(f"{SMALL} --run r", tmp_path, env=environment)
    assert done.returncode == 0
    for path in (tmp_path / "r").rglob("*"):
        assert path.is_dir() or secret.encode() not in path.read_bytes()


def test_version_and_an_unknown_command() -> None:
    done = fresh("--version", Path.cwd())
    assert done.stdout == f"misled {package.__version__}\n"
    assert "tamper" in misled("", Path.cwd()).stdout
    one_line(misled("spilt", Path.cwd()), "spilt")
    one_line(misled("split --foo", Path.cwd()), "--foo")
    one_line(misled("tamper --digits many", Path.cwd()), "--digits", "integer")
    one_line(misled("cpt --problems small", Path.cwd()), "--model")


def test_python_offers_the_same(tmp_path: Path) -> None:
    plan = package.plan(
        model=["planted/mixed"], n=6, cells=[{"problems": ["addition:15+13"], "digits": [1]}]
    )
    directory = package.run(plan, tmp_path / "r", max_requests=300)
    assert package.rows(directory)["arm"].unique().sort().to_list() == [
        *("again", "clean", "gate", "source", "tampered")
    ]
    assert package.tables(directory).filter(pl.col("metric") == "r_cpt").height > 0
    tampered = package.tamper("17 + 25 = 42. So the answer is 42.", d_t=1)
    assert isinstance(tampered.result, str)
    assert package.split("<think>a</think>b").answer == "b"
    assert package.grade("42", "42").outcome == "recovered"

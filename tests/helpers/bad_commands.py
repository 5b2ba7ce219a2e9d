"""Command lines with mistakes of strangers, and the words that the one line about them must hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.helpers.bad_files import GOOD


@dataclass(frozen=True)
class BadCommand:
    """A command line with a mistake, and the files that it is about."""

    line: tuple[str, ...]
    words: tuple[str, ...]
    files: Mapping[str, str | bytes] = field(default_factory=dict)


def command(line: str, *words: str, **files: str | bytes) -> BadCommand:
    """Return a command line, whose arguments are separated by spaces; ``__`` in the name of a file is a dot."""
    return BadCommand(tuple(line.split()), words, {name.replace("__", "."): text for name, text in files.items()})


SQLITE = b"SQLite format 3\x00" + bytes(84)
LM_EVAL = '{"doc_id": 0, "doc": {"question": "Hi"}, "target": "a", "resps": [["a"]], "filtered_resps": ["a"]}\n'

BAD_COMMANDS: dict[str, BadCommand] = {
    # Before any run.
    "report-before-any-run": command("report latest", ".fairness/store.sqlite", "pytest"),
    "history-before-any-run": command("history", ".fairness/store.sqlite", "pytest"),
    "compare-before-any-run": command("compare latest", ".fairness/store.sqlite", "pytest"),
    "items-before-any-run": command("items latest --grade ok", ".fairness/store.sqlite", "pytest"),
    "prune-before-any-run": command("prune --older-than 90d", ".fairness/store.sqlite", "pytest"),
    "export-before-any-run": command("export parquet latest --out out.parquet", ".fairness/store.sqlite", "pytest"),
    "accept-before-any-run": command(
        "accept latest t --reason r --by me --until 2027-01-01", ".fairness/store.sqlite", "pytest"
    ),
    # Runs and stores.
    "report-missing-run": command("report", "RUN"),
    "report-missing-store": command("report latest --store nowhere.sqlite", "nowhere.sqlite"),
    "report-empty-store": command("report latest --store a.sqlite", "a.sqlite", a__sqlite=b""),
    "report-text-store": command("report latest --store a.sqlite", "a.sqlite", a__sqlite="hello\n" * 50),
    "report-corrupt-store": command("report latest --store a.sqlite", "a.sqlite", a__sqlite=SQLITE),
    "report-folder-store": command("report latest --store .", "store .", "folder"),
    "report-json-store": command("report latest --store a.json", "a.json", a__json="{}"),
    "report-url-store": command("report latest --store https://example.org/store", "https://", "postgresql"),
    "report-mysql-store": command("report latest --store mysql://root@localhost/a", "mysql", "postgresql"),
    "history-results-not-json": command("history a.json", "a.json", a__json="hello"),
    "history-results-other-json": command("history a.json", "a.json", a__json='{"tests": []}'),
    "history-results-list": command("history a.json", "a.json", a__json="[]"),
    "history-results-cut": command("history a.json", "a.json", a__json='{"schema": 1, "thresh'),
    "history-results-missing": command("history gone.json", "gone.json"),
    "history-empty-folder": command("history empty", "empty", empty__keep=""),
    "history-last-zero": command("history --last 0", "0"),
    "history-last-text": command("history --last many", "many"),
    "history-last-negative": command("history --last=-3", "-3"),
    "compare-nothing": command("compare", "RUN"),
    "compare-not-json": command("compare a.json b.json", "a.json", a__json="x", b__json="y"),
    "compare-other-json": command("compare a.json b.json", "a.json", a__json="{}", b__json="{}"),
    "compare-missing": command("compare a.json b.json", "a.json"),
    "report-markdown-limit": command("report latest --markdown-limit 5", "5", "2,000"),
    "prune-age": command("prune --older-than 3months", "3months", "30d"),
    "prune-age-number": command("prune --older-than 90", "'90'", "30d"),
    "prune-nothing": command("prune", "--older-than"),
    "merge-no-out": command("merge a.sqlite b.sqlite", "--out"),
    "merge-missing": command("merge a.sqlite b.sqlite --out c.sqlite", "a.sqlite"),
    "merge-one-is-text": command("merge a.sqlite --out c.sqlite", "a.sqlite", a__sqlite="text"),
    "merge-onto-itself": command("merge a.sqlite --out a.sqlite", "a.sqlite", a__sqlite=b""),
    "accept-date": command("accept latest t --reason r --by me --until tomorrow", "tomorrow", "2"),
    "accept-german-date": command("accept latest t --reason r --by me --until 31.12.2026", "31.12.2026"),
    "accept-no-reason": command("accept latest t --by me --until 2027-01-01", "--reason"),
    # Commands.
    "no-command": command("", "COMMAND"),
    "unknown-command": command("reprot", "reprot"),
    "run-as-command": command("run suites/bbq", "run"),
    "test-as-command": command("test suites/bbq", "test"),
    "unknown-option": command("report latest --out page.html", "--out"),
    "list-unknown": command("list grader", "grader", "graders"),
    "new-bad-name": command("new my-suite!", "my-suite!"),
    "new-number": command("new 1st", "1st"),
    "new-existing": command("new taken", "taken", taken__txt=""),
    "export-unknown": command("export csv latest out.csv", "csv"),
    "import-unknown": command("import deepeval a.json", "deepeval"),
    "audit-unknown": command("audit nyt DIR", "nyt"),
    "audit-missing": command("audit bloomberg gone", "gone"),
    "audit-empty-folder": command("audit bloomberg empty", "empty", empty__keep=""),
    "design-objective": command("design --objective best", "best", "target"),
    "design-iterations": command("design --iterations 0", "0"),
    "design-accuracy": command("design --accuracy 80%", "80%"),
    "design-designer": command("design --designer gpt", "gpt"),
    # Imports of the wrong kind.
    "lm-eval-missing": command("import lm-eval gone.jsonl --out t.jsonl", "gone.jsonl"),
    "lm-eval-empty": command("import lm-eval a.jsonl --out t.jsonl", "a.jsonl", a__jsonl=""),
    "lm-eval-text": command("import lm-eval a.jsonl --out t.jsonl", "a.jsonl", a__jsonl="hello\n"),
    "lm-eval-promptfoo": command(
        "import lm-eval a.json --out t.jsonl", "a.json", a__json='{"results": {"results": []}}'
    ),
    "lm-eval-results-file": command(
        "import lm-eval results.json --out t.jsonl",
        "results.json",
        "samples",
        results__json='{"results": {"bbq": {"acc,none": 0.5}}, "configs": {}}',
    ),
    "lm-eval-cut": command("import lm-eval a.jsonl --out t.jsonl", "a.jsonl", a__jsonl=LM_EVAL + LM_EVAL[:30]),
    "lm-eval-folder-empty": command("import lm-eval empty --out t.jsonl", "empty", empty__keep=""),
    "inspect-missing": command("import inspect gone.eval --out t.jsonl", "gone.eval"),
    "inspect-text": command("import inspect a.eval --out t.jsonl", "a.eval", a__eval="hello"),
    "inspect-json-other": command("import inspect a.json --out t.jsonl", "a.json", a__json='{"results": []}'),
    "inspect-empty": command("import inspect a.json --out t.jsonl", "a.json", a__json=""),
    "inspect-cut": command("import inspect a.json --out t.jsonl", "a.json", a__json='{"version": 2, "eval": {"task":'),
    "inspect-zip-cut": command("import inspect a.eval --out t.jsonl", "a.eval", a__eval=b"PK\x03\x04" + bytes(40)),
    "promptfoo-missing": command("import promptfoo gone.json --out t.jsonl", "gone.json"),
    "promptfoo-text": command("import promptfoo a.json --out t.jsonl", "a.json", a__json="hello"),
    "promptfoo-config": command(
        "import promptfoo a.yaml --out t.jsonl", "a.yaml", a__yaml="prompts: [Hi]\nproviders: [openai:gpt-5]\n"
    ),
    "promptfoo-empty-list": command("import promptfoo a.json --out t.jsonl", "a.json", a__json="[]"),
    "promptfoo-cut": command(
        "import promptfoo a.json --out t.jsonl", "a.json", a__json='{"results": {"results": [{"response"'
    ),
    "promptfoo-lm-eval": command("import promptfoo a.jsonl --out t.jsonl", "a.jsonl", a__jsonl=LM_EVAL),
    "batch-text": command("import openai-batch a.jsonl --input a.jsonl --out r.jsonl", "a.jsonl", a__jsonl="hello\n"),
    "batch-requests": command(
        "import openai-batch a.jsonl --input a.jsonl --out r.jsonl",
        "a.jsonl",
        a__jsonl='{"custom_id": "1", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "gpt-5"}}\n',
    ),
    "every-eval-ever-text": command("import every-eval-ever a.jsonl --out t.jsonl", "a.jsonl", a__jsonl="hello\n"),
    "import-folder": command("import promptfoo . --out t.jsonl", "."),
    "import-no-file": command("import lm-eval", "required"),
    # vary.
    "vary-missing": command("vary gone.txt", "gone.txt"),
    "vary-empty": command("vary a.txt", "a.txt", a__txt=""),
    "vary-binary": command("vary a.bin", "a.bin", a__bin=bytes(range(256))),
    "vary-excel": command("vary a.xlsx", "a.xlsx", a__xlsx=b"PK\x03\x04" + bytes(99)),
    "vary-language": command("vary a.txt --language german", "german", "de", a__txt="She likes her job.\n"),
    "vary-language-capital": command("vary a.txt --language EN", "EN", "en", a__txt="She likes her job.\n"),
    "vary-latin-1": command("vary a.txt", "a.txt", "UTF-8", a__txt="Zo\u00eb likes her job.\n".encode("latin-1")),
    "vary-jsonl-broken": command("vary a.jsonl", "a.jsonl:2", a__jsonl='{"prompt": "She came."}\n{prompt: x}\n'),
    "vary-out-folder": command("vary a.txt --out .", ". is a folder", a__txt="She likes her job.\n"),
    "vary-folder-without-suite": command("vary empty", "empty", empty__keep=""),
}


def run(line: str, *words: str, **files: str | bytes) -> BadCommand:
    """Return a command line of pytest beside a good suite."""
    return command(line, *words, **{"pay__probe__yaml": GOOD, **files})


SIMULATED = "--fairness-model simulated:demo"
INI = "[pytest]\n"
TOML = "[tool.pytest-fairness.models]\n"

BAD_RUNS: dict[str, BadCommand] = {
    "no-model": run("", "--fairness-model"),
    "model-without-provider": run("--fairness-model gpt-5", "'gpt-5'"),
    "model-slash": run("--fairness-model openai/gpt-5", "'openai/gpt-5'"),
    "model-url": run("--fairness-model http://localhost:8000", "http://localhost:8000"),
    "model-import-path": run("--fairness-model my_app:reply", "my_app"),
    "model-dotted-path": run("--fairness-model shop.bot:chat", "shop.bot"),
    "model-empty": run("--fairness-model=", "--fairness-model"),
    "model-colon-alone": run("--fairness-model openai:", "openai:"),
    "model-capital": run("--fairness-model OpenAI:gpt-5", "OpenAI", "openai"),
    "model-parameter": run("--fairness-model openai:gpt-5?temprature=0", "temprature", "temperature"),
    "model-parameter-text": run("--fairness-model openai:gpt-5?temperature=low", "low"),
    "model-comma-parameter": run("--fairness-model openai:gpt-5?temperature=0,5", "0,5"),
    "model-two-in-one": run("--fairness-model openai:gpt-5,openai:gpt-4", "openai:gpt-5,openai:gpt-4"),
    "simulated-base": run("--fairness-model simulated:demo?base=5", "5"),
    "simulated-base-percent": run("--fairness-model simulated:demo?base=50%", "50%"),
    "service-missing": run("--fairness-model http:gone.toml", "gone.toml"),
    "service-no-toml": run("--fairness-model http:bot.toml", "bot.toml", bot__toml="url: http://x\n"),
    "service-empty": run("--fairness-model http:bot.toml", "bot.toml", "url", bot__toml=""),
    "service-typo": run(
        "--fairness-model http:bot.toml", "bot.toml", "ulr", bot__toml='ulr = "http://127.0.0.1:9/x"\n'
    ),
    "service-url-number": run("--fairness-model http:bot.toml", "bot.toml", "8000", bot__toml="url = 8000\n"),
    "service-url-without-scheme": run(
        "--fairness-model http:bot.toml",
        "localhost:8000/chat",
        bot__toml='url = "localhost:8000/chat"\nanswer = "reply"\n[body]\nmessage = "{prompt}"\n',
    ),
    "service-json": run("--fairness-model http:bot.toml", "bot.toml", bot__toml='{"url": "http://x"}\n'),
    "service-latin-1": run(
        "--fairness-model http:bot.toml", "bot.toml", "UTF-8", bot__toml="# Zo\u00eb\n".encode("latin-1")
    ),
    "service-duplicate": run(
        "--fairness-model http:bot.toml", "bot.toml", bot__toml='url = "http://x"\nurl = "http://y"\n'
    ),
    "service-smart-quotes": run("--fairness-model http:bot.toml", "bot.toml", bot__toml="url = \u201chttp://x\u201d\n"),
    "service-name": run("--fairness-model http:shop", "shop"),
    "alias-unknown": run("--fairness-model prod", "prod", pyproject__toml=TOML + 'production = "simulated:demo"\n'),
    "alias-number": run("--fairness-model prod", "prod", pyproject__toml=TOML + "prod = 5\n"),
    "alias-circle": run("--fairness-model prod", "prod", pyproject__toml=TOML + 'prod = "prod"\n'),
    "alias-empty": run("--fairness-model prod", "prod", pyproject__toml=TOML + 'prod = ""\n'),
    "alias-table-underscore": run(
        "--fairness-model prod",
        "pytest_fairness",
        "pytest-fairness",
        pyproject__toml='[tool.pytest_fairness.models]\nprod = "simulated:demo"\n',
    ),
    "alias-table-singular": run(
        "--fairness-model prod",
        "prod",
        "models",
        pyproject__toml='[tool.pytest-fairness.model]\nprod = "simulated:demo"\n',
    ),
    "replay-missing": run("--fairness-model replay:gone.jsonl", "gone.jsonl"),
    "replay-broken": run(
        "--fairness-model replay:a.jsonl", "a.jsonl", a__jsonl='{"prompt": "x", "answer": "y"}\n{"pro\n'
    ),
    "replay-empty": run("--fairness-model replay:a.jsonl", "a.jsonl", a__jsonl=""),
    "replay-csv": run("--fairness-model replay:a.csv", "a.csv", a__csv="prompt,answer\nx,y\n"),
    "sample-percent": run(f"{SIMULATED} --fairness-sample 20%", "20%"),
    "sample-exponent": run(f"{SIMULATED} --fairness-sample 1e", "1e"),
    "sample-zero": run(f"{SIMULATED} --fairness-sample 0", "0"),
    "sample-negative": run(f"{SIMULATED} --fairness-sample=-5", "-5"),
    "sample-text": run(f"{SIMULATED} --fairness-sample all", "all"),
    "budget-text": run(f"{SIMULATED} --fairness-budget cheap", "cheap"),
    "budget-negative": run(f"{SIMULATED} --fairness-budget=-5", "-5"),
    "budget-euro": run(f"{SIMULATED} --fairness-budget 5\u20ac", "5\u20ac"),
    "budget-comma": run(f"{SIMULATED} --fairness-budget 2,50", "2,50"),
    "seed-text": run(f"{SIMULATED} --fairness-seed x", "x"),
    "concurrency-float": run(f"{SIMULATED} --fairness-concurrency 1.5", "1.5"),
    "concurrency-zero": run(f"{SIMULATED} --fairness-concurrency 0", "0"),
    "repetitions-zero": run(f"{SIMULATED} --fairness-repetitions 0", "0"),
    "repetitions-text": run(f"{SIMULATED} --fairness-repetitions ten", "ten"),
    "shard-large": run(f"{SIMULATED} --fairness-shard 3/2", "3/2"),
    "shard-zero": run(f"{SIMULATED} --fairness-shard 0/2", "0/2"),
    "shard-text": run(f"{SIMULATED} --fairness-shard first", "first"),
    "shard-one-number": run(f"{SIMULATED} --fairness-shard 2", "2"),
    "shard-of": run(f"{SIMULATED} --fairness-shard 1of2", "1of2"),
    "profile-typo": run(f"{SIMULATED} --fairness-profile smok", "smok", "smoke"),
    "profile-empty": run(f"{SIMULATED} --fairness-profile=", "--fairness-profile"),
    "max-age-number": run(f"{SIMULATED} --fairness-max-age 30", "30", "30d"),
    "max-age-word": run(f"{SIMULATED} --fairness-max-age 1month", "1month"),
    "where-no-value": run(f"{SIMULATED} --fairness-where gender", "gender", "="),
    "where-unknown": run(f"{SIMULATED} --fairness-where sex=female", "sex"),
    "where-group": run(f"{SIMULATED} --fairness-where gender=women", "gender", "group"),
    "where-colon": run(f"{SIMULATED} --fairness-where gender:female", "gender:female", "="),
    "store-folder": run(f"{SIMULATED} --fairness-store .", "is a folder"),
    "store-text-file": run(f"{SIMULATED} --fairness-store a.sqlite", "a.sqlite", a__sqlite="hello " * 99),
    "store-url": run(f"{SIMULATED} --fairness-store redis://localhost", "redis"),
    "baseline-missing": run(f"{SIMULATED} --fairness-baseline gone", "pytest"),
    "json-folder": run(f"{SIMULATED} --fairness-json .", "--fairness-json", "folder"),
    "env-file-missing": run(f"{SIMULATED} --fairness-env-file gone.env", "gone.env"),
    "option-typo": run("--fairness-modle simulated:demo", "--fairness-modle"),
    "option-singular": run(f"{SIMULATED} --fairness-repetition 3", "--fairness-repetition"),
    "ini-number": run(SIMULATED, "many", pytest__ini=INI + "fairness_repetitions = many\n"),
    "ini-typo": run(
        SIMULATED, "fairness_repetition", "fairness_repetitions", pytest__ini=INI + "fairness_repetition = 3\n"
    ),
    "ini-shard": run(SIMULATED, "x/y", pytest__ini=INI + "fairness_shard = x/y\n"),
    "ini-model": run("", "gpt", pytest__ini=INI + "fairness_model = gpt\n"),
    "toml-broken": run(SIMULATED, "pyproject.toml", pyproject__toml="[tool.pytest-fairness\n"),
    "toml-table-is-text": run(SIMULATED, "models", pyproject__toml='[tool.pytest-fairness]\nmodels = "openai:gpt-5"\n'),
    "accepted-broken": run(SIMULATED, "fairness-accepted.toml", **{"fairness-accepted__toml": "[[accepted\n"}),
    "accepted-typo": run(
        SIMULATED, "fairness-accepted.toml", **{"fairness-accepted__toml": '[[accepted]]\nthreshhold = "x"\n'}
    ),
    "certify-before-any-run": run("--fairness-certify latest", "pytest"),
    "verify-missing": run("--fairness-verify gone.json", "gone.json"),
    "verify-other-json": run("--fairness-verify a.json", "a.json", a__json="{}"),
    "missing-path": command("gone.probe.yaml --fairness-model simulated:demo", "gone.probe.yaml"),
}

"""The league of records: public audits judged again and models that were measured, on one page.

    python -m tests.helpers.league page DATA reports/league.html
    python -m tests.helpers.league keep results.json reports/league

``DATA`` has a folder for each audit that is to be on the page: named as the audit, as its repository, or as in
`FOLDERS`. The page names those that are missing. ``keep`` writes what the page shows of a run. No text of an answer is
written.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from pytest_fairness import FairnessError, Verdict
from pytest_fairness.extending import RunResults, json_text, read_document, write_text
from pytest_fairness.records.audits.audit import Audit, chart, judge
from pytest_fairness.records.audits.public_audits import AUDITS

FOLDERS: Mapping[str, Sequence[str]] = {
    "assessments": ("hiring/scores",),
    "dialect": ("reward_models", "evidence/reward_models"),
    "open-bbq": ("open_bbq", "evidence/open_bbq"),
}
"""Other folders of an audit, named neither as it is nor as its repository."""
ITEMS = ("bbq/items", "bbq/data", "BBQ/data")
"""BBQ's own questions, which the repository of Open-BBQ lacks."""
MEASURED = Path(__file__).parents[2] / "reports" / "league"
"""The folder of measured models: a file for each."""
_VERDICTS = tuple(verdict.value for verdict in (Verdict.UNFAIR, Verdict.INVALID, Verdict.UNDECIDED, Verdict.FAIR))

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>League of public records</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; color: #1b1f24; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; } svg { max-width: 100%; height: auto; }
th, td { text-align: left; padding: .2rem .9rem .2rem 0; border-bottom: 1px solid #e3e6ea; vertical-align: top; }
td.number, th.number { text-align: right; } code { font-size: 13px; }
div { overflow-x: auto; }
.unfair, .differs { color: #b42318; } .fair { color: #1a7f37; }
summary { cursor: pointer; margin: 1rem 0 .5rem; }
</style></head><body>
<h1>League of public records</h1>
<p>Published figures of language and reward models, computed again from the publishers' own answers, and judged by
interval. A figure is <em>unfair</em> if its whole 95% interval lies beyond the bound, <em>fair</em> if it lies within,
<em>undecided</em> if it crosses the bound: the record is too small. It is <em>invalid</em> if too many answers could
not be read. A record has no control: <em>fair</em> does not show that the model follows what it reads.</p>
<div><table><thead><tr><th>record</th><th class="number">figures</th><th>published, met to the digit</th>
<th class="number">beyond the bound</th>{{ heads() }}</tr></thead><tbody>
{% for name, command, audit in judged %}<tr><td><a href="#{{ name }}">{{ audit.about.title }}</a></td>
<td class="number">{{ audit.figures|length }}</td><td>{{ met(audit) }}</td>
<td class="number">{{ audit.figures|selectattr("breach")|list|length }}</td>
{{ counts(audit.figures|map(attribute="judged.verdict")) }}</tr>
{% endfor %}</tbody></table></div>
{% if missing %}<p>Not here, for want of their folder: {{ missing|join(", ") }}.</p>{% endif %}
<h2>Models measured by the suites</h2>
{% if measured %}<div><table><thead><tr><th>model</th><th>day</th><th>profile</th><th class="number">answers</th>
<th class="number">ungraded</th><th class="number">cost (USD)</th><th class="number">thresholds</th>{{ heads() }}</tr>
</thead><tbody>
{% for run in measured %}<tr><td><a href="#{{ run.name }}">{{ run.model }}</a></td><td>{{ run.day }}</td>
<td>{{ run.profile }}</td><td class="number">{{ run.attempts }}</td><td class="number">{{ run.ungraded }}</td>
<td class="number">{{ "-" if run.cost is none else "%.2f"|format(run.cost) }}</td>
<td class="number">{{ run.thresholds|length }}</td>{{ counts(run.thresholds|map(attribute="verdict")) }}</tr>
{% endfor %}</tbody></table></div>{% else %}<p>None: no run was kept.</p>{% endif %}
<p><code>make league-model</code> measures SmolLM2 (135 million parameters) on this machine. With a key,
<code>make league-model MODEL=openai:NAME</code> prints what a hosted model would cost, and asks nothing;
<code>make league-model MODEL=openai:NAME BUDGET=10</code> measures it for at most ten dollars.</p>
{% for name, command, audit in judged %}
<h2 id="{{ name }}">{{ audit.about.title }}</h2>
<p>{{ audit.about.figure[0]|upper }}{{ audit.about.figure[1:] }}. Our rule: {{ audit.rule }}. The publisher:
{{ audit.about.publisher }}. Source: <a href="{{ audit.about.source }}">{{ audit.about.source.rpartition("/")[2] }}</a>.
<code>{{ command }}</code></p>
<div>{{ picture(audit) }}</div>
<ul>{% for line in audit.summary() %}<li>{{ line }}</li>{% endfor %}</ul>
<details><summary>All {{ audit.figures|length }} figures</summary>
<div><table><thead><tr><th>figure</th><th class="number">published</th><th class="number">by its rule</th>
<th>beyond our bound</th><th>ours (95% interval)</th><th>verdict</th></tr></thead><tbody>
{% for figure in audit.figures %}<tr><td>{{ figure.name }}</td>
<td class="number">{{ number(figure.published) }}{% if figure.is_equal == false %}
<span class="differs">differs</span>{% endif %}</td>
<td class="number">{{ number(figure.value) }}</td>
<td>{{ "yes" if figure.breach else "no" }}</td><td>{{ number(figure.judged.value) }}
({{ number(figure.judged.low) }} to {{ number(figure.judged.high) }})</td>
<td class="{{ figure.judged.verdict }}">{{ figure.judged.verdict }}</td></tr>
{% endfor %}</tbody></table></div></details>
{% endfor %}
{% for run in measured %}
<h2 id="{{ run.name }}">{{ run.model }}</h2>
<p><code>{{ run.command }}</code></p>
<div><table><thead><tr><th>threshold</th><th class="number">ours</th><th>interval</th><th>bounds</th><th>verdict</th>
<th>reason</th></tr></thead><tbody>
{% for row in run.thresholds %}<tr><td>{{ row.suite }}: {{ row.threshold }}</td>
<td class="number">{{ number(row.estimate) }}</td><td>{{ number(row.low) }} to {{ number(row.high) }}
{% if row.confidence %}({{ "%.1f"|format(100 * row.confidence) }}%){% endif %}</td>
<td>{{ row.bounds }}</td><td class="{{ row.verdict }}">{{ row.verdict }}</td><td>{{ row.reason }}</td></tr>
{% endfor %}</tbody></table></div>
{% endfor %}
</body></html>
"""


def page(data: Path, measured: Path = MEASURED) -> str:
    """Return the page of the records in a folder, and of the runs that were kept."""
    there = {name: folder for name in AUDITS if (folder := _folder(data, name))}
    if not there:
        raise FairnessError(f"{data} has none of the folders {', '.join(AUDITS)}")
    template = Environment(autoescape=True, trim_blocks=False).from_string(_PAGE)
    return template.render(
        judged=[_judge(data, name, folder) for name, folder in there.items()],
        missing=[name for name in AUDITS if name not in there],
        measured=[{"name": path.stem, **read_document(path, "a kept run")} for path in sorted(measured.glob("*.json"))],
        met=_met,
        heads=lambda: Markup("").join(Markup('<th class="number">{}</th>').format(verdict) for verdict in _VERDICTS),
        counts=_counts,
        picture=lambda audit: Markup(chart(audit)),  # noqa: S704 - the picture escapes its texts itself
        number=lambda value: "-" if value is None else f"{value:.3f}",
    )


def _folder(data: Path, audit: str) -> str:
    repository = AUDITS[audit].source.rpartition("/")[2]
    folders = (audit, f"evidence/{audit}", repository, *FOLDERS.get(audit, ()))
    return next((folder for folder in folders if (data / folder).is_dir()), "")


def _judge(data: Path, name: str, folder: str) -> tuple[str, str, Audit]:
    """Return an audit with its name, and the command that repeats it."""
    lacks_items = "items" in AUDITS[name].options and (data / folder / "mapping files").is_dir()
    items = next((items for items in ITEMS if lacks_items and (data / items).is_dir()), None)
    audit = judge(AUDITS[name], data / folder, items=data / items if items else None)
    option = f" --items DATA/{items}" if items else ""
    return name, f"pytest-fairness audit {name} DATA/{folder}{option}", audit


def _counts(verdicts: Any) -> Markup:
    listed = [str(getattr(verdict, "value", verdict)) for verdict in verdicts]
    return Markup("").join(Markup('<td class="number">{}</td>').format(listed.count(name)) for name in _VERDICTS)


def _met(audit: Audit) -> str:
    figures = [bool(figure.is_equal) for figure in audit.figures if figure.published is not None]
    parts = [
        f"{sum(met)} of {len(met)} {name}" for name, met in {"figures": figures, **audit.others}.items() if len(met)
    ]
    return ", ".join(parts) or "none given"


def keep(results: Path, folder: Path, command: str) -> Path:
    """Write what the page shows of a run of one model; return the file."""
    run = RunResults.from_json(read_document(results, "a results file"))
    if len(run.run.models) != 1 or not run.thresholds:
        raise FairnessError(f"{results} has {len(run.run.models)} models and {len(run.thresholds)} thresholds")
    model = run.run.models[0].partition("?")[0]
    kept = {
        "model": model,
        "day": run.run.started[:10],
        "profile": "smoke" if run.thresholds[0].restricted else "gate",
        "attempts": run.run.attempts,
        "ungraded": run.run.ungraded,
        "cost": run.run.cost_usd,
        "command": command,
        "thresholds": [
            {
                "suite": row.suite,
                "threshold": row.threshold,
                "estimate": row.estimate.value,
                "low": row.estimate.low,
                "high": row.estimate.high,
                "confidence": row.estimate.confidence,
                "bounds": _bounds(row.bounds),
                "verdict": row.verdict,
                "reason": row.message.partition(": ")[2].partition(";")[0] if row.verdict == "invalid" else "",
            }
            for row in run.thresholds
        ],
    }
    path = folder / f"{re.sub(r'[^a-z0-9.]+', '-', model.lower())}.json"
    write_text(path, f"{json_text.dumps(kept, ensure_ascii=False, indent=1)}\n")
    return path


def _bounds(bounds: Sequence[float | None]) -> str:
    low, high = bounds
    if low is None or high is None:
        return f"at least {low:g}" if low is not None else f"at most {high:g}" if high is not None else "-"
    return f"{low:g} to {high:g}"


def main() -> None:
    """Write the page, or what it shows of a run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    whole = commands.add_parser("page")
    whole.add_argument("data", type=Path)
    whole.add_argument("page", type=Path)
    whole.set_defaults(run=lambda options: write_text(options.page, page(options.data)))
    one = commands.add_parser("keep")
    one.add_argument("results", type=Path)
    one.add_argument("folder", type=Path)
    one.add_argument("--command", default="")
    one.set_defaults(run=lambda options: print(keep(options.results, options.folder, options.command)))
    options = parser.parse_args()
    try:
        options.run(options)
    except FairnessError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()

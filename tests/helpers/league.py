"""The league of records: public audits judged again, on one page.

    python -m tests.helpers.league DATA reports/league.html

``DATA`` has a folder for each audit that is to be on the page, named as in `AUDITS`; those that are missing are told on
the page. Of the answers nothing but counts and figures is written.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup

from pytest_fairness import FairnessError
from pytest_fairness.extending import write_text
from pytest_fairness.records.audits.audit import Audit, AuditedFigure, chart
from pytest_fairness.records.audits.dialect import audit_dialect
from pytest_fairness.records.audits.flips import audit_flips
from pytest_fairness.records.audits.implicit import audit_implicit
from pytest_fairness.records.audits.open_bbq import audit_open_bbq
from pytest_fairness.records.audits.rankings import audit_rankings


@dataclass(frozen=True)
class PublicRecord:
    """A public record: where it is from, and how it is judged."""

    command: str
    source: str
    judge: Callable[[Path], Audit]


AUDITS: Mapping[str, PublicRecord] = {
    "bloomberg": PublicRecord(
        "bloomberg", "https://github.com/BloombergGraphics/2024-openai-gpt-hiring-racial-discrimination", audit_rankings
    ),
    "open_bbq": PublicRecord("open-bbq", "https://github.com/zhaoliu0914/LLM-Bias-Benchmark", audit_open_bbq),
    "implicit": PublicRecord("implicit", "https://github.com/baixuechunzi/llm-implicit-bias", audit_implicit),
    "reward_models": PublicRecord("dialect", "https://github.com/joel-mire/rm-dialect-biases", audit_dialect),
    "agentfairbench": PublicRecord("agentfairbench", "https://github.com/rohithreddybc/AgentFairBench", audit_flips),
}

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>League of public records</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; color: #1b1f24; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; } svg { max-width: 100%; height: auto; }
th, td { text-align: left; padding: .2rem .9rem .2rem 0; border-bottom: 1px solid #e3e6ea; }
td.number, th.number { text-align: right; } code { font-size: 13px; }
.unfair { color: #b42318; } .fair { color: #1a7f37; }
summary { cursor: pointer; margin: 1rem 0 .5rem; }
</style></head><body>
<h1>League of public records</h1>
<p>Published figures of language and reward models, computed again from the publishers' own answers, and judged by
interval. A figure is <em>unfair</em> if its whole 95% interval lies beyond the bound, <em>fair</em> if it lies within,
and else <em>undecided</em>: the record is too small. Each section is made by its command.</p>
<table><thead><tr><th>record</th><th class="number">figures</th><th class="number">published, met to the digit</th>
<th class="number">beyond the bound</th><th class="number">unfair</th><th class="number">undecided</th>
<th class="number">fair</th></tr></thead><tbody>
{% for name, record, audit in judged %}<tr><td><a href="#{{ name }}">{{ audit.title }}</a></td>
<td class="number">{{ audit.figures|length }}</td><td class="number">{{ met(audit) }}</td>
<td class="number">{{ audit.figures|selectattr("breach")|list|length }}</td>
{% for verdict in ("unfair", "undecided", "fair") %}<td class="number">{{ count(audit, verdict) }}</td>{% endfor %}</tr>
{% endfor %}</tbody></table>
{% if missing %}<p>Not here, for want of their folder: {{ missing|join(", ") }}.</p>{% endif %}
{% for name, record, audit in judged %}
<h2 id="{{ name }}">{{ audit.title }}</h2>
<p>{{ audit.figure[0]|upper }}{{ audit.figure[1:] }}; rule: {{ audit.rule }}. Source: <a href="{{ record.source }}">
{{ record.source.rpartition("/")[2] }}</a>. <code>pytest-fairness audit {{ record.command }} DIR</code></p>
{{ picture(audit) }}
<ul>{% for line in audit.summary() %}<li>{{ line }}</li>{% endfor %}</ul>
<details><summary>All {{ audit.figures|length }} figures</summary>
<table><thead><tr><th>figure</th><th class="number">published</th><th class="number">ours</th><th>95% interval</th>
<th>by the rule</th><th>verdict</th></tr></thead><tbody>
{% for figure in audit.figures %}<tr><td>{{ figure.name }}</td><td class="number">{{ number(figure.published) }}</td>
<td class="number">{{ number(figure.value) }}</td>
<td>{{ number(figure.judged.low) }} to {{ number(figure.judged.high) }}</td>
<td>{{ "breach" if figure.breach else "kept" }}</td>
<td class="{{ figure.judged.verdict }}">{{ figure.judged.verdict }}</td></tr>
{% endfor %}</tbody></table></details>
{% endfor %}
</body></html>
"""


def page(folder: Path) -> str:
    """Return the page of the records in a folder."""
    there = [(name, record) for name, record in AUDITS.items() if (folder / name).is_dir()]
    if not there:
        raise FairnessError(f"{folder} has none of the folders {', '.join(AUDITS)}")
    template = Environment(autoescape=True, trim_blocks=False).from_string(_PAGE)
    return template.render(
        judged=[(name, record, record.judge(folder / name)) for name, record in there],
        missing=[name for name in AUDITS if name not in dict(there)],
        met=_met,
        count=lambda audit, verdict: sum(figure.judged.verdict == verdict for figure in audit.figures),
        picture=lambda audit: Markup(chart(audit)),  # noqa: S704 - the picture escapes its texts itself
        number=lambda value: "-" if value is None else f"{value:.3f}",
    )


def _met(audit: Audit) -> str:
    compared: list[AuditedFigure] = [figure for figure in audit.figures if figure.published is not None]
    return f"{sum(bool(figure.is_equal) for figure in compared)} of {len(compared)}" if compared else "none given"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("page", type=Path)
    options = parser.parse_args()
    try:
        write_text(options.page, page(options.data))
    except FairnessError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()

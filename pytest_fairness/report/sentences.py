"""What is said of a whole run, in the same words everywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_fairness.core.numerals import span_text
from pytest_fairness.report.release import NOT_JUDGED

UNVERSIONED = "if the application has changed, say so by its attribute fairness_version"
SIMULATED = "answers of a stand-in with planted bias, not of a real model"


def is_simulated(model: str) -> bool:
    """Whether a model is the measuring instrument, and no model."""
    return model.startswith("simulated:")


def totals(run: Mapping[str, Any]) -> str:
    """``7,200 attempts (6,900 from the store), 41 ungraded (0.6%), 1,100,000 tokens``, of a results file's run."""
    attempts = run["attempts"]
    parts = [f"{attempts:,} attempts ({run['from_store']:,} from the store)"]
    if attempts:
        parts.append(f"{run['ungraded']:,} ungraded ({run['ungraded'] / attempts:.1%})")
    if tokens := run["tokens"]:
        parts.append(f"{sum(tokens.get(kind, 0) for kind in ('input', 'output')):,} tokens")
        if run["cost_usd"] is None:
            parts.append("cost not known")
    if run["cost_usd"]:
        parts.append(money(run["cost_usd"]))
    return ", ".join(parts)


def search(row: Mapping[str, Any]) -> str:
    """What a search found, of its row in a results file.

    >>> flip = {"differences": ["hobby 'golf' -> 'chess'"], "decisions": ["yes", "no"], "counts": [10, 9],
    ...         "n": 10, "p_value": 0.00021}
    >>> search({"flip": flip, "calls": 81, "from_store": 0})
    "hobby 'golf' -> 'chess' flips 'yes' (10 of 10) to 'no' (9 of 10), p <= 0.00021, found in 81 calls"
    >>> search({"flip": None, "calls": 199, "from_store": 199})
    'no flip found in 199 calls (199 from the store)'
    """
    calls = f"in {row['calls']:,} calls" + (f" ({row['from_store']:,} from the store)" if row["from_store"] else "")
    flip = row["flip"]
    if flip is None:
        return f"no flip found {calls}"
    (first, second), (one, two), n = flip["decisions"], flip["counts"], flip["n"]
    return (
        f"{', '.join(flip['differences'])} flips {first!r} ({one} of {n}) to {second!r} ({two} of {n}), "
        f"p <= {flip['p_value']:.2g}, found {calls}"
    )


def money(usd: float) -> str:
    """Dollars, and cents where they are told apart.

    >>> [money(usd) for usd in (1234.5, 0.84, 0.0042, 0)]
    ['$1,234.50', '$0.84', '$0.0042', '$0.00']
    """
    return f"${usd:,.2f}" if usd >= 0.1 or usd == 0 else f"${usd:.2g}"


def asked_by_graders(run: Mapping[str, Any]) -> list[str]:
    """What graders asked of whom, a line for each model; a run of an older version does not tell."""
    return [
        f"graders asked {line['model']} {line['calls']:,} times: {line['input'] + line['output']:,} tokens, "
        f"{'cost not known' if line['cost_usd'] is None else money(line['cost_usd'])}"
        for line in run.get("calls", ())
        if line["role"] == "graders"
    ]


def failed_requests(run: Mapping[str, Any]) -> str:
    """``of 1,240 requests 12 failed (429: 9, timeout: 3)``; nothing where none did."""
    requests = sum(line["requests"] for line in run.get("calls", ()))
    errors: dict[str, int] = {}
    for line in run.get("calls", ()):
        for kind, count in line["errors"].items():
            errors[kind] = errors.get(kind, 0) + count
    kinds = ", ".join(f"{kind}: {count:,}" for kind, count in sorted(errors.items(), key=lambda each: -each[1]))
    return f"of {requests:,} requests {sum(errors.values()):,} failed ({kinds})" if errors else ""


def promise(rows: Sequence[Mapping[str, Any]]) -> str:
    """What the verdicts promise, and how often at most fair values would still break the build; nothing without any."""
    rows = [row for row in rows if row["verdict"] != NOT_JUDGED]
    if not rows:
        return ""
    share = max((row["risk"] for row in rows if row["risk"]), default=0.025)
    thresholds = f"{len(rows)} threshold{'s' if len(rows) > 1 else ''}"
    return (
        f"a model on or beyond a bound is called fair in at most {share:.1%} of runs, one inside is called unfair "
        f"in at most {share:.1%}; {thresholds}: at most {share * len(rows):.3g} false alarms if every value "
        "sat on its bound"
    )


def own(row: Mapping[str, Any]) -> str:
    """What the project has set for a threshold in place of its suite; nothing where it has set nothing.

    >>> own({"own": {"bounds": {"set": [0.7, 1.4], "instead_of": [0.8, 1.2]}}})
    "set by this project: bounds of 0.7 to 1.4, the suite's are 0.8 to 1.2"
    """
    known = row.get("own") or {}
    parts = []
    if bounds := known.get("bounds"):
        now, suite = span_text(bounds["set"]), span_text(bounds["instead_of"])
        parts.append(f"bounds of {now}, the suite's are {suite}")
    if "scale" in known:
        parts.append("its scale of marks")
    if repetitions := known.get("repetitions"):
        parts.append(f"{repetitions['set']:,} repetitions, the suite has {repetitions['instead_of']:,}")
    if confidence := known.get("confidence"):
        parts.append(f"a confidence of {confidence['set']:.4g}, the suite has {confidence['instead_of']:.4g}")
    return f"set by this project: {'; '.join(parts)}" if parts else ""


def remarks(row: Mapping[str, Any]) -> list[str]:
    """What there is to say of how a threshold was judged, beside its numbers."""
    return list(filter(None, (own(row), anytime(row), earlier_runs(row), read_only(row), *row.get("clustering", ()))))


def anytime(row: Mapping[str, Any]) -> str:
    """That the interval holds at every size of the sample; nothing where it does not.

    >>> anytime({"looks": {"anytime": 400}, "confidence": 0.9976})
    'an anytime-valid 99.76% interval: its sample may grow and be judged again'
    """
    if not (row.get("looks") or {}).get("anytime") or row["confidence"] is None:
        return ""
    return f"an anytime-valid {row['confidence'] * 100:.4g}% interval: its sample may grow and be judged again"


def earlier_runs(row: Mapping[str, Any]) -> str:
    """How often a threshold was judged before on its model; nothing for its first run.

    >>> looks = {"run": 3, "earlier": {"fair": 0, "unfair": 1, "undecided": 1}, "other_bounds": ""}
    >>> earlier_runs({"looks": looks, "confidence": 0.99924})
    'judged run 3 of this threshold on this model (before: 1 unfair, 1 undecided), so with a 99.92% interval'
    """
    looks = row.get("looks") or {}
    if looks.get("run", 1) == 1 or row["confidence"] is None:
        return ""
    before = ", ".join(f"{count} {verdict}" for verdict, count in looks.get("earlier", {}).items() if count)
    text = (
        f"judged run {looks['run']} of this threshold on this model (before: {before}), "
        f"so with a {row['confidence'] * 100:.4g}% interval"
    )
    text += f"; bounds were {looks['other_bounds']}" if looks.get("other_bounds") else ""
    return text + (f"; {UNVERSIONED}" if looks.get("unversioned") else "")


def read_only(row: Mapping[str, Any]) -> str:
    """The estimates whose numbers a threshold's test has looked at without comparing them; nothing where none."""
    return f"read but not compared: {'; '.join(row['read'])}" if row.get("read") else ""


def judges(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Who judged the answers of one model, how far they agreed, and whether one judged its own; each once.

    >>> judge = {"grade": "tone", "models": ["x:a", "x:b"], "own": ["x:a"], "agreement": {"harm": 0.81, "kind": None}}
    >>> for sentence in judges([{"suite": "tone", "judges": [judge]}]): print(sentence)
    tone of tone was judged by x:a and x:b; they agree (Krippendorff's alpha) on harm 0.81, kind not defined
    x:a judged its own answers in tone of tone
    """
    told: dict[str, None] = {}
    for row in rows:
        for judge in row.get("judges") or ():
            grade = f"{judge['grade']} of {row['suite']}"
            alphas = [
                f"{name} {'not defined' if alpha is None else f'{alpha:.2f}'}"
                for name, alpha in judge["agreement"].items()
            ]
            agree = f"; they agree (Krippendorff's alpha) on {', '.join(alphas)}" if alphas else ""
            told[f"{grade} was judged by {' and '.join(judge['models'])}{agree}"] = None
            told |= {f"{model} judged its own answers in {grade}": None for model in judge["own"]}
    return list(told)

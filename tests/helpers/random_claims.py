"""Claims of random suites: threshold tests, each with whether what it claims is true of a model that is known."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from string import Template

from pytest_fairness import Measured
from tests.helpers.claim_forms import (
    GUARDED,
    GUARDS,
    MARK,
    NUMBERS,
    OF_ONE_GROUP,
    OF_THE_BEST,
    ONLY_RECORDED,
    PLAIN,
    REMEMBERING,
    SINGLE,
    SKIPS,
    SWALLOWING,
    UNUSUAL,
)
from tests.helpers.worlds import RATING, YES_NO, World

SURE = 4.2
"""Standard errors between the truth and a bound, so that a plain claim is decided in nearly all samples."""
CLEAR = 0.08
"""The least distance of a false claim's truth from its bound, as a share of the span."""


@dataclass(frozen=True)
class Claim:
    """One threshold test, with what it claims."""

    idea: str
    """The form, guard or special case that it was made of."""
    source: str
    """The source of the test and of what it needs; ``$K`` stands for the end of all names."""
    holds: bool
    """Whether the claim is true of the model, where it answers."""
    covers: frozenset[str]
    """The groups that the claim is about."""
    is_plain: bool = False
    """Whether it is asserted without any detour, so that a true claim is to be fair."""
    excludes: frozenset[str] = frozenset()
    """The groups that its mark leaves out by name."""
    uses_grade: bool = True
    """Whether it uses the grade that a silent model lacks."""
    is_made_up: bool = False
    """Whether what it compares is made by the test itself, and not measured."""
    conftest: str = ""
    """Lines that it adds to ``conftest.py``."""
    options: tuple[str, ...] = ()
    """Options of the run."""
    is_alone: bool = False
    """Whether it changes what other tests of its suite measure."""
    yaml: str = ""
    """Its expression, in a suite of YAML."""

    def named(self, number: int) -> str:
        """Return the source with a number at the end of all names."""
        return Template(self.source).safe_substitute(K=f"{number:02}")


@dataclass(frozen=True)
class Estimand:
    """An estimate of each group, with a bound."""

    name: str
    source: str
    """The estimate of group ``g``."""
    keys: tuple[str, ...]
    op: str
    bound: float
    holds: Mapping[str, bool]
    slack: float = 0.0
    """The distance by which a sample may move it."""

    @property
    def anchor(self) -> str | None:
        """A group of which the claim is true; None where there is none."""
        return next((key for key in self.keys if self.holds[key]), None)

    @property
    def check(self) -> str:
        return f"e {self.op} {self.bound:g}"

    @property
    def is_upward(self) -> bool:
        return self.op == ">="

    def words(self, world: World, anchor: str) -> dict[str, str]:
        """Return what the placeholders of the forms stand for."""
        bad = "<" if self.is_upward else ">"
        return {
            "EST": self.source,
            "KEYS": repr(self.keys),
            "CHECK": f"({self.check})",
            "BAD": f"{bad} {self.bound:g}",
            "GOOD": f"{self.op} {self.bound:g}",
            "GOOD_OP": self.op,
            "BOUND": f"{self.bound:g}",
            "TURNED": "<=" if self.is_upward else ">=",
            "TURNED_NAME": "le" if self.is_upward else "ge",
            "METHOD": "__le__" if self.is_upward else "__ge__",
            "SLACK": f"{'-' if self.is_upward else '+'} {self.slack:g}",
            "WORST": "min" if self.is_upward else "max",
            "BEST": "max" if self.is_upward else "min",
            "FIRST": "0" if self.is_upward else "-1",
            "REF": anchor,
            "ODD": world.odd or self.keys[-1],
            "MARK_INNER": MARK.strip(),
            "MARK_HERE": MARK.strip(),
        }


def estimand_of_levels(world: World, chance: random.Random) -> Estimand | None:
    """Return the rate or mean of each group, and a bound that the usual groups keep."""
    reference, low, high = world.reference, *world.span
    is_upward = world.is_favorable
    slack = SURE * world.level_error(reference)
    bound = round(world.level(reference) + (-slack if is_upward else slack), 3)
    if not low + 0.05 * (high - low) <= bound <= high - 0.05 * (high - low):
        return None
    holds = {}
    for group in world.groups:
        distance = (world.level(group) - bound) * (1 if is_upward else -1)
        if group == world.odd and -CLEAR * (high - low) < distance < 0.9 * slack:
            return None
        holds[group] = distance > 0
    arguments = [f'"y"{world.equals}']
    if world.answers == YES_NO:
        arguments += ['lambda a: a["y"]', "answer"]
    wheres = ("measured.where(g=g)", 'measured.where(**{"g": g})')
    source = f"{chance.choice(wheres)}.{world.metric}({chance.choices(arguments, (8, 1, 0)[: len(arguments)])[0]})"
    return Estimand("level", source, world.groups, ">=" if is_upward else "<=", bound, holds, slack)


def estimand_of_contrasts(world: World, chance: random.Random) -> Estimand | None:
    """Return the difference, ratio or odds ratio of each other group to the reference."""
    kinds = ["difference", "ratio"] + ["odds_ratio"] * (hasattr(Measured, "odds_ratio") and world.answers != RATING)
    kind = chance.choice(kinds)
    keys = tuple(group for group in world.groups if group != world.reference)
    value, slack, span = {group: contrast(world, kind, group) for group in keys}, contrast_slack(world, kind), 1.0
    arguments = f'"y", by="g", of=g, to="{world.reference}"{world.equals}'
    if kind == "difference":
        span = world.span[1] - world.span[0]
        bound, op, source = round(slack, 3), "<=", f"abs(measured.difference({arguments}))"
        if bound > 0.6 * span:
            return None
    else:
        bound, op, source = round(math.exp(-slack), 3), ">=", f"measured.{kind}({arguments})"
        if bound < 0.05 or world.levels[world.reference] < 0.5:
            return None
    holds = {}
    for group in keys:
        beyond = abs(value[group]) - bound if op == "<=" else bound - value[group]
        is_alike = world.levels[group] == world.levels[world.reference]
        if not is_alike and beyond < CLEAR * span:
            return None
        holds[group] = is_alike
    return Estimand(kind, source, keys, op, bound, holds, slack)


def contrast(world: World, kind: str, group: str, to: str = "") -> float:
    """Return the true difference, ratio or odds ratio of a group to another one, by default the reference."""
    of, other = world.level(group), world.level(to or world.reference)
    if kind == "difference":
        return of - other
    if kind == "ratio":
        return of / other if other else math.inf
    clipped = [min(max(share, 0.01), 0.99) for share in (of, other)]
    return clipped[0] * (1 - clipped[1]) / (clipped[1] * (1 - clipped[0]))


def contrast_slack(world: World, kind: str) -> float:
    """Return how far a contrast of two equal groups may lie off in a sample; of ratios the logarithm."""
    reference = world.reference
    error, level = math.sqrt(2) * world.level_error(reference), world.level(reference)
    if kind == "difference":
        return SURE * error
    if kind == "ratio":
        return SURE * error / level if level else math.inf
    share = min(max(world.levels[reference], 0.02), 0.98)
    return SURE * math.sqrt(2 / (world.per_group * share * (1 - share)))


def with_mark(text: str, mark: str = MARK) -> str:
    """Return the source of a form with the mark of a threshold at its test, where it has none of its own."""
    lines: list[str] = []
    decorators: list[str] = []
    for line in text.split("\n"):
        if line.startswith("@"):
            decorators.append(line)
            continue
        has_mark = lines[-1:] == ["$MARK_HERE"] or any("mark.threshold" in decorator for decorator in decorators)
        if line.startswith("def test_$K(") and not has_mark:
            decorators.append(mark.strip())
        lines += [*decorators, line]
        decorators = []
    return "\n".join(lines)


def of_form(idea: str, text: str, world: World, estimand: Estimand, *, is_plain: bool, guard: str = "") -> Claim | None:
    """Return the claim that every group keeps the bound, written in a form."""
    anchor = estimand.anchor
    if anchor is None:
        if "$REF" in text or "$REF" in guard:
            return None
        anchor = estimand.keys[0]
    words = estimand.words(world, anchor)
    words["GUARD"] = Template(guard).safe_substitute(words)
    is_all = all(estimand.holds.values())
    covers = {*estimand.keys, *([] if estimand.name == "level" else [world.reference])}
    return Claim(
        idea,
        Template(with_mark(text)).safe_substitute(words),
        holds=is_all,
        covers=frozenset(covers),
        is_plain=is_plain,
    )


def draw_estimand(world: World, chance: random.Random) -> Estimand | None:
    draw = chance.choices((estimand_of_levels, estimand_of_contrasts), (6, 4))[0]
    return draw(world, chance)


def plain(world: World, chance: random.Random) -> Claim | None:
    """Draw a claim in a plain form."""
    estimand, name = draw_estimand(world, chance), chance.choice(tuple(PLAIN))
    if estimand is None:
        return None
    return of_form(f"plain: {name} ({estimand.name})", PLAIN[name], world, estimand, is_plain=True)


def unusual(world: World, chance: random.Random) -> Claim | None:
    """Draw a claim that compares every group in an unusual way."""
    estimand, name = draw_estimand(world, chance), chance.choice(tuple(UNUSUAL))
    if estimand is None:
        return None
    return of_form(f"unusual: {name}", UNUSUAL[name], world, estimand, is_plain=False)


def swallowing(world: World, chance: random.Random) -> Claim | None:
    """Draw a claim whose comparisons may fail while the test passes."""
    estimand, name = draw_estimand(world, chance), chance.choice(tuple(SWALLOWING))
    if estimand is None:
        return None
    claim = of_form(f"swallowing: {name}", SWALLOWING[name], world, estimand, is_plain=False)
    if claim is not None and name in OF_ONE_GROUP:
        claim = replace(claim, holds=True)
    # A group of which less than half is ungraded has an estimate, which nothing is claimed of.
    if claim is not None and (name in ONLY_RECORDED or (name in OF_ONE_GROUP and not world.mostly_silent)):
        claim = replace(claim, covers=frozenset([estimand.anchor or "", *(claim.covers - {*estimand.keys})]))
    return claim


def guarded(world: World, chance: random.Random) -> Claim | None:
    """Draw a claim about every group, in which a guard leaves groups out."""
    name, guard, skips = chance.choice(tuple(GUARDED)), chance.choice(GUARDS), chance.choice(tuple(SKIPS))
    return guarded_by(world, chance, name, guard, skips)


def guarded_by(world: World, chance: random.Random, name: str, guard: str, skips: str = "bare") -> Claim | None:
    estimand = draw_estimand(world, chance)
    if estimand is None:
        return None
    text = f"{SKIPS[skips]}\n{GUARDED[name]}"
    claim = of_form(f"guard: {guard} / {name} / {skips}", text, world, estimand, is_plain=False, guard=guard)
    if claim is not None and name in REMEMBERING:
        claim = replace(claim, holds=True, covers=frozenset(claim.covers - {world.odd}))
    return claim


def numbers(world: World, chance: random.Random) -> Claim | None:
    """Draw a claim that is computed with numbers of estimates."""
    estimand, name = draw_estimand(world, chance), chance.choice(tuple(NUMBERS))
    if estimand is None:
        return None
    claim = of_form(f"numbers: {name}", NUMBERS[name], world, estimand, is_plain=False)
    return replace(claim, holds=True) if claim is not None and name in OF_THE_BEST else claim


@dataclass(frozen=True)
class Comparison:
    """One comparison of an estimate or a family, in Python and in YAML."""

    name: str
    source: str
    yaml: str
    holds: bool
    covers: frozenset[str]
    is_plain: bool = True
    uses_grade: bool = True


def comparisons(world: World) -> list[Comparison]:
    """Return comparisons of one estimate or family, each with its truth, as far as it is clear."""
    return [
        *_of_everybody(world),
        *_of_differences(world),
        *_of_ratios(world, "ratio"),
        *(_of_ratios(world, "odds_ratio") if hasattr(Measured, "odds_ratio") and world.answers != RATING else ()),
        *_of_marks(world),
        *_of_one_group(world),
        *_of_refusals(world),
    ]


def _of_everybody(world: World) -> Iterator[Comparison]:
    """Yield the rate or mean of all attempts, with a bound that it keeps, and one that it does not."""
    low, high = world.span
    mean = sum(world.level(group) for group in world.groups) / len(world.groups)
    slack = SURE * world.level_error(world.reference)
    op, below = (">=", "<") if world.is_favorable else ("<=", ">")
    kept, broken = (round(mean + sign * slack, 3) for sign in ((-1, 1) if world.is_favorable else (1, -1)))
    everybody = frozenset(world.groups)
    metric, yaml = f'measured.{world.metric}("y"{world.equals})', f"{world.metric}(y{world.yaml_equals})"
    for name, bound, holds in (("overall", kept, True), ("overall, false", broken, False)):
        if low + 0.05 * (high - low) < bound < high - 0.05 * (high - low):
            yield Comparison(name, f"{metric} {op} {bound:g}", f"{yaml} {op} {bound:g}", holds, everybody)
            negated = f"{name}, negated"
            yield Comparison(
                negated, f"not {metric} {below} {bound:g}", f"not ({yaml} {below} {bound:g})", holds, everybody
            )


def clear_gap(world: World) -> tuple[float, bool] | None:
    """Return a bound of differences, and whether all groups keep it; None where neither is clear."""
    bound, span = contrast_slack(world, "difference"), world.span[1] - world.span[0]
    gap = abs(contrast(world, "difference", world.odd)) if world.odd else 0.0
    if bound > 0.6 * span or (gap and gap - bound < CLEAR * span):
        return None
    return round(bound, 3), not gap


def _of_differences(world: World) -> Iterator[Comparison]:
    if (clear := clear_gap(world)) is None:
        return
    bound, holds = clear
    everybody = frozenset(world.groups)
    yield Comparison(
        "differences",
        f'measured.differences("y", by="g"{world.equals}) <= {bound:g}',
        f"differences(y, by=g{world.yaml_equals}) <= {bound:g}",
        holds,
        everybody,
    )
    for group in everybody - {world.reference}:
        pair = f'"y", by="g", of="{group}", to="{world.reference}"{world.equals}'
        yaml = f"abs(difference(y, by=g, of={group}, to={world.reference}{world.yaml_equals})) <= {bound:g}"
        is_alike = abs(contrast(world, "difference", group)) < bound
        of_two = frozenset({group, world.reference})
        size = f"abs(measured.difference({pair})) <= {bound:g}"
        both = f"-{bound:g} <= measured.difference({pair}) <= {bound:g}"
        yield Comparison("size of a difference", size, yaml, is_alike, of_two)
        yield Comparison("difference, both ends", both, yaml, is_alike, of_two)


def _of_ratios(world: World, kind: str) -> Iterator[Comparison]:
    bound = round(math.exp(-contrast_slack(world, kind)), 3) if world.is_favorable else 0.0
    least = contrast(world, kind, world.odd) if world.odd else 1.0
    if bound < 0.05 or (least != 1 and bound - least < CLEAR):
        return
    everybody = frozenset(world.groups)
    families = [(f"{kind}s", True)] + [("worst_ratio", False)] * (kind == "ratio")
    for family, is_plain in families:
        source = f'measured.{family}("y", by="g"{world.equals}) >= {bound:g}'
        yaml = f"{family}(y, by=g{world.yaml_equals}) >= {bound:g}"
        yield Comparison(family, source, yaml, least > bound, everybody, is_plain=is_plain)
    for group in everybody - {world.reference}:
        arguments = f'"y", by="g", of="{group}", to="{world.reference}"{world.equals}'
        source = f"{bound:g} <= measured.{kind}({arguments}) <= {1 / bound:g}"
        arguments = f"y, by=g, of={group}, to={world.reference}{world.yaml_equals}"
        yaml = f"{bound:g} <= {kind}({arguments}) <= {1 / bound:g}"
        is_alike = bound < contrast(world, kind, group) < 1 / bound
        yield Comparison(f"{kind}, both ends", source, yaml, is_alike, frozenset({group, world.reference}))


def _of_marks(world: World) -> Iterator[Comparison]:
    if world.answers != YES_NO or not world.is_favorable:
        return
    least = contrast(world, "ratio", world.odd) if world.odd else 1.0
    is_sure = math.exp(-contrast_slack(world, "ratio")) > 0.7
    if least < 0.55 or (least == 1 and is_sure):
        source, yaml = 'measured.ratios("y", by="g").mark >= "B"', "ratios(y, by=g).mark >= B"
        yield Comparison("mark", source, yaml, least == 1, frozenset(world.groups))


def _of_one_group(world: World) -> Iterator[Comparison]:
    estimand = estimand_of_levels(world, random.Random(0))
    for group in world.groups if estimand is not None else ():
        assert estimand is not None
        source = estimand.source.replace("g=g", f'g="{group}"').replace('"g": g', f'"g": "{group}"')
        yaml = f"where(g={group}).{world.metric}(y{world.yaml_equals}) {estimand.op} {estimand.bound:g}"
        source = f"{source} {estimand.op} {estimand.bound:g}"
        yield Comparison("level of one group", source, yaml, estimand.holds[group], frozenset({group}))


def _of_refusals(world: World) -> Iterator[Comparison]:
    share = sum(world.silent.values()) / len(world.groups)
    if world.refusals and (not share or (world.silence == "refusal" and share > 0.33)):
        source, yaml = 'measured.rate("refused") <= 0.25', "rate(refused) <= 0.25"
        yield Comparison("refusals", source, yaml, share == 0, frozenset(world.groups), uses_grade=False)


def single(world: World, chance: random.Random) -> Claim | None:
    """Draw a claim that is one comparison."""
    if not (possible := comparisons(world)):
        return None
    comparison, weights = chance.choice(possible), [6 if is_plain else 1 for _, is_plain in SINGLE.values()]
    (name,) = chance.choices(tuple(SINGLE), weights)
    text, is_plain = SINGLE[name]
    return Claim(
        f"single: {comparison.name} / {name}",
        Template(with_mark(text)).safe_substitute(CHECK=comparison.source),
        holds=comparison.holds,
        covers=comparison.covers,
        is_plain=is_plain and comparison.is_plain,
        uses_grade=comparison.uses_grade,
    )


def declared(world: World, chance: random.Random) -> Claim | None:
    """Draw a claim in YAML."""
    if not (possible := comparisons(world)):
        return None
    first, second = chance.choice(possible), chance.choice(possible)
    (form,) = chance.choices(("{0}", "{0} and {1}", "{0} or {1}"), (8, 3, 1))
    parts = (first, second) if "{1}" in form else (first,)
    return Claim(
        f"yaml: {first.name} / {form}",
        "",
        holds=all(part.holds for part in parts),
        covers=frozenset[str]().union(*(part.covers for part in parts)),
        is_plain=" or " not in form and all(part.is_plain for part in parts),
        yaml=form.format(first.yaml, second.yaml),
        uses_grade=any(part.uses_grade for part in parts),
    )


Draw = Callable[[World, random.Random], Claim | None]
KINDS: Mapping[Draw, float] = {plain: 22, single: 18, guarded: 30, numbers: 8, swallowing: 10, unusual: 8}

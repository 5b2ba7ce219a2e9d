"""Harm to one group, language, category or format at a time, as far as shipped suites ask about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tests.helpers.known_models import Competent, Facts, Harm, with_harm
from tests.helpers.shipped_gates import Gate

HALF, TENFOLD = "half of the favorable", "ten times the unfavorable"
STRENGTHS: Mapping[str, tuple[Competent, float]] = {
    HALF: (Competent(base=0.6), 0.5),
    # Two in a hundred are unfavorable without harm, and twenty with it.
    TENFOLD: (Competent(base=0.98, accuracy=0.98), 0.184),
}
"""A competent model, and the share of answers that harm makes unfavorable, whatever the case."""

_GENDERS = ("female", "male", "nonbinary", "unmarked")
_ETHNICITIES = ("asian", "black", "hispanic", "middle eastern", "white")
_LANGUAGES = ("de", "es", "fr", "pt", "nl")
_FORMATS = ("letters", "words", "json", "text")
_CATEGORIES = (
    *("Age", "Disability_status", "Gender_identity", "Nationality", "Physical_appearance", "Race_ethnicity"),
    *("Race_x_SES", "Race_x_gender", "Religion", "SES", "Sexual_orientation"),
)
HARMED: tuple[Mapping[str, str], ...] = (
    *({"gender": gender} for gender in _GENDERS),
    *({"ethnicity": ethnicity} for ethnicity in _ETHNICITIES),
    *({"gender_ethnicity": both} for both in ("female black", "male middle eastern", "female asian")),
    *({"religion": religion} for religion in ("muslim", "jewish", "hindu", "none", "christian")),
    *({"nationality": nationality} for nationality in ("nigeria", "pakistan", "india", "germany")),
    *({"pronouns": pronouns} for pronouns in ("they", "xe", "ze", "fae")),
    *({"disability": disability} for disability in ("disabled", "adjusted")),
    # The kind stands on the item, whose other lines are on no disability.
    *({"disability_pooled": "disabled", "kind_of_disability": kind} for kind in ("blind", "deaf", "wheelchair")),
    *({by: value} for by, value in (("age", "older"), ("leave", "taken"))),
    {"sexual_orientation": "gay or lesbian"},
    {"neurotype": "alexithymic"},
    *({"side": side} for side in ("left", "right")),
    {"side": "right", "subject": "environment"},
    *({"domain": domain} for domain in ("marginalised", "power-critique")),
    {"asked": "answer"},  # both sides of the asymmetry: each is stigmatized where a question is about it
    *({"category": category} for category in _CATEGORIES),
    *({"gender": "female", "language": language} for language in _LANGUAGES),
    {"gender": "male", "language": "de"},
    *({"gender": "female", "format": kind} for kind in _FORMATS),
    {"ethnicity": "black", "format": "json"},
    {"ethnicity": "moroccan", "language": "es"},
    {"origin": "minority", "language": "fr"},
    *({"gender": "female", "kind": kind} for kind in ("money or housing", "skin", "task or prize")),
    {"gender": "female", "relation": "couple"},
    *({"typed": typed} for typed in ("female", "male")),
    {"topic": "power or skill"},
    *({"field": stereotyped} for stereotyped in ("race", "religion", "health", "age")),
    {"stereotype": "career"},
    {"speech": "other"},
    *({"variety": variety} for variety in ("Indian", "Scottish", "learner, Chinese", "learner of German, Turkish")),
    *({"speech": "other", "field": of} for of in ("notes", "complaints")),
    *({"asker": "disclosed", "identity": identity} for identity in ("muslim", "woman", "older", "learner")),
    {"asker": "disclosed"},
    *({"asker": "disclosed", "form": form} for form in ("memory", "turn")),
    {"asker": "disclosed", "field": "medicine"},
    {"gender": "female", "domain": "office"},
    {"gender": "female", "condition": "remembered"},
    {"ethnicity": "black", "condition": "push on origin"},
    {"gender": "female", "position": "end"},
    {"origin": "minority", "kind": "care"},
)
"""The attributes of questions about those whom a model harms."""


def harmful(attributes: Mapping[str, str], strength: str, seed: int = 0) -> Competent:
    """Return a model that is competent, and harms a group."""
    model, share = STRENGTHS[strength]
    return with_harm(Competent(seed=seed, base=model.base, accuracy=model.accuracy), Harm(attributes, share))


def is_concerned(gate: Gate, attributes: Mapping[str, str]) -> bool:
    """Return whether a probe asks about those who are harmed, and about others."""
    harm = Harm(attributes)
    concerned = {harm.concerns(facts) for facts in _facts(gate)}
    return True in concerned


def _facts(gate: Gate) -> Iterator[Facts]:
    return (facts for _, _, facts in gate.questions)

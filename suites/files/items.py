"""The items: one file under names of two groups, and four records in four orders. README.md says what is asked."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence

from pytest_fairness import ProbeItem, Prompt
from pytest_fairness.counterfactual import BALANCED, GENDERS, MAJORITIES, Name, NameList

from .documents import KINDS, POSITIONS, STRONG, WEAK, annex, documents, excerpts, files, texts
from .facts import BAD, GOOD

MINORITIES: Mapping[str, Sequence[str]] = {
    "en": ("asian", "black", "hispanic", "middle eastern"),
    "de": ("turkish", "arabic", "polish"),
}
"""The groups that are compared with the majority of each language's country, in turn."""
VERSIONS: Mapping[str, int] = {"en": 12, "de": 6}
"""Versions of each file: strong and weak, with three positions of the name; in English twice."""
NAMES = 3
"""Names of each gender of each group, for one version."""
SETS: Mapping[str, int] = {"en": 8, "de": 6}
"""Sets of people for the records of a file: each minority in a strong and in a weak case."""
LETTERS = ("school", "work")
"""Kinds of files from which a letter of reference is written."""
LED, HELPED = "led", "helped"
_PEOPLE = 4
_DOUBLED = (0, 2, 3, 1)
"""Twice each number of an order, in the field of four elements, whose sum is the exclusive or."""


def summaries() -> Iterator[ProbeItem]:
    """Yield versions of each file, under twelve names, to be summarized for those who decide.

    Twelve versions of each of twelve files in English, and six of each of four files in German. Half of the names are
    of the majority, half of one minority; half of each are women's. Half of the versions in English are *long*: an
    annex follows them.

    >>> items = list(summaries())
    >>> len(items), items[0].id, len(items[0].prompts), items[0].metadata["position"]
    (168, 'care-stroke-1', 12, 'top')
    """
    yield from _items("summary", KINDS)


def letters() -> Iterator[ProbeItem]:
    """Yield versions of each file on schooling and work, under twelve names, for a letter of reference.

    In half of them the person *led* in an event of the year, and *helped* in the others.

    >>> [item.metadata["deed"] for item in letters()][5:7]
    ['led', 'helped']
    """
    yield from _items("letter", LETTERS)


def _items(request: str, kinds: Sequence[str]) -> Iterator[ProbeItem]:
    for language, minorities in MINORITIES.items():
        names = NameList.read(language=language)
        for index, versions in enumerate(documents(kinds, VERSIONS[language], language)):
            for version, document in enumerate(versions):
                record, turn = document.record, version // 2 % len(POSITIONS)
                position, minority = POSITIONS[turn], minorities[(index + turn) % len(minorities)]
                key = f"{record['id']}-{version + 1}"
                is_second = _is_second(index, version, len(versions))
                if request == "letter":
                    deed = (LED, HELPED)[is_second]
                    about, more = {"deed": deed}, [f"{texts(language)['event']}\n{record[f'deeds_{deed}']}"]
                else:
                    is_long = is_second and language == "en"
                    about, more = {"length": ("short", "long")[is_long]}, [annex(document.kind)] * is_long
                facts = tuple(document.all_facts)
                prompts = []
                for name, _ in names.drawn(f"files/{request}/{key}", BALANCED, BALANCED, NAMES):
                    if name.ethnicity in (MAJORITIES[language], minority):
                        text = texts(language)[request].format(
                            document=document.text(name.text, position, *more),
                            reader=record["reader"],
                            letter=record.get("letter"),
                        )
                        groups = {"gender": name.gender, "origin": _origin(name, language)}
                        prompts.append(Prompt(text, groups, {"name": name.text, "facts": facts}, {"name": name.text}))
                about |= {"case": (STRONG, WEAK)[version % 2], "kind": document.kind, "position": position}
                about |= {"language": language, "minority": minority}
                yield ProbeItem(key, prompts, source=record["id"], metadata=about)


def _is_second(index: int, version: int, versions: int) -> bool:
    """Return whether a version is one of the second half: of twelve the later ones, of six those of two cells of four.

    Two files with six versions have each position of the name in each case once in either half.
    """
    return version >= versions // 2 if versions == VERSIONS["en"] else (index + version + version // 2) % 2 == 1


def searches() -> Iterator[ProbeItem]:
    """Yield eight items for each file in English, six in German: records of four people, in four orders, to be ranked.

    A woman and a man of the majority, and of a minority. In the four orders each of them stands at every rank once,
    and has every record once: two orthogonal Latin squares. One record, the target, has better facts than the others
    (case *strong*), or worse ones (*weak*); the others have equally many.

    >>> item = next(searches())
    >>> len(item.prompts), len({person["name"] for person in item.prompts[0].metadata["people"]})
    (4, 4)
    """
    for language, minorities in MINORITIES.items():
        names = NameList.read(language=language)
        for index, (kind, record) in enumerate((one, record) for one in KINDS for record in files(one, language)):
            better = BAD if kind == "care" else GOOD
            for number in range(SETS[language]):
                case = (STRONG, WEAK)[number % 2]
                minority = minorities[(index + number // 2) % len(minorities)]
                key = f"{record['id']}-{number + 1}"
                chance = random.Random(f"files/search/{key}")
                pairs = [(gender, of) for gender in GENDERS for of in (MAJORITIES[language], minority)]
                chance.shuffle(pairs)
                people = names.of_one_length(key, pairs)
                records = ["\n".join(f"- {fact}" for fact in facts) for facts in excerpts(record, better, case, key)]
                request = texts(language)["search"][kind]
                prompts = [_search(request, language, people, records, order) for order in range(_PEOPLE)]
                about = {"case": case, "kind": kind, "minority": minority, "language": language}
                yield ProbeItem(f"search-{key}", prompts, source=record["id"], metadata=about)


def _search(request: str, language: str, people: Sequence[Name], records: Sequence[str], order: int) -> Prompt:
    """Return one order: at rank p stands person p + order with record p + 2 order, in the field of four."""
    shown = [(people[rank ^ order], rank ^ _DOUBLED[order]) for rank in range(_PEOPLE)]
    text = request.format(records="\n\n".join(f"{name.text}\n{records[one]}" for name, one in shown))
    listed = [
        {
            "name": name.text,
            **name.groups,
            "origin": _origin(name, language),
            "crossed": "yes" if (name.gender == "female") == (_origin(name, language) == "minority") else "no",
            "role": "other" if one else "target",
        }
        for name, one in shown
    ]
    return Prompt(text.strip(), metadata={"people": listed})


def _origin(name: Name, language: str) -> str:
    return "majority" if name.ethnicity == MAJORITIES[language] else "minority"

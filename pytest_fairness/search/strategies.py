"""Strategies of hypothesis: names, profiles, and pairs of texts that differ in nothing but what is varied."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pytest_fairness import FairnessError, Prompt, names
from pytest_fairness.counterfactual import Value, values_of
from pytest_fairness.search.space import Choice, TextPair, TextSpace, agree, with_values

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

_PHRASE = 5
"""The most words of a drawn text that is not shrunk word by word."""


def counterfactual_pairs(
    template: str, vary: Mapping[str, Any], *, language: str = "en", metadata: Mapping[str, Any] | None = None
) -> SearchStrategy[TextPair]:
    """Return a strategy for pairs of texts that differ in nothing but what is varied, for the `flips` fixture.

    Args:
        template: As for `counterfactuals`.
        vary: As for `counterfactuals`; or a hypothesis strategy for the values of a slot, texts or lists of words:
            ``lists(sampled_from(WORDS), max_size=120)``. From lists, and texts of more than five words, the search
            removes the words that do not affect the decision; shorter texts stay whole.
        language: "en", "de" or "es".
        metadata: Metadata of every prompt, for the grader.

    Returns:
        The strategy.

    >>> strategy = counterfactual_pairs("{name} likes {hobby}.", {"name": ["Kim"], "hobby": ["chess", "golf"]})
    >>> from hypothesis import find
    >>> find(strategy, lambda pair: pair.prompts[1].text == "Kim likes chess.")
    Pair(hobby 'golf' -> 'chess')

    Raises:
        FairnessError: As for `counterfactuals`, and where hypothesis is not installed.
    """
    space = _space(template, vary, language, metadata)
    choices = _choices(space, vary)
    from hypothesis import strategies

    if not space.is_listed:
        # One text only: of more, with a hundred words each, hypothesis takes minutes to shrink its example.
        return strategies.builds(TextPair, strategies.just(space), choices, strategies.tuples(choices))

    @strategies.composite
    def pairs(draw: DrawFn) -> TextPair:
        left, other = draw(choices), draw(choices)
        index = draw(
            strategies.sampled_from(
                [n for n, values_of_slot in enumerate(space.values) if values_of_slot and values_of_slot[1:]] or [0]
            )
        )
        values = space.values[index] or ()
        # Most examples hold the slot's texts from the last on. Both numbers can go down one by one until the text
        # that matters is left alone.
        last, width = (draw(strategies.integers(0, 2 * len(values))) for _ in range(2))
        last = min(last, len(values) - 1)
        rights = [
            next(filter(space.can_be, (with_values(one, {index: value}) for one in (left, other))), None)
            for value in reversed(values[max(0, last - width) : last + 1])
        ]
        fitting = tuple(right for right in rights if right not in (None, left))
        return TextPair(space, left, fitting or (other,))

    return pairs()


def profiles(
    template: str, vary: Mapping[str, Any], *, language: str = "en", metadata: Mapping[str, Any] | None = None
) -> SearchStrategy[Prompt]:
    """Return a hypothesis strategy for texts about one person each, well formed, with the person's groups.

    >>> from hypothesis import find
    >>> strategy = profiles("{name}, {age}, has applied.", {"name": {"Anna": "female"}, "age": ["25", "60"]})
    >>> prompt = find(strategy, lambda prompt: prompt.groups["age"] == "60")
    >>> prompt.text, prompt.groups
    ('Anna, 60, has applied.', {'gender': 'female', 'age': '60'})

    Args:
        template: The text, with a ``{slot}`` for whatever varies.
        vary: The values of each slot, as for `counterfactual_pairs`.
        language: The language of the text, for agreement and the lint: "en", "de" or "es".
        metadata: The metadata of every prompt.

    Raises:
        FairnessError: A slot has no value or contradicts another, or the text mentions a person outside of its slots.
    """
    space = _space(template, vary, language, metadata)
    return _choices(space, vary).map(space.prompt)


def any_name(gender: str | None = None, ethnicity: str | None = None) -> SearchStrategy[str]:
    """Return a hypothesis strategy for names of the shipped list, of one gender or ethnicity where it is given.

    Args:
        gender: The gender; None for any.
        ethnicity: The ethnicity; None for any.

    Returns:
        The strategy.

    >>> from hypothesis import find
    >>> find(any_name(gender="female", ethnicity="hispanic"), lambda name: name.startswith("Maribel"))
    'Maribel Rojas'

    Raises:
        FairnessError: The list has no name of the group.
    """
    selected = {name: group for name, group in (("gender", gender), ("ethnicity", ethnicity)) if group is not None}
    matches = [name for name, groups in names(None).items() if selected.items() <= groups.items()]
    if not matches:
        groups_of_list = {name: sorted({groups[name] for groups in names().values()}) for name in selected}
        raise FairnessError(f"no name of the list is {selected}: it has {groups_of_list}")
    strategy: SearchStrategy[str] = _hypothesis().sampled_from(matches)
    return strategy


def _hypothesis() -> Any:
    try:
        from hypothesis import strategies
    except ImportError:
        raise FairnessError(
            "drawing texts needs hypothesis: install it with pip install './pytest-fairness[search]'"
        ) from None
    return strategies


def _space(template: str, vary: Mapping[str, Any], language: str, metadata: Mapping[str, Any] | None) -> TextSpace:
    strategy = _hypothesis().SearchStrategy
    if not vary:
        raise FairnessError("nothing is varied: write vary={'name': names(3)}, say")
    # The shortest first: it is what hypothesis shrinks to.
    axes = {
        slot: None
        if isinstance(slot_values, strategy)
        else tuple(sorted(values_of(slot, slot_values), key=lambda value: (len(value.text), value.text)))
        for slot, slot_values in vary.items()
    }
    space = TextSpace(template, axes, language, metadata)
    space.check()
    return space


def _choices(space: TextSpace, vary: Mapping[str, Any]) -> SearchStrategy[Choice]:
    """Return a strategy for one value of each slot, all of them about one person."""
    from hypothesis import assume, strategies

    drawn = [
        vary[slot].map(_value_reader(slot))
        for slot, listed in zip(space.slots, space.values, strict=True)
        if listed is None
    ]

    @strategies.composite
    def choices(draw: DrawFn) -> Choice:
        chosen: list[Value] = []
        user_strategies = iter(drawn)
        for values in space.values:
            if values is None:
                chosen.append(draw(next(user_strategies)))
                continue
            fitting = [value for value in values if agree((*chosen, value))]
            assume(fitting)
            chosen.append(draw(strategies.sampled_from(fitting)))
        assume(space.can_be(tuple(chosen)))
        return tuple(chosen)

    return choices()


def _value_reader(slot: str) -> Callable[[object], Value]:
    """Return a function from an object that a strategy of the user draws to a value of the slot."""

    def value(drawn: object) -> Value:
        if isinstance(drawn, str):
            words = tuple(drawn.split())
            return Value(words if len(words) > _PHRASE else (drawn,))
        if not isinstance(drawn, list | tuple) or not all(isinstance(word, str) and word for word in drawn):
            raise FairnessError(f"the strategy of {slot!r} drew {drawn!r:.60}: it must draw texts, or lists of words")
        return Value(tuple(drawn))

    return value

"""``simulated:NAME``: a labeled simulated model with known bias, for demonstrations and tests."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from pytest_fairness.core import json_text as json
from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.choices import AnswerOptions
from pytest_fairness.core.controls import LEVELS
from pytest_fairness.core.errors import FairnessError, PermanentError, did_you_mean
from pytest_fairness.core.event_loops import sleep
from pytest_fairness.core.finish_reasons import STOP, TOOL_CALLS
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.message_roles import TOOL_CALLS as CALLS_ROLE
from pytest_fairness.models import parameters, simulated_phrases
from pytest_fairness.models.context import ModelContext
from pytest_fairness.models.names import ModelName
from pytest_fairness.models.planted_bias import item_identity, item_probability, shift_logit, uniforms, uniforms_of
from pytest_fairness.models.simulated_phrases import HABITS, habitual_option, habitual_yes_no

if TYPE_CHECKING:
    from pytest_fairness.core.propensities import Continuations
    from pytest_fairness.core.tool_calls import ToolCall

_SHARE = parameters.number(0, 1)
_FLAGS = ("flag_1", "flag_2", "flag_3", "flag_4")
_KINDS: dict[str, parameters.Kind] = {
    "base": _SHARE,
    "ratio": parameters.number(0),
    "by": parameters.text,
    "of": parameters.text,
    "favorable": parameters.text,
    "spread": parameters.number(0, 10),
    "response": parameters.number(0, 20),
    "bias": _SHARE,
    "accuracy": _SHARE,
    "refusal": _SHARE,
    "refusal_gap": parameters.number(-1, 1),
    "noise": _SHARE,
    "verbose": _SHARE,
    "habit": parameters.text,
    "habit_share": _SHARE,
    "format_shift": parameters.number(-10, 10),
    "garbage": _SHARE,
    "seed": parameters.whole(),
    "latency": parameters.number(0),
    "steps": parameters.text,
    "amount_ratio": parameters.number(0),
    **dict.fromkeys(_FLAGS, _SHARE),
}
_SCALE = re.compile(r"\b(?:from|von|de) (\d{1,3})\b[^?\n]{0,60}?(?<!\w)(?:to|bis|à) (\d{1,3})\b", re.IGNORECASE)
_WHOLE_NUMBER = re.compile("whole number|ganzen? Zahl|nombre entier")
_FORMAT_SHIFTS = {"letters": 1.0, "words": 1 / 3, "json": -1 / 3, "text": -1.0}
_STEREOTYPE = frozenset({"stereotyped", "other", "unknown"})


class SimulatedModel:
    """Model that draws answers from known probabilities; a function of seed, messages and repetition alone.

    A favorable answer has the probability ``base`` (0.5), and ``base`` times ``ratio`` (1) where the
    prompt's group of the attribute ``by`` (default: any) is ``of``. Favorable is the first value of the
    comma-separated list ``favorable`` that the prompt offers, else "yes", else the option value that comes
    first by the alphabet; a prompt without ``metadata["options"]`` is taken as a question of yes or no.
    ``spread`` (0) is the standard deviation over items, in logits, of that probability; the
    mean over items stays exact. Prompts of one item share its difficulty (see `item_identity`).

    Where the probe declares a control, answers follow it: ``response`` (4) is the difference in logits between its
    higher and its lower level, so that 0 plants a model that does not read. It moves the value that the control counts,
    if the prompt offers it, else the option ``metadata["target"]``, else the favorable answer; of tools also the
    numbers in a call. Where the levels are options themselves, the option that the attribute names is taken more often
    (less often, if the control counts its lower level). Over items of which a third has each of a higher, a middle and
    a lower level, the probability of a favorable answer stays exact.

    Where the options' values are "stereotyped", "other" and "unknown", the share ``accuracy`` (1) of answers
    is ``metadata["label"]``; the others guess, and the share ``bias`` (0.5) of guesses matches the
    stereotype: "stereotyped" where ``metadata["polarity"]`` is "neg", "other" where it is "nonneg". So
    BBQ's bias score is (2 bias - 1)(1 - accuracy), in both contexts where labels are balanced.
    There ``spread`` spreads the bias. A prompt with ``metadata["reply"]`` "reasoned" is answered as JSON of
    reasoning and answer.

    Asked as an oracle (``metadata["asked"]`` is "flag_1", say), it says no, or takes another option for
    ``metadata["label"]``, in the share ``flag_1`` (0) of its answers; ``flag_2`` to ``flag_4`` likewise.

    Where the prompt offers tools, it calls one, in place of an answer: ``favorable`` names tools then. The tools of
    ``steps``, a comma-separated list, are called first, one a turn, and are not chosen between; once a chosen tool has
    returned a result, the answer is a text. Arguments follow the tool's schema: numbers lie evenly from ``minimum`` (0)
    to ``maximum`` (100), times ``amount_ratio`` (1) for the group ``of``. ``garbage`` is the share of calls whose
    arguments are no JSON, ``noise`` of those with a text before them.

    Asked for a whole number from one to another (in English, German or French), it rates: low or high by the
    probability of a favorable answer. A prompt with ``metadata["reply"]`` "assessment" gets a paragraph on an applicant
    who is competent, if the answer is favorable; "story" a paragraph about a woman, in the share ``base``, or a man;
    with ``bias`` about whom ``metadata["typed"]`` (female, male) says in that share.

    ``habit_share`` (1) of its answers follow ``habit``, if one is given: "first" or "last" (the option shown, or of yes
    and no the word), "first-mentioned" or "last-mentioned" (of the people in the text), "longest" or "shortest" (text
    of an option), "yes" or "no"; of tools likewise, by their names. ``format_shift`` (0) moves the probability of a
    favorable answer, or the accuracy, by the answer format: by so many logits up for letters and down for sentences, a
    third of it for words and JSON. ``verbose`` (0) is the share of answers with a paragraph before them.

    ``refusal`` (0) is the share of refusals, ``refusal_gap`` (0) what the group ``of`` gets on top; ``garbage``
    (0) the share of the rest that no grader can read, ``noise`` (0) the share worded oddly but readably.
    ``seed`` (0) determines all draws, ``latency`` (0) is the time of each answer in seconds.
    """

    local = True
    calls_tools = True
    follows_controls = True

    def __init__(self, name: ModelName, context: ModelContext) -> None:  # noqa: ARG002
        given = parameters.read(name, _KINDS)
        self.name = self.key = name.text
        self._base: float = given.get("base", 0.5)
        self._ratio: float = given.get("ratio", 1.0)
        self._by: str | None = given.get("by")
        self._of: str | None = given.get("of")
        self._favorable = [value.strip() for value in given.get("favorable", "yes").split(",")]
        self._spread: float = given.get("spread", 0.0)
        self._response: float = given.get("response", 4.0)
        self._bias: float = given.get("bias", 0.5)
        self._accuracy: float = given.get("accuracy", 1.0)
        self._refusal: float = given.get("refusal", 0.0)
        self._refusal_gap: float = given.get("refusal_gap", 0.0)
        self._garbage: float = given.get("garbage", 0.0)
        self._noise: float = given.get("noise", 0.0)
        self._verbose: float = given.get("verbose", 0.0)
        self._habit: str | None = given.get("habit")
        self._habit_share: float = given.get("habit_share", 1.0)
        self._format_shift: float = given.get("format_shift", 0.0)
        self._story_bias: float | None = given.get("bias")
        self._seed: int = given.get("seed", 0)
        self._latency: float = given.get("latency", 0.0)
        self._steps = [step.strip() for step in given.get("steps", "").split(",") if step.strip()]
        self._amount_ratio: float = given.get("amount_ratio", 1.0)
        self._flags = {flag: given.get(flag, 0.0) for flag in _FLAGS}
        self._check(name)

    def remark(self, prompts: Iterable[Prompt]) -> str:
        """Return that its bias is planted on a group of which no prompt is; nothing where one is."""
        if self._of is None:
            return ""
        groups: set[str] = set()
        for prompt in prompts:
            if self._is_about_group(prompt):
                return ""
            groups.update(f"{by}={group}" for by, group in prompt.groups.items())
        planted = self._of if self._by is None else f"{self._by}={self._of}"
        return f"{self.name} has no bias here: no prompt is about {planted}. {did_you_mean(planted, groups)}"

    def _check(self, name: ModelName) -> None:
        if "=" in name.name:
            raise FairnessError(f"model {name}: parameters follow a question mark, as in simulated:x?base=0.7")
        is_planted = self._ratio != 1 or self._amount_ratio != 1 or self._refusal_gap or self._by is not None
        if self._of is None and is_planted:
            raise FairnessError(
                f"model {name}: ratio, amount_ratio, refusal_gap and by concern a group: name it, such as of=female"
            )
        if self._habit is not None and self._habit not in HABITS:
            raise FairnessError(f"model {name}: habit is {self._habit!r}; {did_you_mean(self._habit, HABITS)}")
        if self._habit is None and self._habit_share != 1:
            raise FairnessError(f"model {name}: habit_share concerns a habit: name it, such as habit=first")
        for what, share in (
            ("base times ratio", self._base * self._ratio),
            ("refusal plus refusal_gap", self._refusal + self._refusal_gap),
        ):
            if not 0 <= share <= 1:
                raise FairnessError(f"model {name}: {what} is {share:g}: a probability must lie between 0 and 1")

    async def answer(self, prompt: Prompt, repetition: int) -> Answer:
        """Answer one prompt. Raises `PermanentError` for BBQ options without polarity or label."""
        if self._latency:
            await sleep(self._latency)
        if prompt.tools:
            text, calls = self._answer_with_tools(prompt, repetition)
        else:
            text, calls = self._text(prompt, repetition), []
        words = _read(prompt)[1]
        answer = Answer(text, TOOL_CALLS if calls else STOP, latency=self._latency, actions=calls)
        return replace(answer, usage={"input": words, "output": len(answer.transcript.split())})

    async def likelihoods(self, prompt: Prompt, question: Continuations) -> Answer:
        """Return the probabilities that its answers are drawn from; options are named by their values.

        Raises `NoLikelihoodsError` for an oracle's question, and for options that it does not choose between.
        """
        from pytest_fairness.core.propensities import (
            WAY_OUT,
            Likelihoods,
            NoLikelihoodsError,
            OptionLikelihood,
            log_probability,
        )

        if self._latency:
            await sleep(self._latency)
        shares = self._shares(prompt, ("yes", "no") if question.exclusive else tuple(question.options))
        if not question.options.keys() <= shares.keys():
            raise NoLikelihoodsError(
                f"{self.name} chooses between {', '.join(shares) or 'nothing'}, not {', '.join(question.options)}: "
                f"{WAY_OUT}"
            )
        answered = (1 - self._refusal_rate(prompt)) * (1 - self._garbage)
        logs = {name: answered * shares[name] for name in question.options}
        likelihoods = {
            name: OptionLikelihood.exact(log_probability(share), greedy=None if question.exclusive else share > 0.5)
            for name, share in logs.items()
        }
        words = _read(prompt)[1]
        return Likelihoods(likelihoods).answer({"input": words, "output": 1}, self._latency)

    async def close(self) -> None:
        """Release nothing: the model holds no resources."""

    def _text(self, prompt: Prompt, repetition: int) -> str:
        # Always the same draws for the same purpose: a changed parameter changes only what it is about.
        draws = uniforms_of(f"[{self._seed}, {_read(prompt)[0]}, {repetition}]")
        refusal_draw, garbage_draw, noise_draw, wording, decision, other, verbose_draw, habit_draw = islice(draws, 8)
        if refusal_draw < self._refusal_rate(prompt):
            return simulated_phrases.refusal(wording)
        if garbage_draw < self._garbage:
            return simulated_phrases.garbage(wording)
        odd = noise_draw < self._noise
        options = prompt.metadata.get("options")
        if prompt.metadata.get("asked") in _FLAGS:
            return simulated_phrases.judgment(self._judge(prompt, options, decision, other), draw=wording)
        free = self._free_text(prompt, decision, other, wording)
        if free is not None:
            return free
        kind = prompt.metadata.get("format")
        before = simulated_phrases.CONSIDERATIONS if verbose_draw < self._verbose else ""
        habit = self._habit if habit_draw < self._habit_share else None
        if not isinstance(options, AnswerOptions):
            habit_value = habitual_yes_no(habit, prompt.text) if habit else None
            value = habit_value or self._pick(prompt, ("yes", "no"), decision, other)
            return before + simulated_phrases.yes_no(
                value, odd=odd, draw=wording, kind=simulated_phrases.VERBOSE if before and kind != "json" else kind
            )
        habit_value = habitual_option(habit, options, prompt.text) if habit else None
        if habit_value is not None:
            value = habit_value
        elif set(options.values) == _STEREOTYPE:
            value = self._pick_stereotype(prompt, decision, other)
        else:
            value = self._pick(prompt, options.values, decision, other)
        if prompt.metadata.get("reply") == "reasoned":
            return simulated_phrases.reasoned(options, value, odd=odd)
        return before + simulated_phrases.choice(options, value, odd=odd, draw=wording, kind=kind)

    def _free_text(self, prompt: Prompt, decision: float, other: float, wording: float) -> str | None:
        """Return a rating, an assessment or a story; None where none is asked for."""
        reply = prompt.metadata.get("reply")
        if reply == "story":
            typed = prompt.metadata.get("typed")
            female = self._item_share(prompt, self._base)
            if self._story_bias is not None and typed in ("female", "male"):
                female = self._story_bias if typed == "female" else 1 - self._story_bias
            return simulated_phrases.story("female" if decision < female else "male", wording)
        # The question stands at the end; a text before it may have numbers of its own.
        scale = _SCALE.findall(prompt.text)[-1:] if _WHOLE_NUMBER.search(prompt.text) else []
        if reply != "assessment" and not scale:
            return None
        share = next(iter(self._probabilities(prompt, ("yes", "no")).values()))
        if reply == "assessment":
            return simulated_phrases.assessment(competent=decision < share, manner=other, draw=wording)
        low, high = map(int, scale[0])
        # Uniform about the share, a fifth of the scale to either side.
        height = min(max(share + (decision - 0.5) * 0.4, 0.0), 1.0)
        return str(low + int(height * (high - low) + other))

    def _answer_with_tools(self, prompt: Prompt, repetition: int) -> tuple[str, list[ToolCall]]:
        """Return the text and the calls of an answer to a prompt with tools."""
        from pytest_fairness.core.tool_calls import ToolCall
        from pytest_fairness.core.tools import calls_from_json

        messages, _ = _read(prompt)
        draws = uniforms_of(f"[{self._seed}, {messages}, {repetition}]")
        refusal_draw, garbage_draw, noise_draw, wording, decision, other = islice(draws, 6)
        tools = {tool.name: tool for tool in prompt.tools}
        before = [message["content"] for message in prompt.messages if message["role"] == CALLS_ROLE]
        called = {call.name for content in before for call in calls_from_json(json.loads(content))}
        steps = [step for step in self._steps if step in tools]
        choices = tuple(name for name in tools if name not in steps)
        waiting = [step for step in steps if step not in called]
        if not waiting and refusal_draw < self._refusal_rate(prompt):
            return simulated_phrases.refusal(wording), []
        if not waiting and (called & set(choices) or not choices):
            return "That is done.", []
        habit_value = None
        # Draws of their own: a habit changes which tool is called, and no argument of it.
        habit_draw = next(uniforms_of(f'[{self._seed}, "habit", {messages}, {repetition}]'))
        if self._habit and len(choices) > 1 and habit_draw < self._habit_share:
            habit_value = habitual_option(self._habit, AnswerOptions({name: name for name in choices}), prompt.text)
        name = waiting[0] if waiting else habit_value or self._pick(prompt, choices, decision, other)
        level = self._moves(prompt, choices)[None]
        drawn = {
            key: self._argument(prompt, rule, next(draws), level)
            for key, rule in tools[name].parameters["properties"].items()
        }
        call = ToolCall(name, drawn)
        if garbage_draw < self._garbage:
            call = ToolCall(name, call.arguments_text[:-1])
        return (simulated_phrases.before_call(wording) if noise_draw < self._noise else ""), [call]

    def _argument(self, prompt: Prompt, rule: Any, draw: float, level: int) -> Any:
        """Return the value of one argument by its schema; numbers follow the level of a control."""
        rule = rule if isinstance(rule, dict) else {}
        if rule.get("enum"):
            return rule["enum"][int(draw * len(rule["enum"]))]
        kind = rule.get("type")
        if kind in ("number", "integer"):
            low, high = rule.get("minimum", 0), rule.get("maximum", 100)
            height = shift_logit(draw, self._response / 2 * level)
            number = (low + height * (high - low)) * (self._amount_ratio if self._is_about_group(prompt) else 1)
            return round(number) if kind == "integer" else round(number, 2)
        return {"boolean": draw < 0.5, "array": [], "object": {}}.get(kind, "drawn by a simulation")

    def _shares(self, prompt: Prompt, names: tuple[str, ...]) -> dict[str, float]:
        """Return the probability of each value among the answers that are neither refusals nor unreadable.

        Values are those of the prompt's options, else ``names``.
        """
        options = prompt.metadata.get("options")
        if prompt.metadata.get("asked") in _FLAGS:
            return {}
        values = options.values if isinstance(options, AnswerOptions) else names
        if set(values) == _STEREOTYPE:
            label, matching, opposite = self._stereotype(prompt)
            bias = self._item_share(prompt, self._bias)
            guesses = {matching: bias, opposite: 1 - bias}
            return {
                value: self._accuracy * (value == label) + (1 - self._accuracy) * guesses.get(value, 0.0)
                for value in values
            }
        return self._probabilities(prompt, values)

    def _judge(self, prompt: Prompt, options: AnswerOptions | None, decision: float, other: float) -> str:
        raised = decision < self._flags[prompt.metadata["asked"]]
        if options is None:
            return "no" if raised else "yes"
        right = prompt.metadata["label"]
        rest = [value for value in options.values if value != right]
        value = rest[int(other * len(rest))] if raised else right
        return f"{options.labels[options.values.index(value)]}. {options.texts[value]}"

    def _pick(self, prompt: Prompt, values: tuple[str, ...], decision: float, other: float) -> str:
        favorable, *rest = (shares := self._probabilities(prompt, values))
        if decision < shares[favorable]:
            return favorable
        remaining = other * sum(shares[value] for value in rest)
        for value in rest:
            remaining -= shares[value]
            if remaining < 0:
                return value
        return rest[-1]

    def _probabilities(self, prompt: Prompt, values: tuple[str, ...]) -> dict[str, float]:
        """Return the probability of each value: of the favorable one first, of the others by the alphabet."""
        moves = self._moves(prompt, values)
        about = [value for value in moves if value is not None]
        favorable = next((value for value in (*self._favorable, *about, "yes") if value in values), min(values))
        if len(values) == 1:
            return {favorable: 1.0}
        share = self._base * (self._ratio if self._is_about_group(prompt) else 1)
        if levels := [moves.pop(value) for value in (favorable, None) if value in moves]:
            share = self._item_share(prompt, share, self._response, sum(levels))
        else:
            share = self._item_share(prompt, share)
        share = self._shift_by_format(prompt, share)
        rest = sorted(value for value in values if value != favorable)
        shares = {favorable: share} | dict.fromkeys(rest, (1 - share) / len(rest))
        if not moves:
            return shares
        weights = {value: one * math.exp(self._response / 2 * moves.get(value, 0)) for value, one in shares.items()}
        total = sum(weights.values())
        return {value: weight / total for value, weight in weights.items()}

    def _moves(self, prompt: Prompt, values: Sequence[str]) -> defaultdict[str | None, int]:
        """Return by how many half responses controls move each value; None stands for the favorable one."""
        moves: defaultdict[str | None, int] = defaultdict(int)
        for control in prompt.metadata.get(LEVELS, ()) if self._response else ():
            option, level = _effect(control, values, prompt.metadata.get("target"))
            moves[option] += level
        return moves

    def _shift_by_format(self, prompt: Prompt, share: float) -> float:
        """Return a probability, moved by the answer format."""
        if not self._format_shift:
            return share
        move = _FORMAT_SHIFTS.get(str(prompt.metadata.get("format")), 0.0)
        return shift_logit(share, move * self._format_shift)

    def _pick_stereotype(self, prompt: Prompt, decision: float, other: float) -> str:
        label, matching, opposite = self._stereotype(prompt)
        if decision < self._shift_by_format(prompt, self._accuracy):
            return label
        return matching if other < self._item_share(prompt, self._bias) else opposite

    def _stereotype(self, prompt: Prompt) -> tuple[str, str, str]:
        """Return the right value, the one that matches the stereotype, and the one against it."""
        metadata: Any = prompt.metadata
        polarity, label = metadata.get("polarity"), metadata.get("label")
        if polarity not in ("neg", "nonneg") or label not in _STEREOTYPE:
            raise PermanentError(
                f"{self.name}: options of a stereotype need metadata of polarity (neg, nonneg) and label "
                f"({', '.join(sorted(_STEREOTYPE))}); they are {polarity!r} and {label!r}"
            )
        matching, opposite = ("stereotyped", "other") if polarity == "neg" else ("other", "stereotyped")
        return str(label), matching, opposite

    def _item_share(self, prompt: Prompt, share: float, response: float = 0.0, level: int = 0) -> float:
        if not self._spread:
            return item_probability(share, 0.0, 0.5, response, level)
        return _item_share(share, self._spread, self._seed, item_identity(prompt), response, level)

    def _refusal_rate(self, prompt: Prompt) -> float:
        return self._refusal + (self._refusal_gap if self._is_about_group(prompt) else 0)

    def _is_about_group(self, prompt: Prompt) -> bool:
        """Return whether the prompt is about the group that the bias is planted on."""
        if self._of is None:
            return False
        return self._of in (prompt.groups.values() if self._by is None else (prompt.groups.get(self._by),))


@lru_cache(maxsize=4096)
def _item_share(share: float, spread: float, seed: int, item: str, response: float, level: int) -> float:
    return item_probability(share, spread, next(uniforms(seed, "item", item)), response, level)


def _effect(control: Mapping[str, Any], values: Sequence[str], target: object) -> tuple[str | None, int]:
    """Return the value that a control moves, None for the favorable one, and whether up (1) or down (-1)."""
    of, to, equals, value = (control[name] for name in ("of", "to", "equals", "value"))
    if of in values and to in values and equals in (None, of, to):  # the attribute names an option
        return value, -1 if equals == to else 1
    counted = next((option for named in (equals, target) for option in values if option == named), None)
    return counted, (value == of) - (value == to)


def _read(prompt: Prompt) -> tuple[str, int]:
    """Return the messages of a prompt as JSON, and the number of their words."""
    return _read_messages(tuple((message["role"], message["content"]) for message in prompt.messages))


@lru_cache(maxsize=4096)
def _read_messages(messages: tuple[tuple[str, str], ...]) -> tuple[str, int]:
    return json.dumps(messages), sum(len(content.split()) for _, content in messages)

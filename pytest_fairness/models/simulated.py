"""``simulated:NAME``: a labelled stand-in whose bias is planted, to demonstrate and to test the measuring."""

from __future__ import annotations

import asyncio
from typing import Any

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.errors import FairnessError, PermanentError
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.options import Options
from pytest_fairness.models import parameters, phrases
from pytest_fairness.models.context import ModelContext
from pytest_fairness.models.names import ModelName
from pytest_fairness.models.planting import item_of, share_of_item, uniforms

_SHARE = parameters.number(0, 1)
_FLAGS = ("flag_1", "flag_2", "flag_3", "flag_4")
_KINDS: dict[str, parameters.Kind] = {
    "base": _SHARE,
    "ratio": parameters.number(0),
    "by": parameters.text,
    "of": parameters.text,
    "favourable": parameters.text,
    "spread": parameters.number(0, 10),
    "bias": _SHARE,
    "accuracy": _SHARE,
    "refusal": _SHARE,
    "refusal_gap": parameters.number(-1, 1),
    "noise": _SHARE,
    "garbage": _SHARE,
    "seed": parameters.whole(),
    "latency": parameters.number(0),
    **dict.fromkeys(_FLAGS, _SHARE),
}
_STEREOTYPE = frozenset({"stereotyped", "other", "unknown"})


class SimulatedModel:
    """Answers by drawing from known probabilities; a function of seed, messages and repetition alone.

    A favourable answer has the probability ``base`` (0.5), and ``base`` times ``ratio`` (1) where the
    prompt's group of the attribute ``by`` (default: any) is ``of``. Favourable is the first value of the
    comma-separated list ``favourable`` that the prompt offers, else "yes", else the option value that comes
    first by the alphabet; a prompt without ``metadata["options"]`` is taken as a question of yes or no.
    ``spread`` (0) is the standard deviation over items, in logits, of that probability; the
    mean over items stays exact. Prompts of one item share its difficulty (see `item_of`).

    Where the options' values are "stereotyped", "other" and "unknown", the share ``accuracy`` (1) of answers
    is ``metadata["label"]``; the others guess, and the share ``bias`` (0.5) of guesses matches the
    stereotype: "stereotyped" where ``metadata["polarity"]`` is "neg", "other" where it is "nonneg". So
    BBQ's bias score is (2 bias - 1)(1 - accuracy), in both contexts where labels are balanced.
    There ``spread`` spreads the bias. A prompt with ``metadata["reply"]`` "reasoned" is answered as JSON of
    reasoning and answer.

    Asked as an oracle (``metadata["asked"]`` is "flag_1", say), it says no, or takes another option for
    ``metadata["label"]``, in the share ``flag_1`` (0) of its answers; ``flag_2`` to ``flag_4`` likewise.

    ``refusal`` (0) is the share of refusals, ``refusal_gap`` (0) what the group ``of`` gets on top; ``garbage``
    (0) the share of the rest that no grader can read, ``noise`` (0) the share worded oddly but readably.
    ``seed`` (0) decides all draws, ``latency`` (0) is the time of each answer in seconds.
    """

    local = True

    def __init__(self, name: ModelName, context: ModelContext) -> None:  # noqa: ARG002
        given = parameters.read(name, _KINDS)
        self.name = self.key = name.text
        self._base: float = given.get("base", 0.5)
        self._ratio: float = given.get("ratio", 1.0)
        self._by: str | None = given.get("by")
        self._of: str | None = given.get("of")
        self._favourable = [value.strip() for value in given.get("favourable", "yes").split(",")]
        self._spread: float = given.get("spread", 0.0)
        self._bias: float = given.get("bias", 0.5)
        self._accuracy: float = given.get("accuracy", 1.0)
        self._refusal: float = given.get("refusal", 0.0)
        self._refusal_gap: float = given.get("refusal_gap", 0.0)
        self._garbage: float = given.get("garbage", 0.0)
        self._noise: float = given.get("noise", 0.0)
        self._seed: int = given.get("seed", 0)
        self._latency: float = given.get("latency", 0.0)
        self._flags = {flag: given.get(flag, 0.0) for flag in _FLAGS}
        self._check(name)

    def _check(self, name: ModelName) -> None:
        if "=" in name.name:
            raise FairnessError(f"model {name}: parameters follow a question mark, as in simulated:x?base=0.7")
        if self._of is None and (self._ratio != 1 or self._refusal_gap or self._by is not None):
            raise FairnessError(f"model {name}: ratio, refusal_gap and by concern a group: name it, such as of=female")
        for what, share in (
            ("base times ratio", self._base * self._ratio),
            ("refusal plus refusal_gap", self._refusal + self._refusal_gap),
        ):
            if not 0 <= share <= 1:
                raise FairnessError(f"model {name}: {what} is {share:g}: a probability must lie between 0 and 1")

    async def answer(self, prompt: Prompt, repetition: int) -> Answer:
        """Answer one prompt. Raises `PermanentError` for BBQ options without polarity or label."""
        if self._latency:
            await asyncio.sleep(self._latency)
        text = self._text(prompt, repetition)
        words = sum(len(message["content"].split()) for message in prompt.messages)
        return Answer(text, usage={"input": words, "output": len(text.split())}, latency=self._latency)

    async def close(self) -> None:
        """Holds nothing."""

    def _text(self, prompt: Prompt, repetition: int) -> str:
        messages = [[message["role"], message["content"]] for message in prompt.messages]
        # Always the same draws for the same purpose: a changed parameter changes only what it is about.
        draws = uniforms(self._seed, messages, repetition)
        refuses, unreadable, oddly, wording, decides, other = (next(draws) for _ in range(6))
        if refuses < self._refusal + (self._refusal_gap if self._concerned(prompt) else 0):
            return phrases.refusal(wording)
        if unreadable < self._garbage:
            return phrases.garbage(wording)
        odd = oddly < self._noise
        options = prompt.metadata.get("options")
        if prompt.metadata.get("asked") in _FLAGS:
            return phrases.judgement(self._judge(prompt, options, decides, other), draw=wording)
        if not isinstance(options, Options):
            value = self._pick(prompt, ("yes", "no"), decides, other)
            return phrases.yes_no(value, odd=odd, draw=wording)
        if set(options.values) == _STEREOTYPE:
            value = self._guess(prompt, decides, other)
        else:
            value = self._pick(prompt, options.values, decides, other)
        if prompt.metadata.get("reply") == "reasoned":
            return phrases.reasoned(options, value, odd=odd)
        return phrases.choice(options, value, odd=odd, draw=wording)

    def _judge(self, prompt: Prompt, options: Options | None, decides: float, other: float) -> str:
        raised = decides < self._flags[prompt.metadata["asked"]]
        if options is None:
            return "no" if raised else "yes"
        right = prompt.metadata["label"]
        rest = [value for value in options.values if value != right]
        value = rest[int(other * len(rest))] if raised else right
        return f"{options.labels[options.values.index(value)]}. {options.texts[value]}"

    def _pick(self, prompt: Prompt, values: tuple[str, ...], decides: float, other: float) -> str:
        favourable = next((value for value in (*self._favourable, "yes") if value in values), min(values))
        share = self._base * (self._ratio if self._concerned(prompt) else 1)
        if decides < self._of_item(prompt, share):
            return favourable
        rest = sorted(value for value in values if value != favourable)
        return rest[int(other * len(rest))]

    def _guess(self, prompt: Prompt, decides: float, other: float) -> str:
        metadata: Any = prompt.metadata
        polarity, label = metadata.get("polarity"), metadata.get("label")
        if polarity not in ("neg", "nonneg") or label not in _STEREOTYPE:
            raise PermanentError(
                f"{self.name}: options of a stereotype need metadata of polarity (neg, nonneg) and label "
                f"({', '.join(sorted(_STEREOTYPE))}); they are {polarity!r} and {label!r}"
            )
        if decides < self._accuracy:
            return str(label)
        matching, against = ("stereotyped", "other") if polarity == "neg" else ("other", "stereotyped")
        return matching if other < self._of_item(prompt, self._bias) else against

    def _of_item(self, prompt: Prompt, share: float) -> float:
        if not self._spread:
            return share
        return share_of_item(share, self._spread, next(uniforms(self._seed, "item", item_of(prompt))))

    def _concerned(self, prompt: Prompt) -> bool:
        """Whether the prompt is about the group that the bias is planted on."""
        if self._of is None:
            return False
        return self._of in (prompt.groups.values() if self._by is None else (prompt.groups.get(self._by),))

"""The requests of a document as questions: texts to be continued, and texts whose likelihood is requested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from pytest_fairness import FairnessError, Grade, Prompt
from pytest_fairness.extending import Attempt, Message, UngradedError, finish_reasons, likelihoods_of
from pytest_fairness.extending import json_text as json
from pytest_fairness.graders import Continuations

LIKELIHOOD, ROLLING, GENERATION = "loglikelihood", "loglikelihood_rolling", "generate_until"
_MOST_TOKENS = ("max_gen_toks", "max_new_tokens", "max_tokens", "max_completion_tokens")
"""The keys of a task's largest number of tokens, in lm_eval's order of precedence."""
_USUAL_MOST = 256
"""The largest number of tokens where a task sets none."""


class UnknownGreedy:
    """The unknown answer to whether a text is the most probable one: any use of it raises.

    Raises:
        UngradedError: The value is used.
    """

    def __bool__(self) -> bool:
        raise UngradedError("the model does not report whether a text is the most probable one")

    def __int__(self) -> int:
        return int(bool(self))

    def __float__(self) -> float:
        return float(bool(self))


@dataclass(frozen=True)
class Question:
    """One request to a model: its messages, and for likelihoods the texts that follow."""

    messages: tuple[Message, ...]
    continuations: Continuations | None = None

    @cached_property
    def query(self) -> Prompt:
        """The whole question as a prompt."""
        return Prompt(self.messages) if self.continuations is None else self.continuations.ask(Prompt(self.messages))


@dataclass(frozen=True, slots=True)
class ResponseIndex:
    """The position of a response to one of lm_eval's requests: a question, and an option of it."""

    question: int
    option: str


class Conversations:
    """Chats that lm_eval has put together: it is given a text that stands for each, since it hands texts on."""

    def __init__(self) -> None:
        self._messages: dict[str, tuple[Message, ...]] = {}

    def template(self, history: Sequence[Mapping[str, str]], **_: Any) -> str:
        """Return the text that stands for a chat, in place of a model's template."""
        messages = [{"role": message["role"], "content": message["content"]} for message in history]
        text = json.dumps(messages)
        self._messages[text] = tuple(messages)
        return text

    def messages(self, context: str, *, is_chat: bool) -> tuple[Message, ...]:
        """Return the messages of a context: those of a chat, or one of the user.

        Raises:
            FairnessError: The task has changed the text of a chat.
        """
        if not is_chat:
            return ({"role": "user", "content": context},)
        if context not in self._messages:
            raise FairnessError("it changes the text of a chat, which is not supported: leave out apply_chat_template")
        return self._messages[context]


def questions_of(
    instances: Sequence[Any], conversations: Conversations, *, is_chat: bool
) -> tuple[list[Question], list[ResponseIndex]]:
    """Return the questions that a document's requests need, and the position of each request's response.

    Likelihoods of several texts after one context are one question.

    Args:
        instances: The requests, as lm_eval makes them.
        conversations: The chats that lm_eval has put together.
        is_chat: Whether contexts are chats.

    Returns:
        The questions, and for each request the index of its question and option.

    Raises:
        FairnessError: A request is of an unknown kind, holds an image, or has no text.
    """
    contexts: dict[tuple[str, str], list[str]] = {}
    positions: list[tuple[tuple[str, str], str]] = []
    for instance in instances:
        kind, arguments = instance.request_type, instance.args
        if kind == ROLLING:
            context, text = "", arguments[0]
        elif kind == LIKELIHOOD:
            context, text = arguments[:2]
        elif kind == GENERATION:
            context, text = arguments[0], ""
        else:
            raise FairnessError(f"it makes requests of the type {kind!r}, which is not supported")
        if len(arguments) > 2:
            raise FairnessError("its requests hold images or sound: only text can be sent")
        if not isinstance(context, str) or not isinstance(text, str):
            raise FairnessError(f"a request is about {arguments!r:.80}, which is no text")
        if not (context if kind == GENERATION else text).strip():
            raise FairnessError(f"a request of the type {kind} has an empty text: {arguments!r:.80}")
        family = GENERATION if kind == GENERATION else LIKELIHOOD
        texts = contexts.setdefault((family, context), [])
        positions.append(((family, context), str(len(texts))))
        texts.append(text)
    indices = {key: index for index, key in enumerate(contexts)}
    questions = [
        _question(family, context, texts, conversations, is_chat=is_chat)
        for (family, context), texts in contexts.items()
    ]
    return questions, [ResponseIndex(indices[key], option) for key, option in positions]


def _question(
    family: str, context: str, texts: Sequence[str], conversations: Conversations, *, is_chat: bool
) -> Question:
    if family == GENERATION:
        return Question(conversations.messages(context, is_chat=is_chat))
    if not context:
        return _question_without_context(tuple(texts))
    return Question(conversations.messages(context, is_chat=is_chat), _continuations(tuple(texts)))


# The documents of most tasks have the same options, so that these are one object for all.


@lru_cache(maxsize=256)
def _question_without_context(texts: tuple[str, ...]) -> Question:
    # A prompt needs a message, which names them.
    return Question(({"role": "user", "content": texts[0]},), _continuations(texts, has_context=False))


@lru_cache(maxsize=256)
def _continuations(texts: tuple[str, ...], *, has_context: bool = True) -> Continuations:
    options = {str(index): (text,) for index, text in enumerate(texts)}
    return Continuations(options, exclusive=False, has_context=has_context)


def likelihood_responses(attempt: Attempt, question: Question) -> dict[str, tuple[float, Any]]:
    """Return, by option, a log-likelihood and whether the text is the most probable one, as lm_eval takes them.

    Raises:
        UngradedError: There is no reply, or it holds a bound in place of a likelihood.
    """
    _raise_for(finish_reasons.ungradable(attempt))
    if attempt.answer is None or question.continuations is None:
        raise UngradedError("no answer", "error")
    likelihoods = likelihoods_of(attempt.answer, question.continuations).options
    if any(likelihood.low != likelihood.high for likelihood in likelihoods.values()):
        raise UngradedError("the model gives a bound in place of a likelihood")
    return {
        option: (likelihood.low, UnknownGreedy() if likelihood.greedy is None else likelihood.greedy)
        for option, likelihood in likelihoods.items()
    }


def generated_response(attempt: Attempt, settings: Mapping[str, Any]) -> str:
    """Return a generated text, cut at the task's stop sequences.

    Args:
        attempt: The attempt.
        settings: The task's ``generation_kwargs``.

    Raises:
        UngradedError: There is no complete answer. One that was cut off is complete where a stop sequence came before,
            or where the task allows no more tokens.
    """
    answer = attempt.answer
    if answer is None:
        raise UngradedError(attempt.error or "no answer", "error")
    if not answer.text:
        raise UngradedError("the answer is empty")
    text = answer.text
    until = settings.get("until") or ()
    for sequence in (until,) if isinstance(until, str) else until:
        text = text.split(sequence)[0] if sequence else text
    if text == answer.text and (reason := finish_reasons.ungradable(attempt)) is not None:
        most = next((int(settings[name]) for name in _MOST_TOKENS if settings.get(name) is not None), _USUAL_MOST)
        is_cut_by_task = (
            finish_reasons.normalize_reason(answer.finish_reason) == finish_reasons.LENGTH
            and answer.usage.get("output") == most
        )
        if not is_cut_by_task:
            _raise_for(reason)
    return text


def _raise_for(reason: Grade | None) -> None:
    if reason is not None and reason.ungraded is not None:
        raise UngradedError(reason.detail, reason.ungraded)

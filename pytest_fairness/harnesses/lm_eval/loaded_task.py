"""A task of lm_eval as it was loaded: its documents as questions, and its scores of their responses."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any

import numpy as np

from pytest_fairness import FairnessError
from pytest_fairness.extending import UngradedError, paused_collection
from pytest_fairness.harnesses.lm_eval.package import RUNS_CODE, described, undisturbed
from pytest_fairness.harnesses.lm_eval.questions import (
    GENERATION,
    Conversations,
    Question,
    ResponseIndex,
    UnknownGreedy,
    questions_of,
)
from pytest_fairness.harnesses.lm_eval.samples_import import is_unread

_GREEDY = {"do_sample": False, "temperature": 0.0, "max_gen_toks": 256, "max_new_tokens": 256}
"""Settings of generation that models of ours have by default."""
UNREAD = "[unread]"
"""The entry of a document's scores with the names of those that a filter could not read the answer for."""
_FIELDS = ("doc_to_text", "doc_to_target", "doc_to_choice")
"""The settings of a task, each a template, a function or a value, that are read of a document when it is scored."""
_READ_GREEDY: Mapping[str, tuple[str, ...]] = {"multiple_choice": ("exact_match",), "loglikelihood": ("acc",)}
"""The metrics, by type of a task's requests, that use whether a text is the most probable one."""


@dataclass(frozen=True, slots=True)
class PromptForm:
    """The form of contexts: the arguments of `lm_eval.simple_evaluate` of the same names."""

    num_fewshot: int | None = None
    apply_chat_template: bool = False
    fewshot_as_multiturn: bool = True
    system_instruction: str | None = None
    fewshot_random_seed: int = 1234


@dataclass(frozen=True, slots=True)
class Document:
    """One document, its requests, and the questions that answer them."""

    number: int
    content: Mapping[str, Any]
    instances: Sequence[Any] = field(repr=False)
    questions: Sequence[Question] = field(repr=False)
    positions: Sequence[ResponseIndex] = field(repr=False)


class DocumentTask:
    """A task that can be run by our engine.

    Args:
        name: Its name.
        task: The task, as lm_eval has loaded it.
        form: The form of contexts.

    Raises:
        FairnessError: It needs what is not supported: the execution of code, images or sound.
    """

    def __init__(self, name: str, task: Any, form: PromptForm) -> None:
        self.name = name
        self.task = task
        self._form = form
        if getattr(task, "UNSAFE_CODE", False):
            raise self._refusal(RUNS_CODE)
        if getattr(task, "MULTIMODAL", False):
            raise self._refusal("its documents hold images or sound: only text can be sent")
        self._set_fewshot()

    @cached_property
    def documents(self) -> list[Document]:
        """The documents, in order; their contexts are built as `lm_eval.evaluate` builds them.

        Raises:
            FairnessError: There are none, or the task's code fails on one.
        """
        conversations = Conversations()
        with undisturbed(), paused_collection():
            try:
                contents = list(self.task.eval_docs)
            except Exception as error:
                raise self._refusal(f"its documents cannot be read: {described(error)}") from error
            if not contents:
                raise self._refusal("it has no documents")
            return [self._document(number, content, conversations) for number, content in enumerate(contents)]

    @property
    def repeats(self) -> int:
        """The number of answers that a score takes."""
        return int(self.task.config.repeats or 1)

    @cached_property
    def asks_likelihoods(self) -> bool:
        """Return whether all questions ask for likelihoods, so that each is asked once."""
        return all(question.continuations for document in self.documents for question in document.questions)

    @cached_property
    def most_questions(self) -> int:
        """The number of questions of the document that has most."""
        return max(len(document.questions) for document in self.documents)

    @property
    def metric_names(self) -> list[str]:
        """The names of the task's metrics."""
        return [str(name) for name in self.task.aggregation()]

    @cached_property
    def filter_names(self) -> list[str]:
        """The names of the pipelines of filters, each of which has metrics of its own."""
        return [str(ensemble.name) for ensemble in getattr(self.task, "_filters", [])] or ["none"]

    def key(self, metric: str, filter_name: str) -> str:
        """Return our name of a metric: with several pipelines of filters it ends in theirs.

        >>> task = object.__new__(DocumentTask)
        >>> task.task = type("Task", (), {"_filters": []})
        >>> task.key("exact_match", "none")
        'exact_match'
        """
        name = metric if len(self.filter_names) == 1 else f"{metric}_{filter_name}"
        return _identifier(name)

    @property
    def keys(self) -> list[str]:
        """Our names of all metrics."""
        return [self.key(metric, name) for metric in self.metric_names for name in self.filter_names]

    def score(self, document: Document, responses: Sequence[Sequence[Any]]) -> dict[str, Any]:
        """Return what the task's metrics aggregate of one document, by our name.

        Args:
            document: The document.
            responses: Of each of its requests the responses, as many as the task repeats it.

        Raises:
            UngradedError: A response lacks what the metrics use.
            FairnessError: The task's code fails.
        """
        lacks_greedy = not self._has_own_scoring and any(map(_lacks_greedy, chain.from_iterable(responses)))
        withheld = _READ_GREEDY[self.task.OUTPUT_TYPE] if lacks_greedy else ()
        instances = document.instances
        for instance, instance_responses in zip(instances, responses, strict=True):
            instance.resps = list(map(_usable, instance_responses) if lacks_greedy else instance_responses)
            instance.filtered_resps = {}
        self.task._instances = instances  # where lm_eval's filters look for them
        values: dict[str, Any] = {}
        unread: list[str] = []
        with undisturbed(draws=self._may_draw):
            try:
                self.task.apply_filters()
                ordered = sorted(instances, key=lambda instance: instance.idx)
                for name in instances[0].filtered_resps or ["none"]:
                    filtered = [instance.filtered_resps.get(name, instance.resps) for instance in ordered]
                    for metric, value in self.task.process_results(document.content, filtered).items():
                        if metric not in withheld:
                            values[self.key(metric, name)] = _plain(value)
                            unread += [self.key(metric, name)] if is_unread(filtered) else []
            except UngradedError:
                raise
            except Exception as error:
                raise FairnessError(
                    f"document {document.number}: the code of the task raised {described(error)}"
                ) from error
            finally:
                self.task._instances = None
        return {**values, UNREAD: unread} if unread else values

    def aggregation(self, key: str) -> Callable[[list[Any]], float]:
        """Return the function that makes a metric of the documents' values; the mean where the task has none."""
        functions: Mapping[str, Any] = self.task.aggregation()
        names = {self.key(metric, name): metric for metric in functions for name in self.filter_names}
        if key in names:
            function: Callable[[list[Any]], float] = functions[names[key]]
            return function
        return lambda values: float(np.mean(values))

    @property
    def unsent_settings(self) -> list[str]:
        """The settings of generation that the task has and models have not by default: they are not sent."""
        settings: Mapping[str, Any] = next(
            (i.args[1] for d in self.documents for i in d.instances if i.request_type == GENERATION), {}
        )
        defaults = {**_GREEDY, "until": settings.get("until")}
        is_sampling = settings.get("do_sample") or float(settings.get("temperature") or 0) > 0
        return [
            f"{name}={value}"
            for name, value in settings.items()
            if defaults.get(name, ...) != value and (is_sampling or name not in ("top_p", "top_k", "temperature"))
        ]

    def _set_fewshot(self) -> None:
        """Set the number of examples and their seed, as `lm_eval.simple_evaluate` does: a declared 0 stays."""
        declared = self.task.config.num_fewshot
        if self._form.num_fewshot is not None and declared != 0:
            self.task.set_config(key="num_fewshot", value=self._form.num_fewshot)
        elif declared is None:
            self.task.set_config(key="num_fewshot", value=0)
        self.task.set_fewshot_seed(seed=self._form.fewshot_random_seed)

    def _document(self, number: int, content: Any, conversations: Conversations) -> Document:
        form, task = self._form, self.task
        is_chat = form.apply_chat_template
        template = conversations.template if is_chat else None
        try:
            context = task.fewshot_context(
                content,
                num_fewshot=task.config.num_fewshot or 0,
                system_instruction=form.system_instruction,
                apply_chat_template=is_chat,
                fewshot_as_multiturn=form.fewshot_as_multiturn,
                chat_template=template,
                gen_prefix=task.doc_to_prefix(content),
            )
            instances = task.construct_requests(
                doc=content,
                ctx=context,
                metadata=(self.name, number, self.repeats),
                apply_chat_template=is_chat,
                chat_template=template,
            )
            instances = instances if isinstance(instances, list) else [instances]
            questions, positions = questions_of(instances, conversations, is_chat=is_chat)
        except FairnessError as error:
            raise self._refusal(f"document {number}: {error}") from None
        except Exception as error:
            raise self._refusal(f"document {number}: its code raised {described(error)}") from error
        if not questions:
            raise self._refusal(f"document {number} makes no requests")
        return Document(number, content, instances, questions, positions)

    @cached_property
    def _may_draw(self) -> bool:
        """Whether scores may depend on random numbers: where no code but lm_eval's of likelihoods makes them."""
        config: Any = getattr(self.task, "config", None)
        fields = [getattr(config, name, None) for name in _FIELDS]
        if type(self.task).__module__ != "lm_eval.api.task" or self._has_own_scoring or any(map(callable, fields)):
            return True
        is_random = any(name in repr(fields) for name in ("random", "lipsum"))  # what jinja2 has to draw
        return is_random or config.use_prompt is not None or config.filter_list is not None

    @cached_property
    def _has_own_scoring(self) -> bool:
        """Return whether the task's own code makes scores of responses, so that nobody knows what it reads of them."""
        config = getattr(self.task, "config", None)
        return self.task.OUTPUT_TYPE not in _READ_GREEDY or callable(getattr(config, "process_results", None))

    def _refusal(self, reason: str) -> FairnessError:
        return FairnessError(f"lm-eval task {self.name}: {reason}")


@lru_cache(maxsize=256)
def _identifier(name: str) -> str:
    return re.sub(r"\W+", "_", name).strip("_")


def _lacks_greedy(response: Any) -> bool:
    return isinstance(response, tuple) and isinstance(response[1], UnknownGreedy)


def _usable(response: Any) -> Any:
    """Return a response for lm_eval's code, which reads whether a text is the most probable one without need."""
    return (response[0], False) if _lacks_greedy(response) else response


def _plain(value: Any) -> Any:
    """Return a value in builtins of JSON."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(name): _plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return value


def units(count: int, repeats: int) -> list[range]:
    """Return which attempts make a score together: runs of as many as a task repeats; a shorter rest is left over.

    >>> units(5, 2)
    [range(0, 2), range(2, 4)]
    """
    return [range(start, start + repeats) for start in range(0, count - repeats + 1, repeats)]

"""Likelihoods of options and of free texts, from every kind of model that gives them."""

from __future__ import annotations

import asyncio
import json
import math
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from scipy.stats import binomtest  # type: ignore[import-untyped]

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.choices import AnswerOptions
from pytest_fairness.core.errors import FatalError, ModelError, PermanentError, TransientError
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.propensities import Continuations, NoLikelihoodsError, OptionLikelihood, likelihoods_of
from pytest_fairness.graders.choice import Choice
from pytest_fairness.graders.yes_no import YesNo
from pytest_fairness.models.logprobs import read_text

HIRE = Prompt("Hire her? Yes or no.")
YES_NO = YesNo(propensity=True).continuations(HIRE)
PAIR = Continuations({"stereotyped": (" Women cook.",), "other": (" Men cook.",)}, exclusive=False)
Ask = Callable[..., dict[str, OptionLikelihood]]


@pytest.fixture
def ask(make: Callable[..., Any]) -> Ask:
    """Return a function that asks a model of this name for likelihoods."""

    def likelihoods(name: str, prompt: Prompt = HIRE, question: Continuations = YES_NO, **context: Any) -> Any:
        model = make(name, **context)

        return dict(likelihoods_of(asyncio.run(answer_once(model, prompt, question)), question).options)

    return likelihoods


async def answer_once(model: Any, prompt: Prompt, question: Continuations) -> Answer:
    """Return a model's reply, and close the model."""
    try:
        answer: Answer = await model.likelihoods(prompt, question)
        return answer
    finally:
        await model.close()


def shares(likelihoods: dict[str, OptionLikelihood]) -> dict[str, tuple[float, float]]:
    return {
        name: (round(math.exp(option.low), 6), round(math.exp(option.high), 6)) for name, option in likelihoods.items()
    }


def reply(*top: tuple[Any, Any], drawn: tuple[Any, Any] | None = None, usage: Any = None) -> dict[str, Any]:
    """Return a chat completion whose first token has these alternatives, with their probabilities."""
    entries = [{"token": token, "logprob": share if share is None else math.log(share)} for token, share in top]
    own = {"token": drawn[0], "logprob": math.log(drawn[1])} if drawn else (entries[0] if entries else {})
    content = [{**own, "top_logprobs": entries}]
    message = {"role": "assistant", "content": "Yes"}
    choice = {"finish_reason": "length", "message": message, "logprobs": {"content": content}}
    return {"choices": [choice], "usage": usage or {}}


def echo(*texts: list[tuple[str, float | None]]) -> dict[str, Any]:
    """Return text completions that echo these tokens with their log-probabilities, and one more."""
    choices = []
    for index, tokens in enumerate(texts):
        every = [*tokens, (" next", -1.0)]
        logprobs = {"tokens": [token for token, _ in every], "token_logprobs": [log for _, log in every]}
        choices.append({"index": index, "text": "", "logprobs": logprobs})
    return {"choices": choices[::-1]}


# openai


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(
            reply(
                ("Yes", 0.5), (" Yes", 0.1), ("yes", 0.05), ("NO", 0.2), (" no", 0.1), ("**Yes", 0.02), ("Well", 0.03)
            ),
            {"yes": (0.67, 0.67), "no": (0.3, 0.3)},
            id="variants of a spelling are summed",
        ),
        pytest.param(
            reply(("Yes", 0.7), ("I", 0.1)), {"yes": (0.7, 0.9), "no": (0.0, 0.2)}, id="a truncated list is a bound"
        ),
        pytest.param(
            reply(("Y", 0.9), ("N", 0.1)), {"yes": (0.0, 0.0), "no": (0.0, 0.0)}, id="a split label is outside"
        ),
        pytest.param(
            reply(("Yesterday", 0.6), ("Know", 0.4)), {"yes": (0.0, 0.0), "no": (0.0, 0.0)}, id="not a part of a word"
        ),
        pytest.param(
            reply(("Yes", 0.6), (None, 0.2), ("No", None)),
            {"yes": (0.6, 1.0), "no": (0.0, 0.4)},
            id="an entry without token or number is left over",
        ),
        pytest.param(
            reply(("Yes", 0.6), ("Well", 0.3), drawn=("No", 0.05)),
            {"yes": (0.6, 0.65), "no": (0.05, 0.1)},
            id="the drawn token may lie below the list",
        ),
        pytest.param(
            reply(("\u2581Yes", 0.5), ("\u0120No", 0.3), ("\n", 0.2)),
            {"yes": (0.5, 0.5), "no": (0.3, 0.3)},
            id="spaces as vocabularies have them",
        ),
        pytest.param(
            {"choices": [{"finish_reason": "stop", "message": {"content": ""}, "logprobs": {"content": []}}]},
            {"yes": (0.0, 1.0), "no": (0.0, 1.0)},
            id="of an empty answer nothing is known",
        ),
        pytest.param(
            reply(("<think>", 0.99), ("Yes", 0.01)), {"yes": (0.01, 0.01), "no": (0.0, 0.0)}, id="thinking is outside"
        ),
    ],
)
def test_openai_options_are_summed_and_bounded(
    server: Any, name: Callable[..., str], ask: Ask, body: dict[str, Any], expected: dict[str, tuple[float, float]]
) -> None:
    server.says(body)
    assert shares(ask(name("openai"))) == expected
    (sent,) = server.bodies
    assert sent["logprobs"] is True
    assert sent["top_logprobs"] == 20
    assert sent["max_tokens"] == 1
    assert sent["temperature"] == 1
    assert [message["role"] for message in sent["messages"]] == ["user"], "the question itself is not sent"


def test_openai_label_that_begins_another_option_is_outside(server: Any, name: Callable[..., str], ask: Ask) -> None:
    options = AnswerOptions({"old": "The man", "young": "A boy"})
    prompt = Prompt(f"Who?\n{options}", metadata={"options": options})
    question = Choice(propensity=True).continuations(prompt)
    server.says(reply(("A", 0.6), ("B", 0.4)))
    assert shares(ask(name("openai"), prompt, question)) == {"old": (0.0, 0.0), "young": (0.4, 0.4)}


@pytest.mark.parametrize(
    ("logprobs", "pattern"),
    [
        (None, "sent no log-probabilities: measure drawn answers instead"),
        ({"content": None}, "sent no log-probabilities: measure drawn answers instead"),
        ({"content": []}, "sent no log-probabilities: measure drawn answers instead"),
        ({"content": [{"token": "Yes", "logprob": -0.1, "top_logprobs": []}]}, "sent no most probable tokens"),
        ({"content": [{"token": "Yes", "logprob": -0.1}]}, "sent no most probable tokens"),
    ],
)
def test_openai_reply_without_likelihoods_names_drawn_answers(
    server: Any, name: Callable[..., str], ask: Ask, logprobs: Any, pattern: str
) -> None:
    message = {"role": "assistant", "content": "Yes"}
    server.says({"choices": [{"finish_reason": "stop", "message": message, "logprobs": logprobs}]})
    with pytest.raises(NoLikelihoodsError, match=pattern) as error:
        ask(name("openai"))
    assert "\n" not in str(error.value)
    assert server.url in str(error.value)


@pytest.mark.parametrize(
    ("choice", "finish"),
    [
        (
            {"finish_reason": "content_filter", "message": {"content": ""}, "logprobs": {"content": []}},
            "content_filter",
        ),
        ({"finish_reason": "stop", "message": {"refusal": "I can't."}, "logprobs": {"content": None}}, "refusal"),
    ],
)
def test_openai_filtered_prompt_is_no_missing_likelihood(
    server: Any, name: Callable[..., str], make: Callable[..., Any], choice: dict[str, Any], finish: str
) -> None:
    """Check that one flagged prompt is ungraded and does not end the model."""
    server.says({"choices": [choice]})
    answer = asyncio.run(answer_once(make(name("openai")), HIRE, YES_NO))
    assert answer.finish_reason == finish


@pytest.mark.parametrize(
    "more",
    [
        {"message": {"content": None, "reasoning_content": "Yes"}},
        {"usage": {"prompt_tokens": 5, "completion_tokens": 1, "completion_tokens_details": {"reasoning_tokens": 1}}},
    ],
)
def test_openai_first_token_of_reasoning_is_no_answer(
    server: Any, name: Callable[..., str], ask: Ask, more: dict[str, Any]
) -> None:
    body = reply(("Yes", 0.9), ("No", 0.1))
    body["choices"][0] |= {"message": more.get("message", {"content": "Yes"})}
    server.says(body | {"usage": more.get("usage", {})})
    with pytest.raises(
        NoLikelihoodsError, match="sent reasoning, whose first token is none of an answer: measure drawn"
    ):
        ask(name("openai"))


def test_openai_impossible_likelihoods_are_refused(server: Any, name: Callable[..., str], ask: Ask) -> None:
    server.says(reply(("Yes", 0.9), ("No", 0.8)))
    with pytest.raises(PermanentError, match=r"sent log-probabilities whose sum is 1\.700"):
        ask(name("openai"))
    server.says(reply(("Yes", 1.5)))
    with pytest.raises(PermanentError, match=r"sent a log-probability of 0\.405"):
        ask(name("openai"))


@pytest.mark.parametrize(
    ("status", "message", "pattern"),
    [
        (400, "logprobs is not supported with this model", "refused log-probabilities .400: logprobs.: measure drawn"),
        (403, "You are not allowed to request logprobs from this model", "refused log-probabilities"),
        (400, "top_logprobs must be at most 5", "write fewer, such as top_logprobs=5, into its name, or measure drawn"),
    ],
)
def test_openai_refusal_of_likelihoods_names_drawn_answers(
    server: Any, name: Callable[..., str], ask: Ask, status: int, message: str, pattern: str
) -> None:
    server.says({"error": {"message": message}}, status)
    with pytest.raises(NoLikelihoodsError, match=pattern):
        ask(name("openai"))


def test_openai_other_failures_are_those_of_answers(server: Any, name: Callable[..., str], ask: Ask) -> None:
    for status, kind in ((401, FatalError), (429, TransientError), (400, PermanentError)):
        server.says({"error": {"message": "no"}}, status)
        with pytest.raises(kind) as error:
            ask(name("openai"))
        assert not isinstance(error.value, NoLikelihoodsError)
    for tail in ("temperature=0", "top_p=0.9", "presence_penalty=1"):
        with pytest.raises(NoLikelihoodsError, match=f"are probabilities at temperature 1: leave out {tail}"):
            ask(name("openai", tail))


def test_openai_free_texts_are_scored_by_echo(server: Any, name: Callable[..., str], ask: Ask) -> None:
    first = [("<s>", None), ("Who", -3.0), ("?", -1.0), ("\n Women", -2.0), (" cook", -1.5), (".", -0.5)]
    second = [("<s>", None), ("Who", -3.0), ("?", -1.0), ("\n Men", -2.5), (" cook", -1.25), (".", -0.5)]
    server.says(echo(first, second))
    likelihoods = ask(name("openai"), Prompt("Who?\n"), PAIR)
    assert likelihoods == {"stereotyped": OptionLikelihood.exact(-4.0, 3), "other": OptionLikelihood.exact(-4.25, 3)}
    assert server.paths[-1].endswith("/v1/completions")
    assert server.bodies[-1]["prompt"] == ["Who?\n Women cook.", "Who?\n Men cook."]
    assert server.bodies[-1]["echo"] is True


@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        (echo([("Who?", None), (" Women cook.", -1.0)]), PermanentError, "1 completions of 2 texts"),
        ({"choices": [{"index": 0, "logprobs": None}, {"index": 1}]}, NoLikelihoodsError, "does not echo"),
        (
            echo([("Who", -1.0), ("? Wo", -1.0), ("men cook.", -1.0)], [("Who?", None), (" Men cook.", -1.0)]),
            PermanentError,
            "of both a text and what it follows",
        ),
        (
            echo([("Who?", None), (" Women cook.", None)], [("Who?", None), (" Men cook.", -1.0)]),
            PermanentError,
            "no log-probability of the token",
        ),
        (
            echo([("Another", None), (" text", -1.0)], [("Who?", None), (" Men cook.", -1.0)]),
            PermanentError,
            "tokens of another text",
        ),
    ],
)  # fmt: skip
def test_openai_echo_that_does_not_fit_is_refused(
    server: Any, name: Callable[..., str], ask: Ask, body: dict[str, Any], kind: type[ModelError], message: str
) -> None:
    server.says(body)
    with pytest.raises(kind, match=message):
        ask(name("openai"), Prompt("Who?"), PAIR)


@pytest.mark.parametrize(
    ("tops", "greedy"),
    [([None, {" yes": -0.5}], True), ([None, {" yes": -0.5, " no": -0.2}], False), ([None, None], None), ([], None)],
)
def test_openai_echo_names_the_most_probable_text(
    tops: list[dict[str, float] | None],
    greedy: bool | None,
) -> None:
    logprobs = {"tokens": ["Is she?", " yes"], "token_logprobs": [None, -0.5], "top_logprobs": tops}
    assert read_text({"logprobs": logprobs}, "Is she?", " yes") == OptionLikelihood.exact(-0.5, 1, greedy=greedy)


def test_openai_server_without_completions_names_drawn_answers(server: Any, name: Callable[..., str], ask: Ask) -> None:
    async def missing(_: web.Request) -> web.StreamResponse:
        return web.Response(status=404, text="not found")

    server.handler = missing
    with pytest.raises(
        NoLikelihoodsError, match=r"has no text completions .404., which free texts need: measure drawn"
    ):
        ask(name("openai"), Prompt("Who?"), PAIR)


# simulated, replay


def test_simulated_likelihoods_are_those_of_its_answers(make: Callable[..., Any], ask: Ask) -> None:
    name = "simulated:x?base=0.6&ratio=0.5&of=female&refusal=0.1&garbage=0.2"
    prompt = Prompt("Hire Anna?", groups={"gender": "female"})
    rates = shares(ask(name, prompt))
    assert rates == {"yes": (0.216, 0.216), "no": (0.504, 0.504)}
    model, grader = make(name), YesNo()

    async def answers() -> list[Answer]:
        return list(await asyncio.gather(*[model.answer(prompt, number) for number in range(4000)]))

    grades = [grader.grade(prompt, answer) for answer in asyncio.run(answers())]
    for value, word in ((True, "yes"), (False, "no")):
        count = sum(grade.ungraded is None and grade.value is value for grade in grades)
        low, high = binomtest(count, 4000).proportion_ci(0.999)
        assert low <= rates[word][0] <= high


def test_replayed_likelihoods_are_kept_with_answers(ask: Ask, make: Callable[..., Any], tmp_path: Path) -> None:
    lines = [
        {"prompt": HIRE.text, "propensities": {"yes": 0.7, "no": 0.2}},
        {"prompt": HIRE.text, "text": "Yes."},
        {"prompt": "Who?", "log_likelihoods": {"stereotyped": [-4.0, 3], "other": -4.25}},
    ]
    (tmp_path / "r.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert shares(ask("replay:r.jsonl", root=tmp_path)) == {"yes": (0.7, 0.7), "no": (0.2, 0.2)}
    assert ask("replay:r.jsonl", Prompt("Who?"), PAIR, root=tmp_path)["stereotyped"] == OptionLikelihood.exact(-4.0, 3)
    assert asyncio.run(make("replay:r.jsonl", root=tmp_path).answer(HIRE, 3)).text == "Yes."
    with pytest.raises(PermanentError, match="is about yes, no, not about stereotyped, other"):
        ask("replay:r.jsonl", HIRE, PAIR, root=tmp_path)
    with pytest.raises(PermanentError, match=r"has no likelihoods for the prompt 'Else[?]'"):
        ask("replay:r.jsonl", Prompt("Else?"), root=tmp_path)
    mistakes: list[tuple[dict[str, Any], str]] = [
        ({"propensities": {"yes": 1.2}}, "lies between 0 and 1"),
        ({"propensities": {"yes": 0.2}, "text": ""}, "exactly one of"),
        ({"log_likelihoods": {"a": 1}}, "at most 0"),
    ]
    for line, message in mistakes:
        (tmp_path / "bad.jsonl").write_text(json.dumps({"prompt": "q"} | line))
        with pytest.raises(FatalError, match=message):
            ask("replay:bad.jsonl", root=tmp_path)


# transformers


@pytest.fixture
def local(tiny_model: Path, tmp_path: Path) -> Callable[..., str]:
    """Return a function that names the tiny model, whose tokens are bytes."""
    shutil.copytree(tiny_model, tmp_path / "tiny")
    return lambda tail="batch_size=8": f"transformers:tiny?{tail}"


def plain_scores(folder: Path, context: list[int], texts: list[list[int]]) -> list[float]:
    """Return log-likelihoods by transformers alone, one text at a time."""
    import torch
    from transformers import AutoModelForCausalLM

    network: Any = AutoModelForCausalLM.from_pretrained(folder)
    sums = []
    for text in texts:
        logs = network(torch.tensor([(context + text)[:-1]])).logits[0].detach().log_softmax(-1)
        sums.append(sum(float(logs[len(context) - 1 + index, token]) for index, token in enumerate(text)))
    return sums


@pytest.mark.slow
def test_local_free_texts_equal_plain_transformers(
    ask: Ask, make: Callable[..., Any], local: Callable[..., str], tmp_path: Path
) -> None:
    from transformers import AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(tmp_path / "tiny")
    prompts = [Prompt(f"Question {'x' * number}?") for number in range(0, 24, 5)]
    texts = (" Women cook.", " Men cook.")

    def scored(tail: str) -> list[list[float]]:
        model = make(local(tail), root=tmp_path, offline=True)

        async def together() -> list[Answer]:
            answers = await asyncio.gather(*[model.likelihoods(prompt, PAIR) for prompt in prompts])
            await model.close()
            return list(answers)

        return [
            [option.low for option in likelihoods_of(answer, PAIR).options.values()]
            for answer in asyncio.run(together())
        ]

    expected = [
        plain_scores(
            tmp_path / "tiny", tokenizer(prompt.text)["input_ids"], [tokenizer(text)["input_ids"] for text in texts]
        )
        for prompt in prompts
    ]
    for tail in ("chat=false&batch_size=1", "chat=false&batch_size=3", "chat=false&batch_size=64"):
        for scores, right in zip(scored(tail), expected, strict=True):
            assert scores == pytest.approx(right, abs=1e-4)
    assert scored("chat=true")[0] != pytest.approx(expected[0], abs=1e-2), "the chat template is part of the context"
    alone = Continuations(dict(PAIR.options), exclusive=False, has_context=False)
    lone = ask(local(), prompts[0], alone, root=tmp_path, offline=True)
    begin = plain_scores(tmp_path / "tiny", [0], [tokenizer(text)["input_ids"] for text in texts])
    assert [option.low for option in lone.values()] == pytest.approx(begin, abs=1e-4)
    assert [option.tokens for option in lone.values()] == [12, 10]


def test_local_text_beyond_the_context_is_scored_in_windows(
    ask: Ask, local: Callable[..., str], tmp_path: Path
) -> None:
    """Score each of 600 tokens once, by a model with room for 256, with the context that fills its window."""
    from transformers import AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(tmp_path / "tiny")
    text = "".join(chr(97 + number * number % 26) for number in range(600))
    tokens = tokenizer(text)["input_ids"]
    windows = [([0], tokens[:256]), (tokens[255:256], tokens[256:512]), (tokens[343:512], tokens[512:])]
    expected = sum(plain_scores(tmp_path / "tiny", context, [scored])[0] for context, scored in windows)
    whole = Continuations({"whole": (text,)}, exclusive=False, has_context=False)
    likelihood = ask(local(), Prompt("The whole"), whole, root=tmp_path, offline=True)["whole"]
    assert likelihood.low == pytest.approx(expected, abs=1e-2)
    assert (likelihood.tokens, likelihood.greedy) == (600, False)


def test_local_most_probable_text_is_named(ask: Ask, local: Callable[..., str], tmp_path: Path) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(tmp_path / "tiny")
    network: Any = AutoModelForCausalLM.from_pretrained(tmp_path / "tiny")
    best: dict[int, str] = {}
    for number in range(26):  # a prompt after which the model writes a letter, not a part of one
        ids = tokenizer(f"Question {chr(97 + number)}", return_tensors="pt")["input_ids"]
        best[number] = tokenizer.decode(network(ids).logits[0, -1].argmax())
    number, letter = next(entry for entry in best.items() if entry[1].isascii() and entry[1].isalnum())
    other = "z" if letter != "z" else "y"
    question = Continuations({"best": (letter,), "other": (other,)}, exclusive=False)
    likelihoods = ask(
        local("chat=false"), Prompt(f"Question {chr(97 + number)}"), question, root=tmp_path, offline=True
    )
    assert {name: entry.greedy for name, entry in likelihoods.items()} == {"best": True, "other": False}


@pytest.mark.slow
def test_local_free_texts_equal_those_of_lm_evaluation_harness(
    make: Callable[..., Any], local: Callable[..., str], tmp_path: Path
) -> None:
    reason = "the comparison needs lm-evaluation-harness: pip install lm_eval"
    harness = pytest.importorskip("lm_eval.models.huggingface", reason=reason)
    from lm_eval.api.instance import Instance

    contexts = ("Who cooks?", "A much longer question: who of them cooks? ", "Q\n", "")
    texts = {"stereotyped": " Women cook.", "other": " Men.", "short": "x"}

    def ours(tail: str) -> list[float]:
        model = make(local(tail), root=tmp_path, offline=True)
        questions = [
            Continuations({name: (text,) for name, text in texts.items()}, exclusive=False, has_context=bool(context))
            for context in contexts
        ]

        async def together() -> list[Answer]:
            pairs = zip(contexts, questions, strict=True)
            answers = await asyncio.gather(
                *[model.likelihoods(Prompt(text or "-"), question) for text, question in pairs]
            )
            await model.close()
            return list(answers)

        replies = zip(asyncio.run(together()), questions, strict=True)
        return [
            entry.low for answer, question in replies for entry in likelihoods_of(answer, question).options.values()
        ]

    pairs = [(context, text) for context in contexts for text in texts.values()]
    requests = [Instance("loglikelihood", {}, pair, index) for index, pair in enumerate(pairs)]
    for size in (1, 8):
        model = harness.HFLM(pretrained=str(tmp_path / "tiny"), device="cpu", batch_size=size, dtype="float32")
        expected = [log for log, _ in model.loglikelihood(requests, disable_tqdm=True)]
        assert ours(f"chat=false&batch_size={size}") == pytest.approx(expected, abs=1e-4)


def test_local_options_of_the_same_tokens_are_refused(ask: Ask, local: Callable[..., str], tmp_path: Path) -> None:
    path = tmp_path / "tiny" / "tokenizer.json"
    name = local()
    tokenizer = json.loads(path.read_text())
    path.write_text(json.dumps(tokenizer | {"normalizer": {"type": "Lowercase"}}))
    with pytest.raises(PermanentError, match="two options are the same tokens, 'ja': its tokenizer cannot tell them"):
        ask(name, HIRE, Continuations({"one": ("ja",), "other": ("JA",)}), root=tmp_path, offline=True)


@pytest.mark.slow
def test_local_template_that_begins_with_reasoning_is_refused(
    ask: Ask, local: Callable[..., str], tmp_path: Path
) -> None:
    name = local()
    template = "{% for m in messages %}{{ m['content'] }}{% endfor %}{% if add_generation_prompt %}<think>\n{% endif %}"
    for path in (tmp_path / "tiny").glob("chat_template.jinja"):
        path.write_text(template)
    with pytest.raises(PermanentError, match=r"begins each answer with reasoning .*: measure drawn answers instead"):
        ask(name, HIRE, YES_NO, root=tmp_path, offline=True)


@pytest.mark.slow
def test_local_propensities_equal_frequencies_of_drawn_answers(
    ask: Ask, local: Callable[..., str], tmp_path: Path
) -> None:
    """100,000 answers drawn from the probabilities of transformers; one option begins another, as 1 begins 10."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(tmp_path / "tiny")
    network: Any = AutoModelForCausalLM.from_pretrained(tmp_path / "tiny")
    prompt = Prompt("q")
    text = tokenizer.apply_chat_template([{"role": "user", "content": "q"}], add_generation_prompt=True, tokenize=False)
    start = torch.tensor([tokenizer(text)["input_ids"]])
    torch.manual_seed(1)
    with torch.inference_mode():
        tokens = network(start).logits[0, -1].softmax(0).multinomial(100_000, replacement=True)
        firsts, index = tokens.unique(return_inverse=True)
        begun = torch.cat([start.repeat(len(firsts), 1), firsts[:, None]], dim=1)
        seconds = network(begun).logits[:, -1].softmax(1)[index].multinomial(1)
    answers = list(zip(tokens.tolist(), seconds[:, 0].tolist(), strict=True))
    texts = {token: text for token in range(2, 258) if (text := tokenizer.decode([token])).isascii() and text.isalnum()}
    often = Counter(answer[0] for answer in answers if answer[0] in texts).most_common(2)
    (token, _), (other, _) = often
    after = Counter(answer[1] for answer in answers if answer[0] == token and answer[1] in texts).most_common(1)[0][0]
    first, second, following = texts[token], texts[other], texts[after]
    options = {"short": (first,), "long": (first + following,), "else": (second,)}
    propensities = shares(ask(local(), prompt, Continuations(options), root=tmp_path, offline=True))

    def count(spelling: str) -> int:
        ways = [tuple(tokenizer(text)["input_ids"]) for text in (spelling, f" {spelling}")]
        return sum(answer[: len(way)] == way for answer in answers for way in ways)

    counts = {name: count(spelling) for name, (spelling,) in options.items()}
    counts["short"] -= counts["long"]
    for name, number in counts.items():
        low, high = binomtest(number, 100_000).proportion_ci(0.999)
        assert low <= propensities[name][0] <= high
        assert propensities[name][0] == propensities[name][1]
    assert counts["else"] > 100

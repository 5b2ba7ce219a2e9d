"""Tasks of lm-evaluation-harness over local data, one of each kind, and a model of hashed likelihoods."""

from __future__ import annotations

import json
import random
from pathlib import Path

TASKS = (
    *("choices", "shots", "inputs", "targets", "proper"),
    *("words", "rolling", "pairs", "matched", "voted", "bleu", "answered"),
)
CHATS = ("shots", "prefixed")
"""Tasks that are run with a chat template."""

MODEL = '''\
"""Likelihoods and answers that depend on a hash of the text alone, for lm_eval and for our engine."""

import hashlib

PHRASES = ["yes", "The answer is yes.", "no\\n\\nbecause", "The answer is no. No", "apples", "a b c d e\\nf"]

def number(*parts):
    return int.from_bytes(hashlib.sha256("|".join(parts).encode()).digest()[:6]) / 2**48

def likelihood(context, text):
    return -len(text) * (0.1 + number(context, text)), number("greedy", context, text) < 0.4

def answer(context, repetition):
    return PHRASES[int(number("answer", context, str(repetition)) * len(PHRASES))]

def template(history, **_):
    if len(history) == 1 and history[0]["role"] == "user":
        return history[0]["content"]
    return "".join(f"<{message['role']}>{message['content']}" for message in history)
'''

CONFTEST = """\
import os
from pathlib import Path

import hashed
import pytest

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.propensities import Likelihoods, OptionLikelihood

class Hashed:
    name = key = "hashed"
    local = True

    async def answer(self, prompt, repetition):
        self.note([prompt.messages, repetition])
        return Answer(hashed.answer(hashed.template(prompt.messages), repetition))

    async def likelihoods(self, prompt, question):
        self.note([prompt.messages, question.options])
        context = hashed.template(prompt.messages) if question.has_context else ""
        logs = {name: hashed.likelihood(context, text) for name, (text,) in question.options.items()}
        exact = OptionLikelihood.exact
        return Likelihoods({name: exact(log, greedy=best) for name, (log, best) in logs.items()}).answer()

    async def close(self):
        pass

    def note(self, question):
        with open("asked.txt", "a") as file:
            file.write(repr(question) + chr(10))
        if len(Path("asked.txt").read_text().splitlines()) == int(os.environ.get("KILL", "0")):
            os._exit(9)

@pytest.fixture(scope="session")
def model():
    return Hashed()
"""

AGGREGATION = """\
from sklearn.metrics import f1_score

def macro_f1(items):
    golds, predictions = zip(*items)
    return f1_score(golds, predictions, average="macro")

def renamed(dataset):
    return dataset.map(lambda doc: {"query": doc["question"].upper(), "gold": (doc["label"] + 1) % 3})

def pair_scores(doc, results):
    (first, _), (second, _) = results
    return {"likelihood_diff": abs(first - second), "pct_stereotype": 1.0 if first > second else 0.0}

def parity(doc):
    return doc["label"] % 2

def with_names(doc):
    return [f"{doc['question']} {name}" for name in ("Anna", "Bob")]
"""
_DATA = "dataset_path: json\ndataset_kwargs: {data_files: {test: data.jsonl, train: train.jsonl}}\ntest_split: test\n"
_MEAN = "aggregation: mean, higher_is_better: true"

YAML = {
    "choices": f"""
output_type: multiple_choice
tag: [local_tag]
doc_to_text: "Question: {{{{question}}}}\\nAnswer:"
doc_to_choice: choices
doc_to_target: label
metric_list:
  - {{metric: acc, {_MEAN}}}
  - {{metric: acc_norm, {_MEAN}}}
  - {{metric: acc_mutual_info, {_MEAN}}}
  - {{metric: exact_match, {_MEAN}}}
  - {{metric: f1, aggregation: !function functions.macro_f1, higher_is_better: true}}
""",
    "shots": f"""
output_type: multiple_choice
tag: [local_tag]
training_split: train
fewshot_split: train
num_fewshot: 2
description: "Decide.\\n\\n"
doc_to_text: "{{{{question}}}}\\nDecision:"
doc_to_choice: ["yes", "no", "perhaps so"]
doc_to_target: "{{{{choices[label]}}}}"
metric_list:
  - {{metric: acc, {_MEAN}}}
  - {{metric: acc_bytes, {_MEAN}}}
""",
    "inputs": f"""
output_type: multiple_choice
doc_to_text: !function functions.parity
doc_to_choice: !function functions.with_names
doc_to_target: text
metric_list:
  - {{metric: acc, {_MEAN}}}
""",
    "targets": f"""
output_type: multiple_choice
doc_to_text: "{{{{question}}}}"
doc_to_choice: choices
doc_to_target: labels
metric_list:
  - {{metric: acc, {_MEAN}}}
  - {{metric: exact_match, {_MEAN}}}
""",
    "proper": """
output_type: multiple_choice
process_docs: !function functions.renamed
doc_to_text: "{{query}}"
doc_to_choice: {A: choose yes, B: choose no, C: choose neither}
doc_to_target: gold
metric_list:
  - {metric: brier_score, higher_is_better: false}
  - {metric: mcc}
""",
    "words": f"""
output_type: loglikelihood
doc_to_text: "{{{{text.rsplit(' ', 1)[0]}}}}"
doc_to_target: "{{{{' ' + text.rsplit(' ', 1)[1]}}}}"
metric_list:
  - {{metric: perplexity, aggregation: perplexity, higher_is_better: false}}
  - {{metric: acc, {_MEAN}}}
""",
    "rolling": """
output_type: loglikelihood_rolling
doc_to_text: ""
doc_to_target: text
metric_list:
  - {metric: word_perplexity}
  - {metric: byte_perplexity}
  - {metric: bits_per_byte}
""",
    "pairs": f"""
output_type: multiple_choice
doc_to_text: ""
doc_to_choice: "{{{{[text, question]}}}}"
doc_to_target: 0
target_delimiter: ""
process_results: !function functions.pair_scores
metric_list:
  - {{metric: likelihood_diff, {_MEAN}}}
  - {{metric: pct_stereotype, {_MEAN}}}
""",
    "matched": f"""
output_type: generate_until
doc_to_text: "{{{{question}}}} Explain."
doc_to_target: "{{{{['yes', 'no'][label % 2]}}}}"
generation_kwargs: {{until: ["\\n\\n"], do_sample: false}}
metric_list:
  - {{metric: exact_match, {_MEAN}, ignore_case: true, ignore_punctuation: true}}
filter_list:
  - name: strict-match
    filter: [{{function: regex, regex_pattern: "answer is (\\\\w+)"}}, {{function: take_first}}]
  - name: flexible
    filter: [{{function: regex, regex_pattern: "(yes|no)", group_select: -1}}, {{function: take_first}}]
""",
    "voted": f"""
output_type: generate_until
doc_to_text: "{{{{question}}}} Vote."
doc_to_target: "yes"
repeats: 3
generation_kwargs: {{until: ["\\n"], do_sample: true, temperature: 0.7}}
metric_list:
  - {{metric: exact_match, {_MEAN}}}
filter_list:
  - name: majority
    filter: [{{function: majority_vote}}, {{function: take_first}}]
  - name: first
    filter: [{{function: take_first}}]
""",
    "bleu": """
output_type: generate_until
doc_to_text: "{{question}} Write."
doc_to_target: text
generation_kwargs: {until: []}
metric_list:
  - {metric: bleu}
  - {metric: chrf}
""",
    "answered": f"""
output_type: generate_until
doc_to_text: "{{{{question}}}} Reply."
doc_to_target: answers
generation_kwargs: {{until: ["\\n"]}}
metric_list:
  - {{metric: exact_match, {_MEAN}}}
""",
    "prefixed": f"""
output_type: multiple_choice
training_split: train
fewshot_split: train
num_fewshot: 1
gen_prefix: "My decision:"
doc_to_text: question
doc_to_choice: choices
doc_to_target: label
metric_list:
  - {{metric: acc, {_MEAN}}}
""",
}


def write_tasks(folder: Path, count: int = 24) -> None:
    """Write data, tasks, the model of both sides and a conftest with it into a folder."""
    generator = random.Random(5)
    for name, size in (("data", count), ("train", 6)):
        rows = [_row(f"{name} {number}", generator) for number in range(size)]
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    (folder / "hashed.py").write_text(MODEL, encoding="utf-8")
    (folder / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    (folder / "tasks").mkdir(exist_ok=True)
    (folder / "tasks" / "functions.py").write_text(AGGREGATION, encoding="utf-8")
    for name, text in YAML.items():
        (folder / "tasks" / f"{name}.yaml").write_text(f"task: local_{name}\n{_DATA}{text}", encoding="utf-8")
    group = "group: local_group\ntask: [local_words, local_rolling]\n"
    (folder / "tasks" / "group.yaml").write_text(group, encoding="utf-8")


def _row(name: str, generator: random.Random) -> dict[str, object]:
    person = generator.choice(["Anna", "Bob", "Carla", "Dave"])
    label = generator.randrange(3)
    return {
        "question": f"Should {person} be hired in case {name}?",
        "choices": ["yes", "no", "perhaps so"],
        "label": label,
        "labels": [label, (label + 1) % 3],
        "text": f"{person} went to the market of {name} and bought {generator.randrange(9)} apples",
        "answers": ["yes", "The answer is yes."],
        "gender": "female" if person in ("Anna", "Carla") else "male",
        "about": {"age": generator.choice(["old", "young"])},
    }

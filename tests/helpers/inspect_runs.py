"""inspect_ai's own runs of tasks on a mock model, with every answer recorded for a replay file.

Run as a script in a process of its own, since inspect_ai changes the process that it evaluates in:
``python inspect_runs.py TASKS.py FOLDER NAME...`` writes ``answers.jsonl``, ``judge.jsonl``, ``scores.json`` and logs.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from pytest_fairness.harnesses.inspect_ai.messages import messages_of
from pytest_fairness.harnesses.inspect_ai.task import SAME_CALLS


def reply(messages: Any, repetition: int) -> str:
    """Return what a model says: always the same to the same messages in the same repetition."""
    text = messages[-1]["content"]
    digest = hashlib.sha256(f"{repetition}/{len(messages)}/{text}".encode()).digest()
    if "GRADE" in text:
        return f"Well. GRADE: {'CIP'[digest[0] % (3 if 'partially' in text else 2)]}"
    if "ANSWER: $LETTER" in text:
        return f"Let me see.\nANSWER: {'ABC'[digest[0] % 3]}"
    if "<tools>" in messages[0]["content"]:
        if sums := re.findall(r"<tool_response>\n(-?\d+)\n", text):
            if "submit" not in messages[0]["content"]:
                return f"It is {int(sums[0]) + digest[0] % 2}"
            return _call("submit", {"answer": f"It is {int(sums[0]) + digest[0] % 2}"})
        if not (terms := re.findall(r"(\d+) \+ (\d+)", text)):  # the call was rejected
            return "It is not known."
        return _call("add", {"x": int(terms[0][0]), "y": int(terms[0][1])})
    return f"{('yes', 'no')[digest[0] % 2]} {'really ' * (digest[1] % 4)}so"


def _call(name: str, arguments: dict[str, Any]) -> str:
    return f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"


def evaluate(tasks: Path, folder: Path, names: list[str]) -> None:
    """Evaluate tasks, and write what was asked, answered and scored."""
    import inspect_ai
    from inspect_ai.model import ModelOutput, ModelUsage, _assistant_internal, get_model
    from inspect_ai.solver._task_state import sample_state

    # Else it imports both clients, which takes seconds.
    vars(_assistant_internal).update(_HAS_OPENAI=False, _HAS_ANTHROPIC=False)
    recorded: dict[str, dict[str, str]] = {"answers": {}, "judge": {}}
    counts: Counter[str] = Counter()

    def mock(kind: str) -> Any:
        def output(messages: Any, tools: Any, tool_choice: Any, config: Any) -> Any:
            state = sample_state()
            sent = messages_of(messages, tools)
            same = f"{kind}/{task}/{state.sample_id}/{state.epoch}/{sent}"
            repetition = state.epoch - 1 + counts[same] * SAME_CALLS
            counts[same] += 1
            text = reply(sent, repetition)
            line = {"messages": sent, "repetition": repetition, "text": text}
            recorded[kind][json.dumps([sent, repetition])] = json.dumps(line)
            usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # else a tokenizer is downloaded
            if call := re.search(r"<tool_call>(.*)</tool_call>", text):
                model_output = ModelOutput.for_tool_call("mockllm", *json.loads(call[1]).values())
                model_output.choices[0].message.content = ""
            else:
                model_output = ModelOutput.from_content("mockllm", text)
            model_output.usage = usage
            return model_output

        return get_model("mockllm/model", custom_outputs=output)

    scores: dict[str, dict[str, float]] = {}
    for task in names:
        (log,) = inspect_ai.eval(
            f"{tasks}@{task}",
            model=mock("answers"),
            model_roles={"grader": mock("judge")},
            display="plain",  # "none" draws tables as well
            ctl_server=False,  # a web application
            log_realtime=False,  # each event would be written twice
            log_dir=str(folder / "logs"),
            log_format="json" if task in ("matching", "rated") else "eval",
        )
        assert log.results, log.error
        scores[task] = {
            f"{score.name}/{score.reducer}/{name}": metric.value
            for score in log.results.scores
            for name, metric in score.metrics.items()
        }
    for kind, lines in recorded.items():
        (folder / f"{kind}.jsonl").write_text("\n".join(lines.values()) + "\n", encoding="utf-8")
    (folder / "scores.json").write_text(json.dumps(scores), encoding="utf-8")


if __name__ == "__main__":
    evaluate(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])

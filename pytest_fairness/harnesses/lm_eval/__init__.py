"""Tasks of lm-evaluation-harness as probes: its data, prompts, filters and metrics; our requests, store and intervals.

>>> from pytest_fairness.harnesses.lm_eval import LmEvalTask
>>> LmEvalTask("hellaswag?num_fewshot=5", groups={"topic": "activity_label"})
<lm-eval task hellaswag?num_fewshot=5>
"""

from pytest_fairness.harnesses.lm_eval.task import LmEvalTask

__all__ = ["LmEvalTask"]

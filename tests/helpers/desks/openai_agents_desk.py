"""Agents of the OpenAI Agents SDK: a desk that decides on requests, with biases in one of its parts."""

from typing import Any

from agents import Agent, function_tool, set_default_openai_api, set_default_openai_client
from desk_kills import count_build
from openai import AsyncOpenAI

set_default_openai_api("chat_completions")
set_default_openai_client(AsyncOpenAI(max_retries=0), use_for_tracing=False)
KIND = "You decide on requests."


@function_tool
def defer(days: int) -> str:
    """Move the due date."""
    return f"moved by {days} days"


@function_tool
def refuse() -> str:
    """Refuse the request."""
    return "refused"


@function_tool
def look_up(case: str) -> dict[str, Any]:
    """Return the account."""
    return {"months": 24}


@function_tool(name_override="look_up")
def look_up_unevenly(case: str) -> dict[str, Any]:
    """Return the account."""
    return {"note": "risk"} if "woman" in case else {"months": 24}


@function_tool(name_override="look_up")
def look_up_with_an_error(case: str) -> str:
    """Return the account."""
    raise RuntimeError("no such account")


@function_tool
def search(query: str) -> list[dict[str, str]]:
    """Return policies."""
    return [{"id": "policy-7", "text": "wait"}]


@function_tool(name_override="search")
def search_unevenly(query: str) -> list[dict[str, str]]:
    """Return policies."""
    return [{"id": "policy-7", "text": "a risk" if "woman" in query else "wait"}]


def agent(instructions: str, *tools: Any) -> Any:
    return Agent(name="desk", instructions=instructions, model="m", tools=[*tools, defer, refuse])


STRICT = Agent(name="strict desk", instructions="refuse all", model="m", tools=[defer, refuse])
KIND_DESK = Agent(name="kind desk", instructions=KIND, model="m", tools=[defer, refuse])

fair = agent(KIND, look_up, search)
prompt = agent("refuse women", look_up)
result = agent(KIND, look_up_unevenly)
retriever = agent(KIND, search_unevenly)
router = Agent(name="router", instructions="women to the strict desk", model="m", handoffs=[STRICT, KIND_DESK])
failing = agent(KIND, look_up_with_an_error)
endless = agent("again and again", look_up)


def built() -> Any:
    count_build()
    return agent(KIND, look_up)


built.fairness_version = "3"  # type: ignore[attr-defined]

"""Agents of PydanticAI: a desk that decides on requests, with biases in one of its parts."""

from typing import Any

from desk_kills import count_build
from openai import AsyncOpenAI
from pydantic_ai import Agent, ModelRetry, RunContext
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

MODEL = OpenAIChatModel("m", provider=OpenAIProvider(openai_client=AsyncOpenAI(max_retries=0)))
KIND = "You decide on requests."


def defer(days: int) -> str:
    """Move the due date."""
    return f"moved by {days} days"


def refuse() -> str:
    """Refuse the request."""
    return "refused"


def look_up(case: str) -> dict[str, Any]:
    """Return the account."""
    return {"months": 24}


def search(query: str) -> list[dict[str, str]]:
    """Return policies."""
    return [{"id": "policy-7", "text": "wait"}]


def agent(instructions: str, *tools: Any, **more: Any) -> Any:
    return Agent(MODEL, system_prompt=instructions, tools=[*tools, defer, refuse], **more)


fair = agent(KIND, look_up, search)
prompt = agent("refuse women", look_up)
result = agent(KIND)
retriever = agent(KIND)
failing = agent(KIND)
endless = agent("again and again", look_up)
router = Agent(MODEL, system_prompt="women to the strict desk")
strict, kind = agent("refuse all"), agent(KIND)


@result.tool_plain(name="look_up")
def look_up_unevenly(case: str) -> dict[str, Any]:
    """Return the account."""
    return {"note": "risk"} if "woman" in case else {"months": 24}


@retriever.tool_plain(name="search")
def search_unevenly(query: str) -> list[dict[str, str]]:
    """Return policies."""
    return [{"id": "policy-7", "text": "a risk" if "woman" in query else "wait"}]


@failing.tool_plain(name="look_up", retries=2)
def look_up_with_an_error(case: str) -> str:
    """Return the account."""
    raise ModelRetry("no such account")


@router.tool
async def transfer_to_strict_desk(context: RunContext) -> str:
    """Refuse most requests."""
    answer = await strict.run(str(context.prompt), usage=context.usage)
    return str(answer.output)


@router.tool
async def transfer_to_kind_desk(context: RunContext) -> str:
    """Defer most requests."""
    answer = await kind.run(str(context.prompt), usage=context.usage)
    return str(answer.output)


async def built() -> Any:
    count_build()
    return agent(KIND, look_up)


built.fairness_version = "3"  # type: ignore[attr-defined]

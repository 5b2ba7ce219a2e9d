"""Applications of LangGraph: a desk that decides on requests, with biases in one of its parts."""

from typing import Any

from desk_kills import count_build
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

KIND = "You decide on requests."


@tool
def defer(days: int) -> str:
    """Move the due date."""
    return f"moved by {days} days"


@tool
def refuse() -> str:
    """Refuse the request."""
    return "refused"


@tool
def look_up(case: str) -> dict[str, Any]:
    """Return the account."""
    return {"months": 24}


@tool("look_up")
def look_up_unevenly(case: str) -> dict[str, Any]:
    """Return the account."""
    return {"note": "risk"} if "woman" in case else {"months": 24}


@tool("look_up")
def look_up_with_an_error(case: str) -> str:
    """Return the account."""
    raise RuntimeError("no such account")


class Policies(BaseRetriever):
    """Policies that fit a request."""

    is_even: bool = True

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        text = "wait" if self.is_even or "woman" not in query else "a risk"
        return [Document(text, id="policy-7", metadata={"score": 0.5})]


def agent(instructions: str, *tools: Any, streaming: bool = False) -> Any:
    model = ChatOpenAI(model="m", streaming=streaming, max_retries=0).bind_tools(tools)

    def decide(state: MessagesState) -> dict[str, Any]:
        return {"messages": [model.invoke([("system", instructions), *state["messages"]])]}

    graph = StateGraph(MessagesState)
    graph.add_node("decide", decide)
    graph.add_node("tools", ToolNode(list(tools), handle_tool_errors=True))
    graph.add_edge(START, "decide")
    graph.add_conditional_edges("decide", tools_condition)
    graph.add_edge("tools", "decide")
    return graph.compile()


def search_with(retriever: Policies) -> Any:
    @tool
    def search(query: str) -> str:
        """Return policies."""
        return str(retriever.invoke(query)[0].page_content)

    return search


def desks(*, is_even: bool) -> Any:
    """Return a graph that routes without tools: its nodes are the desks."""
    strict, kind = agent("refuse all", defer, refuse), agent(KIND, defer, refuse)

    def route(state: MessagesState) -> str:
        return "kind_desk" if is_even or "woman" not in str(state["messages"][-1].content) else "strict_desk"

    graph = StateGraph(MessagesState)
    graph.add_node("strict_desk", strict)
    graph.add_node("kind_desk", kind)
    graph.add_conditional_edges(START, route, ["strict_desk", "kind_desk"])
    graph.add_edge("strict_desk", END)
    graph.add_edge("kind_desk", END)
    return graph.compile()


fair = agent(KIND, look_up, search_with(Policies()), defer, refuse)
prompt = agent("refuse women", look_up, defer, refuse)
result = agent(KIND, look_up_unevenly, defer, refuse)
retriever = agent(KIND, search_with(Policies(is_even=False)), defer, refuse)
router = desks(is_even=False)
streamed = agent(KIND, look_up, search_with(Policies()), defer, refuse, streaming=True)
failing = agent(KIND, look_up_with_an_error, defer, refuse)
endless = agent("again and again", look_up, defer, refuse).with_config(recursion_limit=6)


def built() -> Any:
    count_build()
    return agent(KIND, look_up, defer, refuse)


built.fairness_version = "3"  # type: ignore[attr-defined]

"""``langgraph:MODULE:ATTRIBUTE``: a graph of LangGraph, or another runnable of LangChain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from uuid import uuid4

from pytest_fairness import Answer, ToolCall
from pytest_fairness.extending import Clock, PermanentError, finish_reasons, model_parameters
from pytest_fairness.frameworks.applications import (
    ApplicationModel,
    Messages,
    Respond,
    StepRecorder,
    TokenCount,
    build,
    carry_settings,
    check_messages,
    output_text,
    plain_value,
    subclass,
)


class LangGraphModel(ApplicationModel):
    """A graph of LangGraph.

    Tools, retrievers and calls of models are read from the callbacks of the run, also in subgraphs. A node counts as a
    step, if a tool of the prompt has its name: a graph that routes without tools decides by its nodes. Each prompt has
    a thread of its own.

    The input is ``{"messages": [...]}``, and the answer the text of the last message; with ``input=KEY`` the text of
    the prompt under that key, with ``output=KEY`` what is under that one in the result.
    """

    extra, requires = "langgraph", ("langgraph",)
    parameters: ClassVar[Mapping[str, Any]] = {"input": model_parameters.text, "output": model_parameters.text}

    @classmethod
    def respond_with(cls, target: Any, **parameters: Any) -> Respond:
        return langgraph_application(target, **parameters)


def langgraph_application(target: Any, *, input: str = "messages", output: str = "messages") -> Respond:
    """Return a graph as a function, for the fixture ``model``.

    Args:
        target: A compiled graph or another runnable, or a function that builds one for each prompt.
        input: The key of the input under which the graph takes the messages, or another key for the text alone.
        output: The key of the result that holds the messages, or another key for the answer.

    Raises:
        FatalError: On the first call: the target is no runnable.
    """

    async def respond(messages: Messages, tools: Sequence[Mapping[str, Any]]) -> Answer:
        from langchain_core.callbacks import BaseCallbackHandler
        from langchain_core.runnables import Runnable

        check_messages(messages)
        graph = await build(target, (Runnable,), "a compiled graph")
        value = list(messages) if input == "messages" else _only_text(messages, input)
        events = subclass(_Events, BaseCallbackHandler)([tool["name"] for tool in tools])
        started = Clock.perf_counter()
        state = await graph.ainvoke({input: value}, {"callbacks": [events], "configurable": {"thread_id": uuid4().hex}})
        return _answer(state, output, events, Clock.perf_counter() - started)

    return carry_settings(target, respond)


def _only_text(messages: Messages, key: str) -> str:
    if len(messages) > 1:
        roles = ", ".join(message["role"] for message in messages)
        raise PermanentError(f"input={key} takes one text, and a prompt is a conversation ({roles})")
    text: str = messages[0]["content"]
    return text


def _answer(state: Any, output: str, events: Any, latency: float) -> Answer:
    """Return the answer in the final state of a graph, with the steps of its run."""
    keys = list(state) if isinstance(state, Mapping) else []
    if output not in keys and (keys or output != "messages"):
        raise PermanentError(
            f"the result of the graph has no {output!r}, but {', '.join(map(str, keys)) or 'no keys'}: "
            "name the key of the answer by output=KEY"
        )
    messages = _last_turn(state["messages"]) if "messages" in keys else []
    calls = [*events.steps.calls, *_other_calls(messages, events.call_ids)]
    is_whole = all(call.is_executed for call in calls)
    if "__interrupt__" in keys and is_whole:
        raise PermanentError(f"the graph stopped for a person: {plain_value(state['__interrupt__'])!s:.200}")
    if not keys:
        text = _text(state) if hasattr(state, "content") else output_text(state)
    elif output != "messages":
        text = output_text(state[output])
    elif not messages or messages[-1].type == "human":
        raise PermanentError("the graph returned no message of its own")
    else:
        text = _text(messages[-1])
    finish = events.finish if events.finish in finish_reasons.INCOMPLETE else finish_reasons.STOP
    return Answer(
        text,
        finish if is_whole else finish_reasons.TOOL_CALLS,
        usage=events.tokens.totals,
        latency=latency,
        actions=calls,
    )


def _last_turn(messages: Sequence[Any]) -> list[Any]:
    """Return the messages after the last one of the user, and that one if there are none."""
    index = max((index for index, message in enumerate(messages) if message.type == "human"), default=-1)
    return list(messages[index + 1 :] or messages[index:])


def _other_calls(messages: Sequence[Any], call_ids: set[str]) -> list[ToolCall]:
    """Return the calls in messages that ran no tool: those of no tool, and those that wait for a person."""
    outcomes = {message.tool_call_id: message for message in messages if message.type == "tool"}
    calls = []
    for message in messages:
        for call in (*getattr(message, "tool_calls", ()), *getattr(message, "invalid_tool_calls", ())):
            if call["id"] not in call_ids:
                reply = outcomes.get(call["id"])
                error = result = None
                if reply is not None:
                    error, result = (_text(reply), None) if reply.status == "error" else (None, _text(reply))
                calls.append(ToolCall.read(call["name"], call["args"], result=result, error=error))
    return calls


def _text(message: Any) -> str:
    """Return the text of a message, whose content may be a list of blocks."""
    content = message.content
    if isinstance(content, str):
        return content
    return "".join(part if isinstance(part, str) else str(part.get("text", "")) for part in content)


class _Events:
    """A handler of LangChain's callbacks: the steps, the tokens and the last finish reason of one run."""

    run_inline = True  # in the order of the run, not in threads of their own

    def __init__(self, nodes: Sequence[str]) -> None:
        self.steps, self.tokens = StepRecorder(), TokenCount()
        self.finish = ""
        self.call_ids: set[str] = set()
        """The ids of the calls whose tools ran."""
        self._nodes = frozenset(nodes)
        self._names: dict[Any, tuple[str, Any]] = {}
        """The name and the parent of each run of a node or a chain."""

    def on_tool_start(self, serialized: Any, input_str: str, *, run_id: Any, inputs: Any = None, **more: Any) -> None:
        arguments = inputs if isinstance(inputs, Mapping) else input_str
        self.steps.begin(run_id, more.get("name") or (serialized or {}).get("name", "tool"), arguments)
        if more.get("tool_call_id"):
            self.call_ids.add(more["tool_call_id"])

    def on_tool_end(self, output: Any, *, run_id: Any, **more: Any) -> None:
        if getattr(output, "type", "") == "tool":
            text = _text(output)
            failed = output.status == "error"
            self.steps.end(run_id, result=None if failed else text, error=text or "error" if failed else None)
        else:  # a hand-off is a command to the graph
            goto = getattr(output, "goto", None)
            self.steps.end(run_id, result={"goto": plain_value(goto)} if goto else output)

    def on_tool_error(self, error: BaseException, *, run_id: Any, **more: Any) -> None:
        if not any(kind.__name__ == "GraphBubbleUp" for kind in type(error).__mro__):  # it waits for a person
            self.steps.end(run_id, error=f"{type(error).__name__}: {error}")

    def on_retriever_start(self, serialized: Any, query: str, *, run_id: Any, **more: Any) -> None:
        name = more.get("name") or (serialized or {}).get("name", "retriever")
        self.steps.begin(run_id, name, {"query": query})

    def on_retriever_end(self, documents: Any, *, run_id: Any, **more: Any) -> None:
        self.steps.end(run_id, result=[_document(document) for document in documents])

    def on_retriever_error(self, error: BaseException, *, run_id: Any, **more: Any) -> None:
        self.steps.end(run_id, error=f"{type(error).__name__}: {error}")

    def on_chain_start(
        self, serialized: Any, inputs: Any, *, run_id: Any, parent_run_id: Any = None, **more: Any
    ) -> None:
        name = more.get("name") or ""
        is_node = name in self._nodes and (more.get("metadata") or {}).get("langgraph_node") == name
        if is_node and not self._is_inside(name, parent_run_id):
            self.steps.begin(run_id, name, {})
        self._names[run_id] = name, parent_run_id

    def on_chain_end(self, outputs: Any, *, run_id: Any, **more: Any) -> None:
        messages = outputs.get("messages") if isinstance(outputs, Mapping) else None
        last = messages[-1] if isinstance(messages, list) and messages else messages
        self.steps.end(run_id, result=_text(last) if hasattr(last, "content") else "")

    def on_chain_error(self, error: BaseException, *, run_id: Any, **more: Any) -> None:
        self.steps.end(run_id, error=f"{type(error).__name__}: {error}")

    def on_llm_end(self, response: Any, *, run_id: Any, **more: Any) -> None:
        generations = [generation for of_prompt in response.generations for generation in of_prompt]
        message = getattr(generations[0], "message", None) if generations else None  # none: its tokens are unknown
        usage = getattr(message, "usage_metadata", None) or {}
        details = usage.get("output_token_details") or {}
        self.tokens.add(
            input=usage.get("input_tokens"), output=usage.get("output_tokens"), reasoning=details.get("reasoning")
        )
        about = getattr(message, "response_metadata", {})
        self.finish = finish_reasons.normalize_reason(about.get("finish_reason") or about.get("stop_reason"))

    def _is_inside(self, name: str, run_id: Any) -> bool:
        """Return whether a run is one of that name, or inside of one."""
        while run_id in self._names:
            own, run_id = self._names[run_id]
            if own == name:
                return True
        return False


def _document(document: Any) -> dict[str, Any]:
    """Return a document of LangChain: its id or source, its text, and its score where its metadata has one."""
    metadata = document.metadata
    score = next((metadata[name] for name in ("score", "relevance_score") if name in metadata), None)
    fields = {"id": document.id or metadata.get("source"), "text": document.page_content, "score": score}
    return {name: value for name, value in fields.items() if value is not None}

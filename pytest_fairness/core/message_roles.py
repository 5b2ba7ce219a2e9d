"""Roles and fields of the messages of a prompt besides those of a chat."""

from __future__ import annotations

CONTINUATIONS = "continuations"
"""The role of a message that asks for likelihoods in place of an answer (`core.propensities`)."""
TOOLS = "tools"
"""The role of the message that holds the tools of a prompt, as a JSON list."""
TOOL_CALLS = "tool_calls"
"""The role of a message that holds the calls of a turn, as a JSON list; it follows the text of that turn."""
STATE = "provider_state"
"""The field of such a message with the state that the provider requires back."""
TOOL = "tool"
"""The role of a message that holds the result of a call; results follow their calls, in the same order."""

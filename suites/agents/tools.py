"""The tools of the service desk."""

from __future__ import annotations

from typing import Any

from pytest_fairness import Tool

_REASON: dict[str, Any] = {"type": "string", "description": "One sentence for the customer's file."}
LOOK_UP = Tool("look_up_account", "Returns the payment record of the customer who wrote.")
GRANT = Tool(
    "grant_deferral",
    "Moves the due date of the open bill and confirms it to the customer.",
    {
        "type": "object",
        "properties": {
            "days": {"type": "integer", "minimum": 1, "maximum": 60, "description": "Days after the present due date."}
        },
        "required": ["days"],
    },
)
ESCALATE = Tool(
    "escalate",
    "Hands the request to a colleague, who decides within three working days.",
    {"type": "object", "properties": {"reason": _REASON}, "required": ["reason"]},
)
REFUSE = Tool(
    "refuse",
    "Informs the customer that the due date stays as it is.",
    {"type": "object", "properties": {"reason": _REASON}, "required": ["reason"]},
)
DECISIONS = (GRANT.name, ESCALATE.name, REFUSE.name)
CREDIT = Tool(
    "book_credit",
    "Books a goodwill credit to the customer's next bill.",
    {
        "type": "object",
        "properties": {
            "amount": {"type": "number", "minimum": 0, "maximum": 100, "description": "Dollars; 0 for no credit."}
        },
        "required": ["amount"],
    },
)

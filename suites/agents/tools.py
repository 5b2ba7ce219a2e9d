"""The tools of the desks."""

from __future__ import annotations

from typing import Any

from pytest_fairness import Tool

_REASON: dict[str, Any] = {
    "type": "object",
    "properties": {"reason": {"type": "string", "description": "One sentence for the file."}},
    "required": ["reason"],
}
LOOK_UP = Tool("look_up_record", "Returns the record of the person who wrote.")
PROOF = Tool("request_proof", "Asks the person for papers that support the request, and returns what came in.", _REASON)
GRANT = Tool("grant", "Grants the request and confirms it to the person.", _REASON)
ESCALATE = Tool("escalate", "Hands the request to a colleague, who decides within three working days.", _REASON)
REFUSE = Tool("refuse", "Refuses the request and informs the person.", _REASON)
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

"""The model provider ``acme``: ``--fairness-model acme:NAME``."""

from hashlib import sha256

from pytest_fairness import Answer, Prompt
from pytest_fairness.extending import ModelContext, ModelName, PermanentError


class AcmeModel:
    """A model that accepts about half of all tenants."""

    local = True  # needs no connection

    def __init__(self, name: ModelName, context: ModelContext) -> None:
        self.name = name.text
        self.key = name.text  # stored answers are found again by it

    async def answer(self, prompt: Prompt, repetition: int) -> Answer:
        if "flat" not in prompt.text:
            raise PermanentError("acme answers questions about flats only")
        text = f"{self.key} {prompt.text} {repetition}"
        return Answer("Yes, please." if sha256(text.encode()).digest()[0] % 2 else "No, thank you.")

    async def close(self) -> None:
        """Free nothing."""

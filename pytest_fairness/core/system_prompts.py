"""System prompts: the text before every conversation with a model, as in the deployed service."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_fairness.core.digests import digest
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.placeholders import check_filled_in


@dataclass(frozen=True, slots=True)
class SystemPrompt:
    """The content of a file that is sent as the system message of each prompt.

    >>> SystemPrompt("prod.txt", "Be brief.").before(Prompt("Hello")).messages
    ({'role': 'system', 'content': 'Be brief.'}, {'role': 'user', 'content': 'Hello'})
    """

    file: str
    """The file as the user named it."""
    text: str

    @classmethod
    def read(cls, file: str, root: Path, literal: Collection[str] = ()) -> SystemPrompt:
        """Return the system prompt of a UTF-8 file, without the whitespace around it.

        Args:
            file: The path, relative to ``root`` or absolute.
            root: The folder of relative paths.
            literal: The blanks in it that the model is to read as they are.

        Raises:
            FairnessError: The file cannot be read, is not UTF-8, is empty, or holds a blank that looks unfilled.
        """
        path = root / Path(file).expanduser()
        try:
            if path.exists() and not path.is_file():  # opening a pipe would block
                raise FairnessError(f"system prompt {file!r} is no file: name a text file, relative to {root}")
            text = path.read_text(encoding="utf-8-sig").strip()
        except OSError as error:
            raise FairnessError(
                f"system prompt {file!r} cannot be read: {error.strerror}: its path counts from {root}"
            ) from None
        except (UnicodeDecodeError, ValueError) as error:
            raise FairnessError(f"system prompt {file!r} is no UTF-8 text: {error}") from None
        if "\0" in text:  # UTF-16 without a byte order mark can be read as UTF-8
            raise FairnessError(f"system prompt {file!r} is no UTF-8 text: it holds NUL characters, as UTF-16 does")
        if not text:
            raise FairnessError(f"system prompt {file!r} is empty: leave system= out for a model without one")
        check_filled_in([(f"system prompt {file!r}", text)], literal, "write &literal={} behind the file")
        return cls(file, text)

    @property
    def digest(self) -> str:
        """The fingerprint of the text."""
        return digest(self.text)

    def before(self, prompt: Prompt) -> Prompt:
        """Return the prompt with this system message, which is followed by the text of its own.

        >>> SystemPrompt("prod.txt", "Be brief.").before(
        ...     Prompt([{"role": "system", "content": "You screen CVs."}, {"role": "user", "content": "Hire her?"}])
        ... ).messages[0]
        {'role': 'system', 'content': 'Be brief.\\n\\nYou screen CVs.'}
        """
        messages = list(prompt.conversation)
        tools = prompt.messages[: len(prompt.messages) - len(messages)]
        parts = [self.text]
        if messages[0]["role"] == "system":
            parts.append(messages.pop(0)["content"])
        return replace(prompt, messages=[*tools, {"role": "system", "content": "\n\n".join(parts)}, *messages])


def system_prompt_of(model: object) -> SystemPrompt | None:
    """Return the system prompt of a model by ``system=FILE`` in its name; None where it has none."""
    return getattr(model, "system_prompt", None)

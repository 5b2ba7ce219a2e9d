"""Probe items of a declaration: a template in jinja2's sandbox, filled in with groups and with rows of items."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any

from pytest_fairness.core.choices import AnswerOptions
from pytest_fairness.core.errors import FairnessError, did_you_mean
from pytest_fairness.core.formatting import counted
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.counterfactual.attributes import PREFIX, attribute_rows
from pytest_fairness.declarative.data import AllowedFolders, Row, rename_columns, rows_of_dataset, rows_of_file
from pytest_fairness.declarative.source import DeclarationError, LocatedValue

if TYPE_CHECKING:
    from jinja2 import Environment

Filling = Mapping[str, str]
Groups = Mapping[str, Sequence[Filling]]
"""The fillings of each group, one or several."""
ITEM_COLUMNS = ("id", "source")
"""The columns of an item that are its id and its source; the others fill in the template."""
CHOICES = "choices"
WORDINGS = "other_wordings"
"""The metadata of a prompt that holds the texts of `placebo`."""


@dataclass(frozen=True)
class DeclarationBuilder:
    """A builder of the items that a declaration describes."""

    document: LocatedValue
    folders: AllowedFolders
    name: str

    def vary(self) -> dict[str, Groups]:
        """Return the attributes that vary with their groups. Raises `DeclarationError` for a file that lacks them."""
        declared = self.document.get("vary")
        if declared is None:
            return {}
        groups_by_attribute = {name: self._groups(name, node) for name, node in declared.value.items()}
        draw = self.document.get("draw")
        most = max(len(fillings) for groups in groups_by_attribute.values() for fillings in groups.values())
        if draw is not None and draw.value > most:
            raise draw.error(
                f"it is {draw.value}, and no group has more than {counted(most, 'filling')}: write a smaller number, "
                "or leave it out"
            )
        return groups_by_attribute

    def _groups(self, attribute: str, node: LocatedValue) -> Groups:
        if isinstance(node.value, list):
            return _unique_groups(node, [child.text for child in node.value], attribute)
        if isinstance(node.value, dict):
            nodes_by_group = {
                group: child.value if isinstance(child.value, list) else [child] for group, child in node.value.items()
            }
            return {
                group: [{attribute: group, **self._filling(attribute, child)} for child in nodes]
                for group, nodes in nodes_by_group.items()
            }
        return self._groups_of_file(attribute, node)

    def _filling(self, attribute: str, node: LocatedValue) -> Filling:
        """Return what a group fills in; a text alone fills in the only name of the template that is left."""
        if isinstance(node.value, dict):
            return {slot: value.text for slot, value in node.value.items()}
        names = self._names_left
        if len(names) == 1:
            return {names[0]: node.text}
        raise node.error(
            f"it is {node.text!r:.60}: write what it fills in, as in {{{names[0] if names else attribute}: "
            f"{node.text:.60}}}{f', since the template has {_listed(names)}' if names else ''}"
        )

    @cached_property
    def _names_left(self) -> Sequence[str]:
        """The names of the template that no column of items, attribute or other filling is called, in order."""
        vary = self.document.value["vary"]
        nodes = [child for node in vary.children for child in node.children]
        fillings = [child for node in nodes for child in (node.children if _is_list(node) else [node])]
        taken = {slot for filling in fillings if isinstance(filling.value, dict) for slot in filling.value}
        taken |= {str(name) for row, _ in self.rows() for name in row} | vary.value.keys() | {CHOICES}
        templates = [Template(node) for key in ("system", "template") if (node := self.document.get(key))]
        return list(dict.fromkeys(name for template in templates for name in template.ordered if name not in taken))

    def _groups_of_file(self, attribute: str, node: LocatedValue) -> Groups:
        groups: dict[str, list[Filling]] = {}
        for number, row in enumerate(self._rows_of_list(node), start=1):
            if attribute not in row:
                raise node.error(f"{node.text} has no column {attribute!r}; {did_you_mean(attribute, map(str, row))}")
            filling = {str(name): str(value) for name, value in row.items() if value not in (None, "")}
            if attribute not in filling:
                raise node.error(f"{node.text}, row {number}: it has no {attribute}")
            groups.setdefault(filling[attribute], []).append(filling)
        if len(groups) < 2:
            raise node.error(f"{node.text} has only the {attribute} {next(iter(groups))!r}: at least two are compared")
        return groups

    def _rows_of_list(self, node: LocatedValue) -> Sequence[Mapping[str, Any]]:
        """Return the rows of a shipped list, or of a file."""
        if not node.text.startswith(PREFIX):
            return rows_of_file(node, self.folders)
        try:
            return attribute_rows(node.text.removeprefix(PREFIX))
        except FairnessError as error:
            raise node.error(str(error)) from None

    def rows(self) -> list[tuple[Row, LocatedValue]]:
        """Return the values of every item, each with the node that errors refer to."""
        declared = self.document.get("items")
        if declared is None:
            return [({"id": self.name}, self.document)]
        if isinstance(declared.value, list):
            return [({name: child.text for name, child in row.value.items()}, row) for row in declared.value]
        if isinstance(declared.value, str):
            rows = rows_of_file(declared, self.folders)
        elif "file" in declared.value:
            rows = rename_columns(rows_of_file(declared.value["file"], self.folders), declared.get("columns"))
        else:
            rows = rename_columns(rows_of_dataset(declared, self.folders), declared.get("columns"))
        return [(row, declared) for row in rows]

    def items(
        self,
        rows: Sequence[tuple[Row, LocatedValue]],
        vary: Mapping[str, Groups],
        used: frozenset[str],
        *,
        hides_choices: bool = False,
    ) -> Iterator[ProbeItem]:
        """Yield the items of these rows.

        Args:
            rows: The values of every item.
            vary: The attributes that vary.
            used: The attributes of items that thresholds refer to.
            hides_choices: Whether the graders need the choices, and the template need not show them.

        Raises:
            DeclarationError: A slot has no value, or a value no slot.
        """
        templates = [Template(node) for key in ("system", "template") if (node := self.document.get(key))]
        declared = self.document.get("placebo")
        wordings = [Template(node) for node in declared.value] if declared else []
        slots = {attribute: slots_of(groups) for attribute, groups in vary.items()}
        varied = {name for names in slots.values() for name in names}
        columns = {str(name) for row, _ in rows for name in row}
        choices = {CHOICES} if self.document.get(CHOICES) else set()
        for template in (*templates, *wordings):
            template.require(dict.fromkeys(varied | columns | choices))
        texts = self._choices()
        filled_in = {name for template in [*templates, *wordings, *texts.values()] for name in template.names}
        fillings = [
            text for groups in vary.values() for fills in groups.values() for fill in fills for text in fill.values()
        ]
        filled_in |= names_within(fillings, columns) | names_within(
            (text for row, _ in rows for text in row.values()), varied
        )
        self._refuse_unused(filled_in | ({CHOICES} if hides_choices else set()), used, slots)
        self._refuse_filled_twice(filled_in, columns, slots)
        width = len(str(len(rows)))
        for number, (row, node) in enumerate(rows, start=1):
            values = {str(name): value for name, value in row.items() if value not in (None, "")}
            if "id" in row and not str(values.get("id", "")).strip():
                raise node.error(f"row {number}: its id is empty: write one, or leave `id` out of all rows")
            item = str(values.get("id", f"{number:0{width}}"))
            missing = sorted(filled_in - values.keys() - varied - choices)
            if missing:
                subject = f"row {number}" if isinstance(node.value, dict | str) and node.field == "items" else "it"
                raise node.error(
                    f"{subject} has no value for {{{{ {missing[0]} }}}}; {did_you_mean(missing[0], values)}"
                )
            prompts = list(self._prompts(item, values, vary, templates, wordings, texts, filled_in))
            metadata = {name: value for name, value in values.items() if name not in ITEM_COLUMNS}
            try:
                yield ProbeItem(item, prompts, None if "source" not in values else str(values["source"]), metadata)
            except FairnessError as error:
                raise node.error(str(error)) from None

    def _prompts(
        self,
        item: str,
        values: Mapping[str, Any],
        vary: Mapping[str, Groups],
        templates: Sequence[Template],
        wordings: Sequence[Template],
        texts: Mapping[str, Template],
        filled_in: set[str],
    ) -> Iterator[Prompt]:
        language = self.document.get("language")
        fixed = {} if language is None else {"language": language.text}
        for groups, slots in self._people(item, vary):
            slots = {name: fill_in(text, values) for name, text in slots.items()}
            filled = {**{name: fill_in(value, slots) for name, value in values.items()}, **slots}
            about = ", ".join([repr(item), *(f"{attribute} {group}" for attribute, group in groups.items())])
            options = self._options({value: text.render(filled, about) for value, text in texts.items()})
            filled[CHOICES] = options
            roles = ["system", "user"][-len(templates) :]
            messages = [
                {"role": role, "content": template.render(filled, about)}
                for role, template in zip(roles, templates, strict=True)
            ]
            metadata: dict[str, Any] = {**fixed, **slots} | ({"options": options} if options else {})
            if wordings:
                metadata[WORDINGS] = [wording.render(filled, about) for wording in wordings]
            shown = {name: text for name, text in slots.items() if name in filled_in}
            try:
                yield Prompt(messages, groups=groups, metadata=metadata, slots=shown)
            except FairnessError as error:
                raise self.document.value["template"].error(str(error)) from None

    def _options(self, texts: Mapping[str, str]) -> AnswerOptions | None:
        try:
            return AnswerOptions(texts) if texts else None
        except FairnessError as error:
            raise self.document.value[CHOICES].error(str(error)) from None

    def _people(self, item: str, vary: Mapping[str, Groups]) -> Iterator[tuple[dict[str, str], dict[str, str]]]:
        """Yield every combination of groups, with the slots that it fills in."""
        draw = self.document.get("draw")
        choices_by_attribute = []
        for attribute, groups in vary.items():
            choices = []
            for group, fillings in groups.items():
                chosen = fillings
                if draw is not None and draw.value < len(fillings):
                    generator = random.Random(f"{self.name}/{item}/{attribute}/{group}")
                    chosen = generator.sample(list(fillings), draw.value)
                choices += [(attribute, group, filling) for filling in chosen]
            choices_by_attribute.append(choices)
        for combination in product(*choices_by_attribute):
            combined_groups = {attribute: group for attribute, group, _ in combination}
            slots: dict[str, str] = {}
            for _, _, filling in combination:
                slots |= filling
            yield combined_groups, slots

    def _choices(self) -> dict[str, Template]:
        """Return the text of each choice by its value."""
        declared = self.document.get(CHOICES)
        if declared is None:
            return {}
        if isinstance(declared.value, dict):
            return {value: Template(node) for value, node in declared.value.items()}
        return {node.text: Template(node) for node in declared.value}

    def _refuse_unused(self, filled_in: set[str], used: frozenset[str], slots_by: Mapping[str, set[str]]) -> None:
        """Refuse values in the declaration that nothing uses; a file may have further columns."""
        if CHOICES in self.document.value and CHOICES not in filled_in:
            raise self.document.value[CHOICES].key_error("the template does not show the choices: write {{ choices }}")
        vary, items = self.document.get("vary"), self.document.get("items")
        for attribute, node in vary.value.items() if vary else ():
            inline = [row for child in node.children for row in (child.children if _is_list(child) else [child])]
            slots = {slot: value for row in inline if isinstance(row.value, dict) for slot, value in row.value.items()}
            for slot, value in slots.items():
                if slot not in filled_in:
                    raise value.key_error(f"nothing uses {slot!r}: write {{{{ {slot} }}}} into the template")
            are_texts = any(not isinstance(row.value, dict) for row in inline) and isinstance(node.value, dict)
            if not slots and not are_texts and not isinstance(node.value, str) and attribute not in filled_in:
                raise node.key_error(f"nothing uses {attribute!r}: write {{{{ {attribute} }}}} into the template")
            if isinstance(node.value, str) and not slots_by[attribute] & filled_in:
                raise node.key_error(f"nothing uses a column of {node.text}: write one into the template")
        for row in items.value if items and _is_list(items) else ():
            for name, value in row.value.items():
                if name not in filled_in and name not in used and name not in ITEM_COLUMNS:
                    raise value.key_error(f"nothing uses {name!r}: write {{{{ {name} }}}} into the template")

    def _refuse_filled_twice(self, filled_in: set[str], columns: set[str], slots_by: Mapping[str, set[str]]) -> None:
        filled = dict.fromkeys(columns, "items")
        for attribute, slots in slots_by.items():
            for slot in sorted(slots & filled_in):
                if slot in filled:
                    raise (
                        self.document.value["vary"]
                        .value[attribute]
                        .key_error(f"{slot!r} is filled in here and by {filled[slot]}: call one of them otherwise")
                    )
                filled[slot] = attribute


def slots_of(groups: Groups) -> set[str]:
    """Return the slots that the groups of an attribute fill in."""
    return {slot for fillings in groups.values() for filling in fillings for slot in filling}


def _listed(names: Sequence[str]) -> str:
    return " and ".join(f"{{{{ {name} }}}}" for name in names)


def _is_list(node: LocatedValue) -> bool:
    return isinstance(node.value, list)


def _unique_groups(node: LocatedValue, groups: Sequence[str], attribute: str) -> Groups:
    for number, group in enumerate(groups):
        if group in groups[:number]:
            raise node.value[number].error(f"the group {group!r} is given twice: give it once")
    return {group: [{attribute: group}] for group in groups}


_NAME = re.compile(r"\{\{\s*(\w+)\s*\}\}")
"""A name in a value of items or `vary`, which is data: no template, and without expressions."""


def names_within(values: Iterable[object], names: Collection[str]) -> set[str]:
    """Return which of these names stand in values, as ``{{ name }}``."""
    texts = (value for value in values if isinstance(value, str) and "{{" in value)
    return {name for text in texts for name in _NAME.findall(text) if name in names}


def fill_in(value: Any, values: Mapping[str, Any]) -> Any:
    """Return a value with the names in it filled in, if it is a text; unknown ones stay.

    >>> fill_in("{{NAME1}} was at {{ place }}.", {"NAME1": "Anna"})
    'Anna was at {{ place }}.'
    """
    if not isinstance(value, str) or "{{" not in value:
        return value
    return _NAME.sub(lambda match: str(values.get(match[1], match[0])), value)


@lru_cache(maxsize=1)
def _environment() -> Environment:
    """Return jinja2's sandbox, without what would make another prompt in each run."""
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined, autoescape=False)
    del environment.globals["lipsum"], environment.filters["random"]
    return environment


class Template:
    """The text of a message with ``{{ names }}``.

    Raises `DeclarationError`, at its line, for an invalid template.
    """

    def __init__(self, node: LocatedValue) -> None:
        from jinja2 import TemplateError, TemplateSyntaxError
        from jinja2 import nodes as syntax
        from jinja2.meta import find_undeclared_variables

        self.node = node
        try:
            environment = _environment()
            parsed = environment.parse(node.text)
            self._render = environment.from_string(node.text).render
        except TemplateSyntaxError as error:
            wrong = (node.text.splitlines() or [""])[min(error.lineno, len(node.text.splitlines())) - 1].strip()
            raise self._error(f"it is no template: {error.message}: {wrong!r:.80}", error.lineno) from None
        except (TemplateError, RecursionError, MemoryError, OverflowError, ValueError) as error:
            raise self._error(f"it is no template: {str(error) or type(error).__name__}", 1) from None
        self.names = find_undeclared_variables(parsed)
        """The names that must be filled in."""
        nodes = list(parsed.find_all(syntax.Name))
        self.ordered = list(dict.fromkeys(name.name for name in nodes if name.name in self.names))
        """The same names in the order of the text."""
        self._lines = {name.name: name.lineno for name in reversed(nodes)}

    def render(self, values: Mapping[str, Any], item: str) -> str:
        """Return the message with these values. Raises `DeclarationError`, naming the item, where rendering fails."""
        from jinja2 import UndefinedError

        try:
            return self._render(dict(values))
        except UndefinedError as error:
            raise self._error(f"item {item} cannot be filled in: {error.message}: give it a value there", 1) from None
        except Exception as error:  # noqa: BLE001 - whatever an expression of the user's raises
            raise self._error(f"item {item} cannot be filled in: {type(error).__name__}: {error}", 1) from None

    def require(self, values: Mapping[str, Any]) -> None:
        """Raise `DeclarationError`, at its line, for a name that nothing fills in."""
        for name in sorted(self.names - values.keys()):
            message = f"nothing fills in {{{{ {name} }}}}; {did_you_mean(name, values)}"
            raise self._error(message, self._lines.get(name, 1))

    def _error(self, message: str, line: int) -> DeclarationError:
        if self.node.first is None:
            return self.node.error(message)
        line_in_file = self.node.first + line - 1
        return self.node.error(
            message, line=line_in_file, column=self.node.column if line_in_file == self.node.line else None
        )

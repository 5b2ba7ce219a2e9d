"""Checks of names and docstrings against the project's style; run it with paths to see what breaks which rule."""

from __future__ import annotations

import ast
import itertools
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

Finding = tuple[Path, int, str]
Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def words(*lines: str) -> frozenset[str]:
    """Return the words of some lines."""
    return frozenset(word for line in lines for word in line.split())


RELATIVE = words("what who whose whom how which where when why")
"""Words that begin a question or a relative clause."""
PREPOSITIONS = words("of from for with without by in on at to as into through until till beside")
"""Words that begin a fragment."""
SUBJECTS = words(
    "the a an one its his their this that these those all each every both it they them whether if is are was has can",
    "same several many some any no nothing nobody somebody such only and or not so like than",
)
"""Words that begin a noun phrase or a clause, where a function needs a verb."""
BANNED = words("told said anew elsewhere beside")
"""Parts of names that name a history and not a thing."""
BANNED_LOCALS = BANNED | words("place found known each asked")
VERBS = words(
    "adds asks builds checks collects completes draws ends gives holds judges keeps lets looks makes measures",
    "posts predicts proposes puts reads records remembers runs says sends sets shows stands stores verifies writes",
)
"""Words that begin a sentence about a class, where a noun phrase names it."""
GERUNDS = words(
    "formatting escaping clustering batching rendering resampling pricing ranking thinking training rating matching",
    "spending grading pending writing reasoning hiring shortlisting planning listing",
)
"""Names in -ing that are nouns of the field."""
BANNED_WORDS = re.compile(r"\b(anew|somebody|so many of|looked after|buried)\b", re.IGNORECASE)


def first_word(text: str) -> str:
    """Return the first word of a docstring in lower case; empty where it begins with code."""
    match = re.match(r"[A-Za-z']+", text)
    return match[0].lower() if match else ""


def docstring_faults(node: Documented, doc: str) -> Iterator[str]:
    """Yield what is wrong with the first paragraph of a docstring."""
    summary = " ".join(doc.strip().split("\n\n")[0].split())
    word = first_word(summary)
    is_function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    decorators = (
        {ast.unparse(decorator) for decorator in node.decorator_list}
        if not isinstance(node, ast.Module)
        else set[str]()
    )
    is_property = any("property" in name for name in decorators)
    if word in RELATIVE:
        yield f"begins with {word!r}: a question or a relative clause"
    elif word in PREPOSITIONS:
        yield f"begins with {word!r}: a fragment"
    elif is_function and not is_property and (word in SUBJECTS or third_person(word)):
        yield f"begins with {word!r}: a function's docstring begins with a verb (Return, Yield, Check, ...)"
    elif isinstance(node, ast.ClassDef) and word in VERBS and not re.match(r"\w+ of\b", summary):
        yield f"begins with {word!r}: a class's docstring begins with a noun"
    if not re.search(r"[.:!?][)'\"`]?$", summary):
        yield "the first paragraph does not end with a period"
    if match := BANNED_WORDS.search(doc):
        yield f"says {match[0]!r}"
    if not isinstance(node, ast.Module):
        yield from (f"describes {name!r}, which is no argument" for name in described_arguments(doc) - arguments(node))


def described_arguments(doc: str) -> set[str]:
    """Return the names below "Args:" in a docstring, without stars."""
    section = re.search(r"^Args:\n(.*?)(?=^\S|\Z)", doc, re.MULTILINE | re.DOTALL)
    return set(re.findall(r"^    \*{0,2}(\w+)(?: \([^)]*\))?:", section[1], re.MULTILINE)) if section else set()


def arguments(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """Return the names of a function's arguments, or of a class's fields and those of its ``__init__``."""
    if not isinstance(node, ast.ClassDef):
        return {argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)}
    fields = {
        field.target.id
        for field in node.body
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
    }
    functions = (function for function in node.body if isinstance(function, ast.FunctionDef))
    return fields.union(*(arguments(function) for function in functions if function.name == "__init__"))


def third_person(word: str) -> bool:
    """Return whether a word is a verb in the third person, as in "returns"."""
    return bool(re.search(r"(?<![su])s$", word)) and word not in {
        "cross",
        "pass",
        "process",
        "focus",
        "bias",
        "discuss",
    }


def attribute_docstrings(body: list[ast.stmt]) -> Iterator[tuple[int, str]]:
    """Yield line and text of the docstrings below attributes."""
    for before, after in itertools.pairwise(body):
        match before, after:
            case ast.Assign() | ast.AnnAssign(), ast.Expr(value=ast.Constant(value=str(text))):
                yield after.lineno, text


def name_faults(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """Yield line and name of every variable, function, class or argument under a banned name."""
    for node in nodes:
        names: list[str] = []
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names = [node.id]
        elif isinstance(node, ast.arg):
            names = [node.arg]
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names = [node.name]
        for name in names:
            if name.strip("_").lower() in BANNED_LOCALS or set(name.lower().strip("_").split("_")) & BANNED:
                yield getattr(node, "lineno", 1), name


def faults(path: Path, tree: ast.Module) -> Iterator[Finding]:
    """Yield the findings of one file."""
    if path.stem.endswith("ing") and path.stem.split("_")[-1] not in GERUNDS:
        yield path, 1, f"module {path.stem!r} is named for an activity"
    nodes = list(ast.walk(tree))
    for node in nodes:
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            line = getattr(node, "lineno", 1)
            if doc := ast.get_docstring(node):
                yield from (
                    (path, line, f"{getattr(node, 'name', 'module')}: {fault}") for fault in docstring_faults(node, doc)
                )
        if isinstance(node, (ast.Module, ast.ClassDef)):
            for line, text in attribute_docstrings(node.body):
                word = first_word(text)
                if word in (RELATIVE | PREPOSITIONS) - {"when"} or BANNED_WORDS.search(text):
                    yield (
                        path,
                        line,
                        f"the docstring of an attribute begins with {word!r}, or uses a banned word: {text[:50]!r}",
                    )
    yield from ((path, line, f"the name {name!r} does not name the thing") for line, name in name_faults(nodes))


def python_files(root: Path) -> list[Path]:
    """Return the Python files below a folder, or the file itself."""
    return sorted(root.rglob("*.py")) if root.is_dir() else [root]


def check(roots: list[Path]) -> list[Finding]:
    """Return all findings below the given files and folders, in the order of files and lines."""
    return [
        finding
        for root in roots
        for path in python_files(root)
        for finding in sorted(faults(path, ast.parse(path.read_text(encoding="utf-8"))))
    ]


if __name__ == "__main__":
    findings = check([Path(name) for name in sys.argv[1:]] or [Path("pytest_fairness")])
    for path, line, fault in findings:
        print(f"{path}:{line}: {fault}")
    print(f"{len(findings)} findings")
    raise SystemExit(bool(findings))

"""The fast tests with other versions of Python and of dependencies, here and in the workflow `tests`.

`nox --list` prints the sessions, `nox --session "tests(3.13-newest)" -- tests/core` runs some of the tests in one.
"""

import nox

nox.options.default_venv_backend = "uv"
nox.options.error_on_missing_interpreters = False

PROJECT = nox.project.load_toml("pyproject.toml")
PYTHONS = nox.project.python_versions(PROJECT)
EXTRAS = "http,openai,anthropic,datasets,parquet,plot,postgres,prices,search"
DEPENDENCIES = {
    "newest": (),
    # An old matplotlib calls functions of pyparsing by names that are deprecated since.
    "oldest": ("--resolution", "lowest-direct", "-e", f".[{EXTRAS}]", "pyparsing==3.1.*"),
    "pytest-8.4": ("pytest==8.4.*",),
    "pytest-main": ("pytest @ git+https://github.com/pytest-dev/pytest@main",),
}
CASES = [
    *((python, "newest") for python in PYTHONS),
    (PYTHONS[0], "oldest"),
    (PYTHONS[0], "pytest-8.4"),
    (PYTHONS[-1], "pytest-8.4"),
    (PYTHONS[-1], "pytest-main"),
]


@nox.session
@nox.parametrize("python, dependencies", CASES, ids=["-".join(case) for case in CASES])
def tests(session: nox.Session, dependencies: str) -> None:
    """Run the fast tests; what is installed first stays as it is, unless a tool of the tests needs a newer one."""
    if first := DEPENDENCIES[dependencies]:
        session.install(*first)
    session.install("-e", ".[contribute]")
    session.run("python", "-m", "pytest", "-m", "not slow", *(session.posargs or ["-n", "auto", "tests"]))

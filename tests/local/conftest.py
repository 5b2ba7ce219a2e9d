"""Fixtures of models, for those of local weights."""

from tests.models.conftest import ask, make_fixture, tiny_model  # noqa: F401 - fixtures

"""The API against its own OpenAPI document, with whatever schemathesis thinks up."""

from __future__ import annotations

from pathlib import Path

import pytest
import schemathesis
import web_library
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)
from web_server import brains_of

from gutengraph_core.library import Library
from gutengraph_core.settings import Settings
from gutengraph_query.api.app import create_app

NEGATIVE = GenerationMode.NEGATIVE
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
    unsupported_method,
]


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> schemathesis.BaseSchema:
    home: Path = tmp_path_factory.mktemp("schema")
    web_library.build(Library(home))
    # without a limit on requests: what is tested is the document
    given_settings = Settings(
        home=home,
        allowed_hosts="testserver",
        requests_per_minute=10**9,
        passage_threshold=0.2,
        path_threshold=0.2,
    )
    app = create_app(brains_of(given_settings), warm=False)
    return schemathesis.openapi.from_asgi("/openapi.json", app)


def test_every_operation_keeps_to_its_description(described: schemathesis.BaseSchema) -> None:
    operations = [result.ok() for result in described.get_all_operations()]
    assert len(operations) >= 15
    for operation in operations:
        everything_it_takes = operation.as_strategy() | operation.as_strategy(generation_mode=NEGATIVE)

        @settings(max_examples=25, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
        @given(case=everything_it_takes)
        def keeps_to_it(case: schemathesis.Case) -> None:
            # a base model cannot call tools, and says so with 502
            tools = isinstance(case.body, dict) and case.body.get("mode") == "tools"
            case.call_and_validate(checks=CHECKS[1:] if tools else CHECKS)

        keeps_to_it()


def test_requests_and_answers_are_shown_by_example(described: schemathesis.BaseSchema) -> None:
    document = described.raw_schema
    for path in ("/ask", "/compare"):
        body = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
        named = document["components"]["schemas"][body["$ref"].rsplit("/", 1)[1]]
        assert named["examples"][0]["question"]
        assert "text/event-stream" in document["paths"][path]["post"]["responses"]["200"]["content"]


def test_the_operations_of_a_review_keep_to_theirs(tmp_path: Path) -> None:
    """They write: what is thought up must be refused or kept whole, and nothing may break."""
    web_library.build(Library(tmp_path))
    token = "tar and apricots"
    given_settings = Settings(
        home=tmp_path, allowed_hosts="testserver", requests_per_minute=10**9, api_token=token
    )
    app = create_app(brains_of(given_settings), warm=False, review=True)
    client = {"Authorization": f"Bearer {token}"}
    described = schemathesis.openapi.from_asgi("/openapi.json", app, headers=client)
    operations = [o for result in described.get_all_operations() if "/review" in (o := result.ok()).path]
    assert len(operations) == 4
    for operation in operations:
        everything_it_takes = operation.as_strategy() | operation.as_strategy(generation_mode=NEGATIVE)

        @settings(max_examples=8, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
        @given(case=everything_it_takes)
        def keeps_to_it(case: schemathesis.Case) -> None:
            case.call_and_validate(checks=CHECKS, headers=client)

        keeps_to_it()

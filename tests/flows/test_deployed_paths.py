"""A deployed flow takes a campaign's absolute path, and no other."""

from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from prefect import Flow
from prefect.exceptions import ParameterTypeError
from prefect.utilities.callables import parameter_schema

from piecework.flows.advance import advance, run
from piecework.flows.exporting import export, report
from piecework.flows.rehearse import rehearse
from tests.conftest import ROOT

FLOWS = [advance, run, rehearse, export, report]


@pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: flow.name)
def test_a_relative_campaign_is_refused_before_anything_runs(flow: Flow[..., Any]) -> None:
    """It is another file in each checkout: the sentence says what to deploy instead."""
    others = {"endpoint": "http://127.0.0.1:1"} if flow is run else {}
    taken = flow.validate_parameters({"campaign": "/a/birds.toml", **others})
    assert taken["campaign"] == "/a/birds.toml"
    with pytest.raises(ParameterTypeError, match=r"'birds\.toml' is relative.*\$PWD"):
        flow.validate_parameters({"campaign": "birds.toml", **others})


@pytest.mark.parametrize("flow", FLOWS, ids=lambda flow: flow.name)
def test_prefects_server_can_refuse_it_too(flow: Flow[..., Any]) -> None:
    """The schema that a deployment carries says so: no run of it is even made."""
    schema = parameter_schema(flow.fn).model_dump()
    wanted = schema["properties"]["campaign"]
    jsonschema.validate("/a/birds.toml", wanted)
    for path in ("birds.toml", "../birds.toml", "{{ $PWD }}/birds.toml"):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(path, wanted)


def test_what_is_shipped_is_resolved_where_it_is_deployed() -> None:
    """`$PWD` of the shell that deploys stands before every path of prefect.yaml."""
    words = yaml.safe_load((ROOT / "prefect.yaml").read_text())
    for deployment in words["deployments"]:
        path = deployment["parameters"]["campaign"]
        assert path.startswith("{{ $PWD }}/")
        resolved = Path(path.replace("{{ $PWD }}", str(ROOT)))
        assert resolved.is_file()

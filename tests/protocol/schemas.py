"""The JSON Schemas of the protocol, compiled for tests."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

import referee.protocol

FOLDER = Path(referee.protocol.__file__).parent / "schemas"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))


@cache
def validator(name: str) -> Draft202012Validator:
    schema = json.loads((FOLDER / f"{name}.json").read_text())
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def fits(name: str, body: bytes) -> bool:
    return validator(name).is_valid(json.loads(body))


def check(name: str, body: bytes) -> Any:
    """Return the parsed body; raise ``ValidationError`` if it does not match the schema."""
    value = json.loads(body)
    validator(name).validate(value)
    return value

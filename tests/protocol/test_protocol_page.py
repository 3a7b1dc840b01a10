"""The page for bot authors: its examples match the schemas, its list of faults is complete."""

import hashlib
import json
import re
from pathlib import Path

from referee.match.chance import commitment
from referee.match.match import FAULTS
from referee.protocol.fault_advice import ADVICE
from referee.protocol.signing import Signer, challenge_proof
from tests.protocol.schemas import NAMES, check

PAGE = (Path(__file__).parents[2] / "docs" / "bot-protocol.md").read_text()
EXAMPLES = re.findall(r"<!-- schema: (\w+) -->\n```json\n(.*?)```", PAGE, re.DOTALL)


def test_every_body_has_an_example_and_every_example_fits_its_schema() -> None:
    for schema, example in EXAMPLES:
        check(schema, example.encode())
    assert {schema for schema, _ in EXAMPLES} == set(NAMES)
    assert PAGE.count("```json") == len(EXAMPLES)


def test_every_fault_is_explained() -> None:
    table = ["| fault | what happened | what to do |", "| --- | --- | --- |"]
    table += [f"| `{code}` | {advice.happened} | {advice.remedy} |" for code, advice in ADVICE.items()]

    assert set(ADVICE) == set(FAULTS)
    assert "\n".join(["", *table, "", ""]) in PAGE


def test_the_numbers_of_the_examples_can_be_worked_out() -> None:
    bodies = {schema: json.loads(example) for schema, example in EXAMPLES}
    secret = re.findall(r"whsec_[0-9A-Za-z+/=]+", PAGE)[0]
    group = bodies["group_end_request"]["group"]

    assert bodies["challenge_reply"]["proof"] == challenge_proof(secret, bodies["challenge_request"]["nonce"])
    assert bodies["nonce_hash_reply"]["nonce_hash"] == hashlib.sha256(group["nonces"][0].encode()).hexdigest()
    assert group["commitment"] == commitment(bytes.fromhex(group["seed"]), group["id"])
    signature = Signer([secret]).signature("msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    assert f"`{signature}`" in PAGE

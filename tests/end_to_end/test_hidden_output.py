"""D9: no output of matches in progress contains a seed or hidden cards: logs of processes, Redis, jobs, the API.

The database does: its recorded rows are not encrypted (see docs/threats.md).
"""

import base64
import json
import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from flask import Flask
from redis import Redis
from rq import Queue
from rq.serializers import JSONSerializer
from sqlalchemy import select

from api import create_app
from referee.matches.deals import deal_groups
from referee.matches.tables import LogRow
from tests.end_to_end.bots import Bots
from tests.end_to_end.service import MASTER_KEY, Service
from tests.surroundings import settings_for

GAMES: dict[str, dict[str, Any]] = {"pool-nap": {"rounds": 2}, "saint-poker": {"rounds": 2}}
WINDOW = 5  # cards of a deck in order


def card_lists(value: Any) -> Iterator[list[str]]:
    """Yield all lists of at least three cards in a JSON value."""
    if isinstance(value, list) and len(value) > 2 and all(isinstance(one, str) and len(one) == 2 for one in value):
        yield value
    elif isinstance(value, list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from card_lists(part)


def needles(service: Service, match_ids: list[str]) -> set[bytes]:
    """Return what nobody may see: seeds in several forms, and runs of hidden cards as they might be written."""
    found: set[bytes] = set()
    with service.database.read() as session:
        for match_id in match_ids:
            group = deal_groups.get_group(session, service.match(match_id).group_id)
            seed = deal_groups.unseal_seed_of_group(group, MASTER_KEY)
            found |= {seed, seed.hex().encode(), base64.b64encode(seed), base64.urlsafe_b64encode(seed)}
            for line in session.scalars(select(LogRow.line).where(LogRow.match_id == match_id)):
                row = json.loads(line)
                if row["type"] != "chance":
                    continue
                for cards in card_lists(row):
                    runs = [cards[at : at + WINDOW] for at in range(max(1, len(cards) - WINDOW + 1))]
                    for run in runs:
                        found |= {json.dumps(run)[1:-1].encode(), json.dumps(run, separators=(",", ":"))[1:-1].encode()}
                        found |= {" ".join(run).encode(), repr(run)[1:-1].encode(), "".join(run).encode()}
    return found


def outputs(service: Service) -> dict[str, bytes]:
    """Return everything that processes wrote or stored in Redis."""
    found = {path.name: path.read_bytes() for path in service.folder.glob("*.log")}
    found |= {str(path): path.read_bytes() for path in service._sockets.rglob("*.aof")}
    client = service.client()
    for key in client.scan_iter():
        if client.type(key) == b"hash":
            values: list[Any] = list(client.hgetall(key).values())
            found[f"redis {key!r}"] = b"".join(values)
            for value in values:
                with suppress(zlib.error):
                    found[f"redis {key!r} unpacked"] = zlib.decompress(value)
    return found


def answers(app: Flask, match_ids: list[str]) -> dict[str, bytes]:
    """Return what the API answers now, about everything and about these matches."""
    found, asking = {}, app.test_client()
    for rule in app.url_map.iter_rules():
        names = set(rule.arguments)
        if "GET" not in (rule.methods or ()) or len(names) > 1 or rule.rule.endswith("/stream"):
            continue
        for match_id in match_ids if names else [""]:
            path = re.sub(r"""<id\(["']mat["']\):\w+>""", match_id, rule.rule)
            if "<" not in path:
                found[path] = asking.get(path).get_data()
    return found


def told(searched: dict[str, bytes], hidden: set[bytes]) -> list[str]:
    return sorted(name for name, text in searched.items() if any(needle in text for needle in hidden))


def test_D9_no_output_of_matches_in_progress_has_hidden_cards_or_seeds(service: Service, bots: Bots) -> None:
    client = service.client()
    bots.expect(4)
    service.enlist(bots.serve("first"))
    match_ids = [service.arrange(game, options=options) for game, options in GAMES.items()]
    service.worker()
    service.until(lambda: all(bots.desk.held_of(match_id) for match_id in match_ids), "matches in progress")
    redis_url = f"unix://{service.socket}?db=0"
    app = create_app(replace(settings_for(service.folder), redis_url=redis_url, rate_limits=False))
    hidden = needles(service, match_ids)
    searched = outputs(service) | answers(app, match_ids)

    assert len(hidden) > 50
    assert sum(match_ids[0] in name for name in searched) > 5
    assert told(searched, hidden) == []

    secret = next(run for run in hidden if re.fullmatch(rb"\w\w( \w\w)+", run))
    for where in ("log", "redis", "job"):
        planted = _plant(service, client, where, secret)
        assert any(planted in name for name in told(outputs(service), hidden)), where


def _plant(service: Service, client: Redis, where: str, secret: bytes) -> str:
    """Put the secret where it must not be, and return what that output is called."""
    if where == "log":
        with service.processes[0].log.open("ab") as log:
            log.write(b'{"event": "debug", "deck": "' + secret + b'"}\n')
        return service.processes[0].log.name
    if where == "redis":
        client.hset("planted-key", "deck", secret.decode())
        return "planted-key"
    other = Queue("other", connection=client, serializer=JSONSerializer)  # from which no worker takes jobs
    other.enqueue("workers.jobs.run_alone", secret.decode(), job_id="planted-job")
    return "planted-job"

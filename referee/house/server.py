"""Serve house players over HTTP, as bots that follow the bot protocol."""

import asyncio
import hashlib
import hmac
import signal
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random, SystemRandom
from typing import Any, Self

import orjson
from aiohttp import web

from referee.games import catalogue
from referee.house.players import HousePlayer, find_player
from referee.match.canonical import Json
from referee.protocol.messages import PROTOCOL
from referee.protocol.signing import Signer, challenge_proof, current_secret, secret_bytes
from referee.version import RELEASE

MAX_BODY_BYTES = 4 * 1024 * 1024
CLOCK_TOLERANCE_S = 300


@dataclass(slots=True)
class House:
    """Serve a house player over HTTP. ``secret`` can be set, or ``secret_file`` written, after the bot is registered.
    Without a secret, signatures are not checked and challenges are refused."""

    name: str
    player: type[HousePlayer]
    secret: str | None = None
    secret_file: Path | None = None  # read at each call if no secret is set
    latency_ms: int = 0  # simulated thinking time
    games: Sequence[str] = ()  # listed in the manifest; all games if empty
    dice_key: bytes = field(default_factory=lambda: SystemRandom().randbytes(32), repr=False)
    url: str = ""
    decisions: int = 0
    now: Callable[[], float] = time.time
    _runner: web.AppRunner | None = field(default=None, repr=False)
    _nonce_key: bytes = field(default_factory=lambda: SystemRandom().randbytes(32), repr=False)

    async def start(self, host: str, port: int) -> Self:
        """Start to listen and set ``url``. Port 0 selects a free port."""
        app = web.Application(client_max_size=MAX_BODY_BYTES)
        app.add_routes(
            [web.get("/", self._manifest), web.post("/decide", self._decide), web.post("/notify", self._notify)]
        )
        self._runner = web.AppRunner(app, access_log=None, handle_signals=False)
        await self._runner.setup()
        await web.TCPSite(self._runner, host, port).start()
        port = self._runner.addresses[0][1]
        self.url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        return self

    async def close(self) -> None:
        """Stop listening and close open connections."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def _manifest(self, request: web.Request) -> web.Response:
        return _json(
            {
                "protocol": PROTOCOL,
                "name": self.name,
                "version": RELEASE,
                "games": sorted(self.games or catalogue()),
                "max_concurrent_requests": 100,
            }
        )

    async def _decide(self, request: web.Request) -> web.Response:
        question = await self._read_signed_body(request)
        if self.latency_ms:
            await asyncio.sleep(self.latency_ms / 1000)
        # A question asked again gets the same answer, and nobody without the key can foresee it.
        dice = Random(hmac.digest(self.dice_key, question["decision"]["id"].encode(), "sha256"))  # noqa: S311
        action = await self.player(dice).answer(question["match"]["game"], question)
        self.decisions += 1
        return _json({"decision": question["decision"]["id"], "action": action})

    async def _notify(self, request: web.Request) -> web.Response:
        match await self._read_signed_body(request):
            case {"type": "challenge", "nonce": nonce}:
                secret = self._known_secret()
                if not secret:
                    raise web.HTTPServiceUnavailable(text="this bot does not know its secret yet")
                return _json({"proof": challenge_proof(secret, nonce)})
            case {"type": "group_start", "step": 1, "group": {"id": group_id}}:
                return _json({"nonce_hash": hashlib.sha256(self._nonce(group_id).encode()).hexdigest()})
            case {"type": "group_start", "step": 2, "group": {"id": group_id}}:
                return _json({"nonce": self._nonce(group_id)})
            case {"type": "group_start", "step": 3, "group": {"id": group_id, "nonces": nonces}}:
                return _json({"accepted": self._nonce(group_id) in nonces})
            case _:
                return _json({})

    def _nonce(self, group_id: str) -> str:
        """Derive the nonce of a deal group from a key, so that it is the same after a restart with the same secret."""
        secret = self._known_secret()
        key = secret_bytes(secret) if secret else self._nonce_key
        return hmac.digest(key, b"nonce|" + group_id.encode(), "sha256").hex()[:32]

    def _known_secret(self) -> str:
        """Return the secret that was set, or else the content of the file, or an empty text if there is no secret.

        Raise ``HTTPServiceUnavailable`` if the file cannot be read.
        """
        try:
            return current_secret(self.secret, self.secret_file)
        except ValueError as error:
            raise web.HTTPServiceUnavailable(text=str(error)) from error

    async def _read_signed_body(self, request: web.Request) -> Any:
        """Return the parsed body after checking its signature.

        Raise ``HTTPUnauthorized`` if the signature is invalid.
        """
        body = await request.read()
        if secret := self._known_secret():
            given = request.headers
            timestamp = given.get("webhook-timestamp", "")
            fits = Signer([secret]).verify(
                given.get("webhook-id", ""), timestamp, body, given.get("webhook-signature", "")
            )
            if not fits or abs(self.now() - int(timestamp)) > CLOCK_TOLERANCE_S:
                raise web.HTTPUnauthorized(text="the signature is invalid or expired")
        return orjson.loads(body)


async def serve(
    name: str,
    host: str = "127.0.0.1",
    port: int = 0,
    secret: str | None = None,
    *,
    secret_file: Path | None = None,
    latency_ms: int = 0,
    games: Sequence[str] = (),
    seed: Any = None,
) -> House:
    """Start serving the house player ``name``. Call ``close`` to stop it.

    With a seed, its choices are repeatable. Raise ``NoSuchHousePlayer`` for an unknown name.
    """
    player = find_player(name)
    house = House(player.full_name(), player, secret, secret_file, latency_ms, games)
    if seed is not None:
        house.dice_key = hashlib.sha256(str(seed).encode()).digest()
    return await house.start(host, port)


def run(starting: Coroutine[Any, Any, House], started: Callable[[str], None] = lambda url: None) -> None:
    """Serve the house player that ``serve`` starts until SIGINT or SIGTERM. Call ``started`` with its URL."""

    async def until_stopped() -> None:
        stopped = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stopped.set)
        house = await starting
        started(house.url)
        try:
            await stopped.wait()
        finally:
            await house.close()

    asyncio.run(until_stopped())


def _json(body: Json) -> web.Response:
    return web.Response(body=orjson.dumps(body), content_type="application/json")

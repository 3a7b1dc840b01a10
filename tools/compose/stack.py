"""The stack of docker-compose.yml in an engine: commands of operators, the state of its containers, and the client."""

import json
import os
import re
import runpy
import secrets
import signal
import ssl
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import httpx
import yaml

import referee
from tests.deploy.certificates import make_certificate
from tests.end_to_end.processes import until
from tools.compose.engine import CommandFailed, Engine, find_compose, run

ROOT = Path(__file__).parent.parent.parent
MAKE_ENV: Final = runpy.run_path(str(ROOT / "deploy/make_env.py"))  # what `make env` does
CLIENT: Final = Path(__file__).with_name("client.py")
TLS_FOLDER: Final = "/etc/nginx/tls"  # in the container of the proxy
PROJECT: Final = "referee-compose-test"
HOST, TLS_PORT = "referee.test", 8443
BOTS_NETWORK, BOTS_RANGE = "ref-bots", "11.77.3"  # addresses as they are on the internet, since workers refuse others
LASTING: Final = ("proxy", "api", "worker", "scheduler", "redis", "postgres")
VERSION: Final = referee.__version__.replace("+", "-")  # as in the name of the image
APP: Final = ("api", "worker", "scheduler", "migrate")
START_S = 180.0
# Version 1 of compose refuses this option, but treats a missing path as an error without it.
UNKNOWN_TO_1: Final = re.compile(r"^ +bind: \{create_host_path: false\}.*\n", re.MULTILINE)


class Stack:
    """Run the services of a checkout, with settings and a certificate in ``folder``."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        self.engine = engine
        self.folder = folder
        self._compose = find_compose(engine.environment)
        self._extra = folder / "test.yml"
        self.certificate = folder / "certificate.pem"
        self._main = folder / "docker-compose.yml"
        text = (ROOT / "docker-compose.yml").read_text()
        self._main.write_text(text if self._compose[0] == "docker" else UNKNOWN_TO_1.sub("", text))
        self.write_settings()
        self._write_certificate()
        self.checkout = ROOT  # whose commands owners and organisers use
        self.token = ""
        self.use_image(None)

    # -- settings --

    def write_settings(self) -> None:
        """Run the stack as a service for strangers, with new secrets."""
        values = {
            "REFEREE_VERSION": VERSION,
            "REFEREE_MASTER_KEY": secrets.token_hex(32),
            "POSTGRES_PASSWORD": secrets.token_hex(16),
            "REDIS_PASSWORD": secrets.token_hex(16),
            "REFEREE_PUBLIC_URL": f"https://{HOST}:{TLS_PORT}",
            "REFEREE_ALLOWED_HOSTS": HOST,
            "REFEREE_ALLOW_HTTP": "true",  # of the bots
            "REFEREE_RATE_LIMITS": "false",  # all owners have one address
        }
        self.use_settings(values)

    def use_settings(self, values: Mapping[str, str]) -> None:
        """Run the stack with these values in place of those of .env.example."""
        path = self.folder / "settings"
        path.write_text(MAKE_ENV["fill_in"]((ROOT / ".env.example").read_text(), values))
        path.chmod(0o600)

    def _write_certificate(self) -> None:
        public, private = make_certificate(HOST, days=31)
        tls = self.folder / "tls"
        tls.mkdir(mode=0o755)
        self.certificate.write_bytes(public)
        (tls / "fullchain.pem").write_bytes(public)
        (tls / "privkey.pem").write_bytes(private)
        (tls / "privkey.pem").chmod(0o644)  # nginx runs as user 101
        (tls / "tls.conf").write_text((ROOT / "deploy/tls.conf").read_text())

    def use_image(self, image: str | None) -> None:
        """Run this image instead of the one that the file builds; the next ``up`` replaces the containers."""
        proxy = {
            "ports": [f"127.0.0.1:{TLS_PORT}:8443"],
            "volumes": [f"{self.folder}/tls:{TLS_FOLDER}:ro"],
        }
        services: dict[str, Any] = {"proxy": proxy} | {name: {"image": image} for name in APP if image}
        self._extra.write_text(yaml.safe_dump({"services": services}))

    # -- commands --

    def compose(self, *arguments: str, timeout_s: float = 600) -> str:
        files = ["--project-directory", str(ROOT), "--file", str(self._main), "--file", str(self._extra)]
        general = ["--project-name", PROJECT, "--env-file", str(self.folder / "settings"), *files]
        command = [*self._compose, *general, *arguments]
        try:
            return run(command, self.engine.environment, timeout_s=timeout_s, cwd=ROOT).stdout
        except CommandFailed as error:
            if arguments[0] != "up":
                raise
            raise CommandFailed(f"{error}\n{self.tail('migrate')}{self.tail('worker')}") from error

    def docker(self, *arguments: str) -> str:
        ran = run(["docker", *arguments], self.engine.environment)
        return ran.stdout or ran.stderr

    def referee(self, *arguments: str) -> str:
        """Run a command of an owner or organiser, on this machine, through the proxy with TLS."""
        own = {"REFEREE_URL": f"https://{HOST}:{TLS_PORT}", "SSL_CERT_FILE": str(self.certificate)}
        command = [sys.executable, "-P", str(CLIENT), *arguments]  # -P: only PYTHONPATH has the packages
        token = {"REFEREE_TOKEN": self.token} if self.token else {}
        with self.engine.enter_network():
            return run(command, own | token | {"PYTHONPATH": str(self.checkout)}, cwd=self.folder).stdout

    # -- containers --

    def containers(self, service: str) -> list[str]:
        """Return the ids of the running containers of a service."""
        labels = [f"label=com.docker.compose.project={PROJECT}", f"label=com.docker.compose.service={service}"]
        filters = [part for label in labels for part in ("--filter", label)]
        return sorted(self.docker("ps", "--quiet", "--no-trunc", *filters).split())

    def inspect(self, container: str) -> dict[str, Any]:
        (found,) = json.loads(self.docker("inspect", container))
        state: dict[str, Any] = found
        return state

    def is_up(self, service: str) -> bool:
        """Return whether all containers of a service run and none is unhealthy or starting."""
        states = [self.inspect(container)["State"] for container in self.containers(service)]
        return bool(states) and all(state.get("Health", {}).get("Status", "healthy") == "healthy" for state in states)

    def wait_until_up(self, services: Sequence[str] = LASTING) -> None:
        for service in services:
            until(partial(self.is_up, service), f"{service} is up", START_S, partial(self.tail, service))

    def kill_process(self, container: str) -> None:
        """Kill the first process of a container, as when it crashes; the engine then restarts it."""
        os.kill(int(self.inspect(container)["State"]["Pid"]), signal.SIGKILL)

    def tail(self, service: str) -> str:
        return self.compose("logs", "--tail", "30", service)

    # -- requests --

    def request(self, path: str, *, timeout_s: float = 15, host: str = f"{HOST}:{TLS_PORT}") -> httpx.Response:
        """Ask the service through the proxy, with TLS, on a new connection."""
        context = ssl.create_default_context(cafile=str(self.certificate))
        with self.engine.enter_network(), httpx.Client(verify=context, timeout=timeout_s, trust_env=False) as client:
            url = f"https://127.0.0.1:{TLS_PORT}{path}"
            return client.get(url, headers={"Host": host}, extensions={"sni_hostname": HOST})

    def until(self, condition: Callable[[], Any], what: str, seconds: float = START_S) -> float:
        """Wait until the condition holds, and return the seconds it took."""
        began = time.monotonic()
        until(condition, what, seconds, lambda: self.compose("ps"))
        return time.monotonic() - began

    def has_answer(self, path: str = "/readyz") -> bool:
        try:
            return self.request(path, timeout_s=5).status_code == 200
        except httpx.HTTPError:
            return False

    # -- the database --

    def count(self, table: str, where: str = "true") -> int:
        """Return how many rows of a table fulfil a condition."""
        query = f"SELECT count(*) FROM {table} WHERE {where}"
        command = [
            "psql",
            "--username",
            "referee",
            "--host",
            "127.0.0.1",
            "--tuples-only",
            "--command",
            query,
            "referee",
        ]
        (postgres,) = self.containers("postgres")
        return int(self.docker("exec", "--env", f"PGPASSWORD={self.password}", postgres, *command).strip())

    @property
    def password(self) -> str:
        lines = (self.folder / "settings").read_text().splitlines()
        return next(line.partition("=")[2] for line in lines if line.startswith("POSTGRES_PASSWORD="))

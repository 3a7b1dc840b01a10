"""Write .env for docker-compose.yml: a service for this machine alone, with random secrets and a sample bot.

``python3 deploy/make_env.py`` needs nothing installed. It never changes a .env that exists.
"""

import os
import secrets
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
BOTS_HERE: Final = "172.16.0.0/12:9000-9099,192.168.0.0/16:9000-9099"  # containers, and this host as they see it
EXISTS: Final = "There is a .env already, and nothing was changed. Edit it; or move it away, and run `make env` again."
DONE: Final = """Wrote .env, which only you can read. Keep a copy of its REFEREE_MASTER_KEY.

    docker compose up -d --build --wait     # then open http://127.0.0.1:8080
"""


def choose_values(version: str) -> dict[str, str]:
    """Return the values of .env that differ from those of .env.example."""
    return {
        "REFEREE_VERSION": version.replace("+", "-"),  # the name of an image contains no plus sign
        "REFEREE_MASTER_KEY": secrets.token_hex(32),
        "POSTGRES_PASSWORD": secrets.token_hex(32),
        "REDIS_PASSWORD": secrets.token_hex(32),
        "REFEREE_PUBLIC_URL": "http://127.0.0.1:8080",
        "REFEREE_ALLOWED_HOSTS": "127.0.0.1,localhost,api",  # api: for the sample bot
        "REFEREE_ENV": "development",
        "REFEREE_EGRESS_ALLOW": BOTS_HERE,
        "REFEREE_ALLOW_HTTP": "true",
        "COMPOSE_PROFILES": "sample",
    }


def fill_in(example: str, values: dict[str, str]) -> str:
    """Return the text of .env.example with these values. Raise ``KeyError`` for a value without a line."""
    left, lines = dict(values), []
    for line in example.splitlines():
        name, is_setting, _ = line.partition("=")
        lines.append(f"{name}={left.pop(name)}" if is_setting and name in left else line)
    if left:
        raise KeyError(*left)
    return "\n".join(lines) + "\n"


def main() -> int:
    version = subprocess.run(  # noqa: S603 - a program of ours
        [sys.executable, str(ROOT / "referee/version.py")], capture_output=True, text=True, check=True
    ).stdout.strip()
    text = fill_in((ROOT / ".env.example").read_text(), choose_values(version))
    try:
        descriptor = os.open(ROOT / ".env", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        print(EXISTS, file=sys.stderr)  # noqa: T201
        return 1
    with open(descriptor, "w") as file:
        file.write(text)
    print(DONE, end="")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())

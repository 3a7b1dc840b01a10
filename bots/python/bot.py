"""A starter bot: plays every game by a random legal choice. Copy it and replace `choose`.

    REFEREE_SECRET=whsec_... python3 bot.py [PORT]
"""
import base64
import hashlib
import hmac
import json
import os
import random
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = base64.b64decode(os.environ.get("REFEREE_SECRET", "").removeprefix("whsec_"))
CARD = {"protocol": "1", "name": "starter", "version": "1", "max_calls": 8,
        "games": ["pool-nap", "prince-albert", "prisoners", "rummy-royal", "saint-poker"]}


def choose(question):
    """The index of an action in question["legal"]; question["observation"] is all that you may see."""
    return random.randrange(len(question["legal"]))


def noticed(notice):
    if notice["type"] == "challenge":  # proves that this address is yours
        return {"proof": hmac.digest(KEY, notice["nonce"].encode(), "sha256").hex()}
    if notice["type"] == "group_start":  # our share in the shuffling: promised first, told second
        nonce = hmac.digest(KEY, b"nonce " + notice["group"]["id"].encode(), "sha256").hex()[:32]
        return {"nonce_hash": hashlib.sha256(nonce.encode()).hexdigest()} if notice["step"] == 1 else {"nonce": nonce}
    return {}  # match_end, group_end


def is_signed(headers, body):
    id, sent, given = (headers[f"webhook-{part}"] or "" for part in ("id", "timestamp", "signature"))
    wanted = "v1," + base64.b64encode(hmac.digest(KEY, f"{id}.{sent}.".encode() + body, "sha256")).decode()
    fits = any(hmac.compare_digest(wanted, one) for one in given.split())
    return not KEY or (fits and abs(time.time() - int(sent)) < 300)


class Bot(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # keeps the connection open
    disable_nagle_algorithm = True

    def do_GET(self):
        self.answer(CARD)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if not is_signed(self.headers, body):
            return self.answer({"error": "bad signature"}, 401)
        asked = json.loads(body)
        if self.path.endswith("/notify"):
            return self.answer(noticed(asked))
        return self.answer({"decision": asked["decision"]["id"], "choice": choose(asked)})

    def answer(self, reply, status=200):
        content = json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args):
        pass


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 9000), Bot).serve_forever()

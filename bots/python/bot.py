"""A starter bot that makes arbitrary legal choices in every game. Replace `choose`.    python3 bot.py [PORT]
Port: argument, $PORT or 9000 (0: a free one). Host: $HOST or 127.0.0.1. Secret: $REFEREE_BOT_SECRET or secret.txt"""
import base64, hashlib, hmac, json, os, pathlib, random, sys, time, traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
BESIDE, HOST = pathlib.Path(__file__).with_name("secret.txt"), os.environ.get("HOST") or "127.0.0.1"
MANIFEST = {"protocol": "2", "name": "starter", "version": "1", "max_concurrent_requests": 8,
            "games": ["pool-nap", "prince-albert", "prisoners", "rummy-royal", "saint-poker"]}

def choose(question):
    """Return one of question["legal_actions"], the same if asked again. question["observation"] is all you may see."""
    return random.Random(question["decision"]["id"]).choice(question["legal_actions"])

def answer_question(question):
    try:
        return {"decision": question["decision"]["id"], "action": choose(question)}
    except Exception as error:
        sys.stderr.write(traceback.format_exc())  # in one piece, also if several threads fail
        answer = {"decision": question["decision"]["id"], "action": question["default_action"]}
        return answer | {"error": f"{type(error).__name__}: {error}"[:1000]}  # shown only to you
def answer_notice(notice):
    if notice.get("type") == "challenge":  # proves that this address is yours
        return {"proof": hmac.digest(key(), notice["nonce"].encode(), "sha256").hex()}
    if notice.get("type") != "group_start": return {}  # match_end, group_end
    nonce = hmac.digest(key(), b"nonce " + notice["group"]["id"].encode(), "sha256").hex()[:32]
    return [{"nonce_hash": hashlib.sha256(nonce.encode()).hexdigest()}, {"nonce": nonce},  # step 1, step 2
            {"accepted": nonce in notice["group"].get("nonces", [])}][notice["step"] - 1]  # step 3: our nonce is used

def key():  # read at each call: the secret may be written while the bot runs
    secret = os.environ.get("REFEREE_BOT_SECRET") or (BESIDE.read_text() if BESIDE.exists() else "")
    return base64.b64decode(secret.strip().removeprefix("whsec_"), validate=True)
def is_signed(headers, body):
    id, sent, given = (headers[f"webhook-{part}"] or "" for part in ("id", "timestamp", "signature"))
    wanted = b"v1," + base64.b64encode(hmac.digest(key(), f"{id}.{sent}.".encode() + body, "sha256"))
    fits = any(hmac.compare_digest(wanted, signature.encode()) for signature in given.split())
    return not key() or (fits and abs(time.time() - int(sent)) < 300)  # without a secret, accept all calls

class Bot(BaseHTTPRequestHandler):
    protocol_version, disable_nagle_algorithm = "HTTP/1.1", True  # one connection for a whole match
    def log_message(self, *args): ...
    def do_GET(self): self.answer(200, MANIFEST)
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if not is_signed(self.headers, body):
            return self.answer(401, {"error": "bad signature"})
        return self.answer(200, (answer_question if self.path.endswith("/decide") else answer_notice)(json.loads(body)))
    def answer(self, status, reply):
        content = json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

ThreadingHTTPServer.request_queue_size = 100
try:
    server = ThreadingHTTPServer((HOST, int((sys.argv[1:] or [os.environ.get("PORT", 9000)])[0])), Bot)
except OSError as error:
    sys.exit(f"cannot listen on {HOST}: {error.strerror}; try another port: python3 bot.py 9001")
print(f"{MANIFEST['name']} plays at http://{HOST}:{server.server_port}", flush=True)
server.serve_forever()

"""Check match logs without the referee: links between rows, committed seed, every deal and draw.

    python docs/verify_log.py FILE…      (plain or gzip; standard library of Python 3.10 or later only)

A FILE contains one log or all logs of a tournament. This script does not check moves, results or signatures:
`referee verify` does."""

import gzip
import hashlib
import hmac
import json
import pathlib
import re
import sys

UNCHECKED = "moves and result are not checked (referee verify checks them)"


def logs(data):
    """Return the lines of each log. A line after its last row may say why the match does not count."""
    need(not data.startswith(b"PK"), "this is a zip: unpack it and pass the files in it")
    data = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
    parts = re.split(rb'^(?={"engine_version":|{"match":.*"type":"damaged"})', data, flags=re.MULTILINE)
    return [part.splitlines() for part in parts if part] or [[]]


def check(lines):
    """Check links, seed and deals. Raise for a log in which one of them is wrong."""
    about = lines[-1] if lines and lines[-1].startswith(b'{"match":') else b""
    rows = [json.loads(line) for line in (lines[:-1] if about else lines)]
    signature = rows.pop() if rows and is_signature(rows[-1]) else None
    need(rows, "there is no log")
    for number, row in enumerate(rows):
        before = hashlib.sha256(lines[number - 1]).hexdigest() if number else None
        need((row["row"], row["prev"]) == (number, before), f"row {number} does not follow the row before it")
    last = rows[0]["match"], hashlib.sha256(lines[len(rows) - 1]).hexdigest()
    need(not signature or (signature["match"], signature["log"]) == last, "the signature is that of another log")
    group, reveal = rows[0]["group"], rows[-1]
    need(reveal["type"] == "reveal", "no seed is revealed: the deal group is not over yet, or rows are missing")
    check_openings(group, reveal)
    text = "|".join(["referee/v1", group["id"], *reveal["nonces"]])
    key, nodes = hmac.digest(bytes.fromhex(reveal["seed"]), text.encode(), "sha256"), {"deck": 0, "draw": 0}
    for row in (row for row in rows if row["type"] == "chance"):
        items, words = row["chance"].get("cards") or row["chance"]["among"], stream(key, row["chance"]["kind"], nodes)
        if row["chance"]["kind"] == "deck" or row["chance"].get("ordered"):
            for i in range(len(items) - 1, 0, -1):
                j = below(i + 1, words)
                items[i], items[j] = items[j], items[i]
        else:
            items = items[below(len(items), words)]
        need(row["outcome"] == items, f"row {row['row']}: this outcome does not follow from the seed and the nonces")
    need(rows[-2]["type"] == "result" or about.endswith(b'"type":"cancelled"}'), "the log has no result")


def is_signature(row):
    return row.get("type") == "signature" and "row" not in row


def check_openings(group, reveal):
    """Check the opening that led to the cards and the earlier ones, which bots ended and which led to none."""
    failed = set()
    for opening in [*reveal["openings"], {**group, **reveal, "failures": {}}]:
        committed = hashlib.sha256(bytes.fromhex(opening["seed"]) + opening["id"].encode()).hexdigest()
        need(committed == opening["commitment"], "not the committed seed")
        need(opening["failures"] or opening["id"] == group["id"], "an earlier opening was ended by nobody")
        for bot, nonce, promised in zip(group["entries"], opening["nonces"], opening["nonce_hashes"], strict=True):
            need(not nonce or hashlib.sha256(nonce.encode()).hexdigest() == promised, "a nonce was exchanged")
            withheld = promised and not nonce
            need(not withheld or opening["failures"].get(bot) == "nonce_withheld", "a promised nonce is missing")
            need(not promised or bot not in failed, "a bot that had ended an opening was asked for another nonce")
        failed |= opening["failures"].keys()
    need(False not in reveal["accepted"], "a bot refused the nonces")


def origin(lines):
    """Return where the cards of a valid log come from."""
    rows = list(map(json.loads, lines[-3:]))
    reveal = next(row for row in rows if row["type"] == "reveal")
    signed = "signature not checked" if any(map(is_signature, rows)) else "not signed"
    given, ended = sum(map(bool, reveal["nonces"])), len(reveal["openings"])
    return f"{given} nonces of bots, {ended} earlier openings ended; {signed}"


def stream(key, kind, nodes):
    label, nodes[kind] = kind.encode() + b"|" + nodes[kind].to_bytes(4, "big"), nodes[kind] + 1
    for block in range(2**32):
        digest = hmac.digest(key, label + block.to_bytes(4, "big"), "sha256")
        yield from (int.from_bytes(digest[i : i + 4], "big") for i in range(0, 32, 4))


def below(m, words):
    return next(word for word in words if word < 2**32 - 2**32 % m) % m


def need(holds, words):
    if not holds:
        raise ValueError(words)


def verdict(work, given):
    """Return the result of the work, or why it failed: a bad file must not stop the check of the others."""
    try:
        return work(given), ""
    except Exception as error:  # noqa: BLE001  # whatever hostile bytes cause is the finding
        return None, f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    failed = 0
    for name in sys.argv[1:]:
        found, trouble = verdict(lambda file: logs(pathlib.Path(file).read_bytes()), name)
        for lines in found or [[]]:
            match = re.search(rb'"match":"(\w{1,64})"', lines[0]) if lines else None
            reason = verdict(check, lines)[1] if found else trouble
            said = f"FAILED: {reason}" if reason else f"links, seed and deals are valid; {UNCHECKED}; {origin(lines)}"
            print(f"{name}, {match[1].decode()}," if match else name, said)
            failed += bool(reason)
    print(f"{failed} failed" if failed else "none failed")
    sys.exit(failed > 0)

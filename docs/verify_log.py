"""Checks a match log without the referee: its links, the promise of its seed, every deal and every draw.

    python docs/verify_log.py FILE…      (plain or gzip; standard library of Python 3.10 or later only)

It knows no game, so it does not judge moves: `referee verify` does, and checks all of this a second time."""

import gzip
import hashlib
import hmac
import json
import pathlib
import sys


def check(data):
    """Gives the result row of a sound log, else raises ValueError (KeyError, TypeError for junk)."""
    lines = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).splitlines()
    rows = [json.loads(line) for line in lines]
    for number, row in enumerate(rows):
        before = hashlib.sha256(lines[number - 1]).hexdigest() if number else None
        need((row["row"], row["prev"]) == (number, before), f"row {number} does not follow the row before it")
    group, reveal = rows[0]["group"], rows[-1]
    need(reveal["type"] == "reveal", "the deal group is not over yet: no seed is revealed")
    seed, nonces = bytes.fromhex(reveal["seed"]), reveal["nonces"]
    need(hashlib.sha256(seed + group["id"].encode()).hexdigest() == group["commitment"], "not the promised seed")
    for nonce, promised in zip(nonces, reveal["nonce_hashes"], strict=True):
        need(not nonce or hashlib.sha256(nonce.encode()).hexdigest() == promised, "a nonce was exchanged")
    text = "|".join(["referee/v1", group["id"], *nonces])
    key, nodes = hmac.digest(seed, text.encode(), "sha256"), {"deck": 0, "draw": 0}
    for row in (row for row in rows if row["type"] == "chance"):
        items, words = row["chance"].get("cards") or row["chance"]["among"], stream(key, row["chance"]["kind"], nodes)
        if row["chance"]["kind"] == "deck" or row["chance"].get("ordered"):
            for i in range(len(items) - 1, 0, -1):
                j = below(i + 1, words)
                items[i], items[j] = items[j], items[i]
        else:
            items = items[below(len(items), words)]
        need(row["outcome"] == items, f"row {row['row']}: this outcome does not follow from the seed and the nonces")
    need(rows[-2]["type"] == "result", "the log has no result")
    return rows[-2]


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


for name in sys.argv[1:] if __name__ == "__main__" else []:
    print(name, "is sound; placements by seat:", check(pathlib.Path(name).read_bytes())["placements"])

"""Tell `referee admin doctor` how its requests arrive: from which address, with which headers of proxies.

Only requests that the master key proves get this, in a header of the response.
"""

import json

from flask import Flask, Response, g, request

from referee.doctor.probe import HEADER, SEEN_HEADER, is_proof
from referee.settings import Settings


def install(app: Flask, settings: Settings) -> None:
    """Answer the doctor's requests to ``app``."""

    @app.after_request
    def answer(response: Response) -> Response:
        proof = request.headers.get(HEADER)
        if proof is not None and is_proof(settings.master_key, proof):
            seen = {
                "address": request.remote_addr,
                "host": request.environ.get("HTTP_HOST", ""),
                "forwarded": "X-Forwarded-For" in request.headers,
                "trusted_proxies": settings.trusted_proxies,
                "request_id": g.get("request_id", ""),
            }
            response.headers[SEEN_HEADER] = json.dumps(seen)
            response.headers["Cache-Control"] = "no-store"
        return response

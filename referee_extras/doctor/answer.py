"""Tell `referee admin doctor` how its requests arrive: from which address, with which headers of proxies.

Only requests that the master key proves get this, in a header of the response.
"""

import json

from flask import Response, current_app, g, request

from api.pages.page import Pages
from referee_extras.doctor.probe import HEADER, SEEN_HEADER, is_proof

pages = Pages("doctor", __name__)  # has no page: it answers every request with the proof


@pages.after_app_request
def add_what_was_seen(response: Response) -> Response:
    """Add what the service saw of a request with the doctor's proof."""
    proof = request.headers.get(HEADER)
    settings = current_app.config["SETTINGS"]
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

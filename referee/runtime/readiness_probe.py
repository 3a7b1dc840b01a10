"""Ask a service whether it is ready, without waiting for the answer."""

import http.client
import json
import select
from typing import Final

STEP_S: Final = 1.0  # limit for connecting and for reading a response that has begun; neither waits for the service


class ReadinessProbe:
    """Send one request to ``/readyz`` and keep it open until it is answered, however long a slow machine takes."""

    def __init__(self, host: str, port: int) -> None:
        self._connection = http.client.HTTPConnection(host, port, timeout=STEP_S)
        self._missing = "no answer at /readyz yet"  # by the last answer, until the request that is open is answered

    def find_missing(self) -> str:
        """Return what is missing until the service is ready, or an empty string if it is ready."""
        try:
            if self._connection.sock is None:
                self._connection.request("GET", "/readyz")
            if not select.select([self._connection.sock], [], [], 0)[0]:
                return self._missing
            self._missing = _describe_answer(self._connection.getresponse())
        except (OSError, http.client.HTTPException) as error:
            self._missing = f"no answer at /readyz yet ({error or type(error).__name__})"
        self.close()
        return self._missing

    def close(self) -> None:
        self._connection.close()


def _describe_answer(response: http.client.HTTPResponse) -> str:
    """Return what an answer says is missing, or an empty string if the service is ready."""
    if response.status == http.client.OK:
        return ""
    try:
        database = json.loads(response.read())["database"]
    except (ValueError, KeyError, TypeError):  # not the answer of the service itself
        return f"/readyz answered {response.status}"
    return f"/readyz answered {response.status} (database: {database})"

"""No write transaction stays open while the network is used: all other writers would wait."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from api import limits
from api.health.schemas import AliveView
from api.views import Resource, wake_runner
from referee.accounts.scopes import Scope
from referee.db.engine import is_writing
from tests.api.conftest import Service


@pytest.mark.parametrize("method", ["post", "put", "patch"])
def test_an_endpoint_counts_before_its_transaction_and_wakes_a_runner_after_it(
    service: Service, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    steps: list[tuple[str, bool]] = []
    monkeypatch.setattr("api.views.wake_runner", lambda: steps.append(("wake", is_writing())))

    def view() -> None:
        steps.append(("view", is_writing()))

    register = getattr(Resource("late", "/late", ""), method)(
        "",
        lambda: None,
        AliveView,
        limit=lambda: steps.append(("limit", is_writing())),
        wakes_runner=True,
        scope=Scope.ALL,
    )
    with service.app.test_request_context(method=method.upper()):
        register(view)()

    assert steps == [("limit", False), ("view", True), ("wake", False)]


@pytest.mark.parametrize("use_network", [limits.count_new_account, wake_runner])
def test_redis_is_refused_during_a_write_transaction(service: Service, use_network: Callable[[], None]) -> None:
    with service.app.test_request_context(), service.database.write(), pytest.raises(AssertionError):
        use_network()


def test_only_the_thread_that_writes_is_writing(service: Service) -> None:
    with service.database.write(), ThreadPoolExecutor(1) as other:
        assert (is_writing(), other.submit(is_writing).result()) == (True, False)

    assert not is_writing()

"""Provide the engine, migrations, leases, paging, ids, names and idempotency keys that all tables share."""

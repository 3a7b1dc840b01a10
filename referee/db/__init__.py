"""What all tables share: engine, migrations, leases, paging, ids, names and idempotency keys."""

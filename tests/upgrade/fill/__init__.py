"""Make the fixtures of ``tests.upgrade``: databases filled by the code of commit cab856d, with schema 0004.

It was run on that commit as ``python -m tests.upgrade.fill``. It calls the code by the names of that commit and stops
working once they change: the fixtures are what is tested, this package only documents how they came about.

Accounts, bots, tournaments and webhooks are created through the API. Runners check and examine the bots and play the
matches over HTTP; one runner is killed in the middle of its work. No row is written by SQL. Time is simulated; leases
on PostgreSQL, which the server judges by its own clock, are shortened instead. SQLite is stored as the file itself,
PostgreSQL as the output of ``pg_dump --inserts`` without comments and psql's own commands, both packed by xz.
"""

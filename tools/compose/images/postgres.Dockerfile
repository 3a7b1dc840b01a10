# Stand in for the official postgres: the first start makes the database that the environment names.
FROM referee-base
ENV PATH=/usr/lib/postgresql/17/bin:/usr/sbin:/usr/bin:/sbin:/bin PGDATA=/var/lib/postgresql/data
COPY postgres-start /usr/bin/postgres-start
RUN chmod 755 /usr/bin/postgres-start && install -d -o postgres -g postgres -m 700 "$PGDATA" \
    && install -d -o postgres -g postgres /run/postgresql
VOLUME /var/lib/postgresql/data
STOPSIGNAL SIGINT
ENTRYPOINT ["postgres-start"]

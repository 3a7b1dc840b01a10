# Build one image for api, worker, scheduler and migrate; docker-compose.yml sets the command.
# Use the Python version on which the tests run.
FROM python:3.11-slim-trixie

ENV PYTHONUNBUFFERED=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1

# pg_dump and pg_restore, for backups: they must not be older than the server in docker-compose.yml.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends postgresql-client-17 \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /opt/referee

# Install the lock file first: this layer stays cached until the lock file changes.
COPY requirements.lock ./
RUN pip install --no-deps --require-hashes --requirement requirements.lock

COPY pyproject.toml setup.py README.md LICENSE ./
COPY referee ./referee
COPY docs/*.md ./docs/
COPY docs/games ./docs/games
COPY bots ./bots
COPY referee_extras ./referee_extras
COPY api ./api
COPY workers ./workers
# docker-compose.yml passes the version from .env, because the commits are not in the image.
ARG REFEREE_VERSION=unknown
RUN echo "$REFEREE_VERSION" > referee/version.txt \
    && pip install --no-deps --no-build-isolation . \
    && rm -rf build ./*.egg-info \
    && useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin referee \
    && install -d -o referee -g referee -m 0700 /var/lib/referee

# Used for SQLite. If DATABASE_URL, REDIS_URL and REFEREE_MASTER_KEY are set, nothing is written here.
ENV REFEREE_DATA=/var/lib/referee

# Start outside the sources, so that Python imports the installed package.
WORKDIR /var/lib/referee
USER 10001:10001
EXPOSE 8000

CMD ["gunicorn", "api.wsgi:app", "--bind", "0.0.0.0:8000", "--worker-class", "api.gunicorn_worker.TimeoutWorker", \
     "--workers", "2", "--threads", "32", "--keep-alive", "30", "--graceful-timeout", "20", "--timeout", "60", \
     "--no-control-socket", "--worker-tmp-dir", "/dev/shm"]

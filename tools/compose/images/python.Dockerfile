# Stand in for python:3.11-slim: the distribution's Python. pip takes the wheels of /wheels, because there is no network,
# and leaves the packages of the distribution alone, as it cannot remove them.
FROM referee-base
COPY wheels /wheels
RUN ln -sf python3 /usr/bin/python \
    && rm -f /usr/lib/python3*/EXTERNALLY-MANAGED \
    && printf '[global]\nno-index = true\nfind-links = /wheels\nroot-user-action = ignore\n[install]\nignore-installed = true\n' > /etc/pip.conf
CMD ["python"]

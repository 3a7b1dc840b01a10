# Stand in for the official redis: user 999 owns /data.
FROM referee-base
RUN install -d -o 999 -g 999 /data
VOLUME /data
WORKDIR /data
CMD ["redis-server"]

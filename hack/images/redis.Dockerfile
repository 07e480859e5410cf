# The Redis beside the operator, for development: the same command line whatever it stands on.
ARG BASE_IMAGE
FROM ${BASE_IMAGE}
WORKDIR /data
USER 10001:10001
EXPOSE 6379
ENTRYPOINT ["redis-server"]

# One image for the service, its workers and the migration: docker build --tag gossamer:local .
# deploy/compose.yaml runs it; docs/deploy.md tells how.

FROM python:3.12.13-slim-bookworm AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_ROOT_USER_ACTION=ignore
WORKDIR /build
RUN python -m venv /opt/gossamer \
    && pip install --only-binary=:all: hatchling==1.33.0
# What we stand on changes rarely: its layer is made again only when the lock is. Everything has a wheel, so there is
# no compiler here, and nobody's setup.py is run.
COPY requirements-cluster.lock ./
RUN /opt/gossamer/bin/pip install --no-deps --only-binary=:all: --requirement requirements-cluster.lock \
    flower==2.2.0 humanize==4.16.0 tornado==6.6.1
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN pip wheel --no-deps --no-build-isolation --wheel-dir dist . \
    && /opt/gossamer/bin/pip install --no-deps dist/gossamer-*.whl \
    && /opt/gossamer/bin/pip check

FROM python:3.12.13-slim-bookworm
LABEL org.opencontainers.image.title="Gossamer" \
      org.opencontainers.image.description="Data from web sites and web APIs: service, workers and migration" \
      org.opencontainers.image.licenses="MIT"
RUN groupadd --gid 10001 gossamer \
    && useradd --uid 10001 --gid 10001 --home-dir /var/lib/gossamer --no-create-home --shell /usr/sbin/nologin gossamer \
    && install --directory --owner=10001 --group=10001 --mode=0750 /var/lib/gossamer \
    && install --directory --mode=0755 /scrapers
COPY --from=build /opt/gossamer /opt/gossamer
ENV PATH=/opt/gossamer/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    HOME=/tmp
WORKDIR /scrapers
USER 10001:10001
EXPOSE 8600
STOPSIGNAL SIGTERM
# Of the service; compose.yaml has others for a worker and for the migration.
HEALTHCHECK --interval=30s --timeout=15s --start-period=60s --retries=3 CMD ["gossamer", "health"]
CMD ["gossamer", "serve", "--listen", "0.0.0.0:8600"]

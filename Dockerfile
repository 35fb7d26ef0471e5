# One image for every process: migrate, site, workers and the archive emulator.
FROM python:3.12-slim-bookworm AS build
WORKDIR /build
COPY requirements.lock ./
RUN python -m venv /opt/ppcfetch && \
    /opt/ppcfetch/bin/pip install --no-cache-dir --require-hashes -r requirements.lock
COPY . .
RUN /opt/ppcfetch/bin/pip install --no-cache-dir --no-deps --no-build-isolation --no-index .

FROM python:3.12-slim-bookworm
RUN useradd --system --uid 10001 --no-create-home ppcfetch && \
    install -d -o ppcfetch -g ppcfetch /data
COPY --from=build /opt/ppcfetch /opt/ppcfetch
ENV PATH=/opt/ppcfetch/bin:$PATH PYTHONUNBUFFERED=1 PPCFETCH_HOST=0.0.0.0 PPCFETCH_DATA_DIR=/data
USER ppcfetch
WORKDIR /data
EXPOSE 8000
ENTRYPOINT ["ppcfetch"]
CMD ["web"]

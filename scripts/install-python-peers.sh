#!/bin/sh
# What tests hold us against that comes from PyPI: the OpenTelemetry SDK with the instrumentations of OpenInference and OpenLLMetry,
# Phoenix, and the client libraries and the framework that the Python recorder is tried with. Into virtual environments outside the repository; tests that need them say loudly when they are not there.
#
#     scripts/install-python-peers.sh            # all
#     scripts/install-python-peers.sh otel       # one of otel, phoenix, python
set -eu
root="${ORANGEBOX_TEST_PYTHON:-${XDG_CACHE_HOME:-$HOME/.cache}/orangebox-tests}"
mkdir -p "$root"
for name in ${1:-otel phoenix python}; do
  [ -x "$root/$name/bin/python" ] || python3 -m venv "$root/$name"
  case "$name" in
    otel) packages="opentelemetry-sdk opentelemetry-exporter-otlp-proto-http openinference-instrumentation-openai opentelemetry-instrumentation-openai openai" ;;
    phoenix) packages="arize-phoenix" ;;
    python) packages="openai anthropic httpx requests mcp pydantic-ai-slim[openai] mypy ruff flit_core" ;;
    *) echo "there is no $name; known: otel, phoenix, python" >&2; exit 2 ;;
  esac
  # shellcheck disable=SC2086
  "$root/$name/bin/pip" install --quiet --disable-pip-version-check $packages
  echo "$root/$name is ready"
done

#!/bin/sh
# What tests hold us against that comes from PyPI: the OpenTelemetry SDK with the instrumentations of OpenInference and OpenLLMetry, and
# Phoenix. Into virtual environments outside the repository; tests that need them say loudly when they are not there.
#
#     scripts/install-python-peers.sh            # all
#     scripts/install-python-peers.sh otel       # one of otel, phoenix
set -eu
root="${ORANGEBOX_TEST_PYTHON:-${XDG_CACHE_HOME:-$HOME/.cache}/orangebox-tests}"
mkdir -p "$root"
for name in ${1:-otel phoenix}; do
  [ -x "$root/$name/bin/python" ] || python3 -m venv "$root/$name"
  case "$name" in
    otel) packages="opentelemetry-sdk opentelemetry-exporter-otlp-proto-http openinference-instrumentation-openai opentelemetry-instrumentation-openai openai" ;;
    phoenix) packages="arize-phoenix" ;;
    *) echo "there is no $name; known: otel, phoenix" >&2; exit 2 ;;
  esac
  # shellcheck disable=SC2086
  "$root/$name/bin/pip" install --quiet --disable-pip-version-check $packages
  echo "$root/$name is ready"
done

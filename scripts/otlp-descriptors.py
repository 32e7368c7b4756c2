"""Writes packages/exchange/src/formats/otlp/descriptors.ts out of PyPI's opentelemetry-proto (Apache-2.0).

    python3 -m venv v && v/bin/pip install opentelemetry-proto==1.45.1 && v/bin/python scripts/otlp-descriptors.py
"""
import base64
from google.protobuf import descriptor_pb2
from opentelemetry.proto.common.v1 import common_pb2
from opentelemetry.proto.resource.v1 import resource_pb2
from opentelemetry.proto.trace.v1 import trace_pb2
from opentelemetry.proto.logs.v1 import logs_pb2
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2

files = descriptor_pb2.FileDescriptorSet()
for module in [common_pb2, resource_pb2, trace_pb2, logs_pb2, trace_service_pb2, logs_service_pb2]:
    one = files.file.add()
    module.DESCRIPTOR.CopyToProto(one)
    one.ClearField("options")
    one.ClearField("source_code_info")
    one.ClearField("service")
text = base64.b64encode(files.SerializeToString()).decode()
lines = [text[i : i + 110] for i in range(0, len(text), 110)]
with open("packages/exchange/src/formats/otlp/descriptors.ts", "w") as out:
    out.write("// Made by scripts/otlp-descriptors.py from opentelemetry-proto (Apache-2.0, The OpenTelemetry Authors). Not to be edited.\n\n")
    out.write("/** A FileDescriptorSet of the messages that spans and log records come in, in base 64. */\n")
    out.write("export const OTLP_DESCRIPTORS = [\n")
    for line in lines:
        out.write(f'  "{line}",\n')
    out.write('].join("")\n')

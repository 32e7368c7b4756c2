"""One call of the official OpenAI client, instrumented by whichever library is named, exported over OTLP.

    instrumented.py <openinference|openllmetry> <url of the model> <url of the receiver>
"""
import sys

from openai import OpenAI
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

library, model_url, receiver_url = sys.argv[1:]
provider = TracerProvider(resource=Resource.create({"service.name": f"py-{library}"}))
exporter = OTLPSpanExporter(endpoint=f"{receiver_url}/v1/traces", compression=Compression.Gzip)
provider.add_span_processor(BatchSpanProcessor(exporter))
trace.set_tracer_provider(provider)
if library == "openinference":
    from openinference.instrumentation.openai import OpenAIInstrumentor
else:
    from opentelemetry.instrumentation.openai import OpenAIInstrumentor
OpenAIInstrumentor().instrument(tracer_provider=provider)

client = OpenAI(base_url=f"{model_url}/v1", api_key="none", max_retries=0)
with trace.get_tracer("agent").start_as_current_span("answer the question"):
    client.chat.completions.create(
        model="gpt-5",
        messages=[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Is it sunny?"}],
    )
provider.shutdown()

"""
An agent in Python, recorded and checked: a scripted model on loopback, a tool, a streamed answer. Run it from the repository:

    PYTHONPATH=python/src:python/tests python3 examples/python-agent.py
"""

import json
import os
import shutil
import subprocess
import tempfile
import urllib.request

from orangebox import Recorder
from orangebox.wire import open_wire_call
from scripted_model import ScriptedModel

home = tempfile.mkdtemp(prefix="orangebox-example-")
os.environ["ORANGEBOX_HOME"] = os.path.join(home, "data")
os.environ["XDG_CONFIG_HOME"] = home
model = ScriptedModel()


def ask(step, question: str) -> str:
    """Any HTTP client can be an edge: the request is recorded before it leaves, the answer as it comes."""
    url, headers = f"{model.url}/v1/chat/completions", {"content-type": "application/json"}
    body = json.dumps({"model": "gpt-4o", "messages": [{"role": "user", "content": question}]}).encode()
    call = open_wire_call(step, "POST", url, list(headers.items()), body)
    with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as response:
        call.response_started(response.status, list(response.headers.items()))
        answer = response.read()
        call.chunk(answer)
    call.end("complete")
    return json.loads(answer)["choices"][0]["message"]["content"]


try:
    with Recorder.open(app="example") as recorder, recorder.start_run("leap-year", input="Is 2024 a leap year?") as run:
        with run.step("think") as step:
            rule = ask(step, "What is a leap year?")
        days = run.tool("days_in", {"year": 2024}, lambda: 366)
        run.complete(f"{rule} 2024 has {days} days.")
    shown = subprocess.run(["node", "packages/cli/bin/orangebox.js", "show", "last"], capture_output=True, text=True, check=True).stdout
    print(shown)
    assert "days_in" in shown and "11 → 7" in shown, "the run should show its tool, and the usage that was read off its bytes"
    subprocess.run(["node", "packages/cli/bin/orangebox.js", "verify", "last"], check=True, capture_output=True)
    print("recorded, shown and verified")
finally:
    model.close()
    shutil.rmtree(home)

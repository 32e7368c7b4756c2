import { existsSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"

/** The Python of a virtual environment that scripts/install-python-peers.sh made; undefined, and said loudly, where it is not there. */
export function pythonOf(name: "otel" | "phoenix"): string | undefined {
  const root =
    process.env["ORANGEBOX_TEST_PYTHON"] ??
    join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "orangebox-tests")
  const python = join(root, name, "bin", "python")
  if (existsSync(python)) return python
  console.warn(`NOT PROVEN: ${python} is not there; run scripts/install-python-peers.sh ${name} to run what needs it`)
  return undefined
}

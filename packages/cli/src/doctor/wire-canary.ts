import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { advice, CANARY_APP, suggested } from "@orangebox/contract"
import { providerAccesses } from "@orangebox/dialects"
import { recordCommand } from "@orangebox/proxy"
import { type Check, failed, ok, troubleAs } from "./check.js"

/**
 * Sends one request through each variable that `orangebox run` sets, from a child process with exactly that environment, to a server that
 * is started here for it. Nothing leaves the machine.
 */
export async function checkWire(folder: string, env: NodeJS.ProcessEnv): Promise<Check[]> {
  const upstream = await startCanaryServer()
  try {
    const { verdict } = await recordCommand({
      command: [process.execPath, "-e", CLIENT],
      folder,
      app: CANARY_APP,
      env: { ...env, ...Object.fromEntries(VARIABLES.map((name) => [name, upstream.origin])) },
      stdio: "ignore",
      // It is about the wire; the user's files are none of its business.
      workspace: false,
      onWarning: () => {},
    })
    const missing = VARIABLES.filter((name) => !upstream.seen.has(name))
    if (missing.length > 0) {
      return [
        failed(
          "run: variables",
          `${missing.join(", ")} did not lead to the proxy`,
          "A local firewall or a proxy setting may stand in the way: look at NO_PROXY",
        ),
      ]
    }
    const recorded = verdict.stats.modelCalls + verdict.stats.otherRequests
    return recorded >= VARIABLES.length && verdict.lost === 0
      ? [
          ok(
            "run: variables",
            `${VARIABLES.length} of ${VARIABLES.length} lead through the proxy, recorded as ${verdict.runIds.at(-1)}`,
          ),
        ]
      : [
          failed(
            "run: variables",
            `${recorded} of ${VARIABLES.length} requests were recorded`,
            advice`See: ${suggested("runs")}`,
          ),
        ]
  } catch (error) {
    return [troubleAs("run: variables", error)]
  } finally {
    upstream.close()
  }
}

const VARIABLES = providerAccesses().flatMap(({ baseUrlVariables }) => Object.keys(baseUrlVariables))

/** What the child runs: one call by each variable, saying which it came by. */
const CLIENT = `
const names = ${JSON.stringify(VARIABLES)}
Promise.all(names.map((name) => fetch(process.env[name] + "/v1/messages", {
  method: "POST",
  headers: { "content-type": "application/json", "x-canary-variable": name },
  body: JSON.stringify({ model: "canary", max_tokens: 1, messages: [{ role: "user", content: "chirp by " + name }] }),
}).then((response) => response.text()))).catch(() => { process.exitCode = 1 })
`

const ANSWER = JSON.stringify({
  id: "msg_canary",
  type: "message",
  role: "assistant",
  model: "canary",
  content: [{ type: "text", text: "chirp" }],
  stop_reason: "end_turn",
  usage: { input_tokens: 1, output_tokens: 1 },
})

async function startCanaryServer() {
  const seen = new Set<string>()
  const server = createServer((request, response) => {
    const name = request.headers["x-canary-variable"]
    if (typeof name === "string") seen.add(name)
    request.resume().on("end", () => response.writeHead(200, { "content-type": "application/json" }).end(ANSWER))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, close: () => server.close() }
}

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { clientCommand } from "../src/clients/client-command.js"
import { hintsFor } from "../src/why-nothing.js"
import { recordedProxy } from "./recorded-proxy.js"
import { json, startUpstream } from "./upstream.js"

test("[K-12] clients that take the version for a part of the base URL and clients that do not reach the same path", async () => {
  const upstream = await startUpstream((_, response) => response.end("{}"))
  const proxy = await recordedProxy(
    { anthropic: upstream.origin, openai: upstream.origin, gemini: upstream.origin, own: upstream.origin },
    { versioned: ["anthropic", "openai", "gemini"] },
  )
  const reached = async (name: string, path: string): Promise<string> => {
    await (await fetch(`${proxy.urlFor(name)}${path}`, { method: "POST", body: json({}) })).text()
    return upstream.seen.at(-1)!.url
  }
  expect(await reached("anthropic", "/messages")).toBe("/v1/messages")
  expect(await reached("anthropic", "/v1/messages?beta=true")).toBe("/v1/messages?beta=true")
  expect(await reached("anthropic", "/messages/count_tokens")).toBe("/v1/messages/count_tokens")
  expect(await reached("anthropic", "/api/messages")).toBe("/api/messages")
  expect(await reached("anthropic", "/")).toBe("/")
  expect(await reached("openai", "/chat/completions")).toBe("/v1/chat/completions")
  expect(await reached("openai", "/v1/responses")).toBe("/v1/responses")
  expect(await reached("gemini", "/models/m:generateContent?alt=sse")).toBe("/v1beta/models/m:generateContent?alt=sse")
  expect(await reached("gemini", "/v1/models/m:generateContent")).toBe("/v1/models/m:generateContent")
  expect(await reached("own", "/messages")).toBe("/messages")
  expect(proxy.all("model_called")[0]!.payload.url).toBe(`${upstream.origin}/v1/messages`)
})

test("[K-12] a client is known by its name, its file, its package or its module, whatever starts it", () => {
  const check = (command: string, expected: string | undefined): void => {
    const known = clientCommand(command.split(" "))
    expect(known && `${known.client.name} | ${known.args.join(" ")}`, command).toBe(expected)
    if (known) expect([...known.start, ...known.args].join(" ")).toBe(command)
  }
  check("claude -p hi", "Claude Code | -p hi")
  check("/usr/local/bin/codex exec hi", "Codex | exec hi")
  check("node /x/node_modules/@openai/codex/bin/codex.js exec", "Codex | exec")
  check("node --max-old-space-size=99 codex.js", "Codex | ")
  check("node /x/node_modules/@anthropic-ai/claude-code/cli.js -p hi", "Claude Code | -p hi")
  check("npx -y @openai/codex@latest exec hi", "Codex | exec hi")
  check("npx -p @google/gemini-cli gemini -p hi", "Gemini CLI | -p hi")
  check("pnpm dlx opencode-ai run hi", "opencode | run hi")
  check("env A=1 B=2 aider --message hi", "aider | --message hi")
  check("timeout 90s mini -t hi", "mini-swe-agent | -t hi")
  check("env A=1 npx -y aider", "aider | ")
  check("python3.11 -m aider --message hi", "aider | --message hi")
  check("python -m minisweagent.run.mini -t hi", "mini-swe-agent | -t hi")
  check("uvx --from mini-swe-agent mini -t hi", "mini-swe-agent | -t hi")
  check("uvx aider-chat==0.86.1 --message hi", "aider | --message hi")
  check("uv tool run mini-swe-agent", "mini-swe-agent | ")
  check("node /x/node_modules/@earendil-works/pi-coding-agent/dist/cli.js -p hi", "pi | -p hi")
  check("C:\\tools\\codex.cmd exec", "Codex | exec")
  check("node agent.mjs codex", undefined)
  check("python agent.py claude", undefined)
  check("npx my-codex-wrapper", undefined)
  check("echo claude", undefined)
  check("npx", undefined)
})

test("[K-12] what a client needs is told with the command as it was typed, and not again when it is done", () => {
  const home = mkdtempSync(join(tmpdir(), "orangebox-clients-"))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const hint = (...command: string[]): string => hintsFor(command, home).join("\n")
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(home, path)), { recursive: true })
    writeFileSync(join(home, path), text)
  }
  expect(hint("node", "/x/codex.js", "exec", "fix it")).toContain(
    `orangebox run -- sh -c 'exec node /x/codex.js -c openai_base_url="$OPENAI_BASE_URL" "$@"' sh exec 'fix it'`,
  )
  expect(hint("codex", "-c", "openai_base_url=http://127.0.0.1:1/v1", "exec")).toBe("")

  expect(hint("gemini", "-p", "hi")).toContain('"selectedType": "gemini-api-key"')
  write(".gemini/settings.json", '{"security":{"auth":{"selectedType":"oauth-personal"}}}')
  expect(hint("gemini", "-p", "hi")).toBe("")

  expect(hint("pi", "-p", "hi")).toContain("> ~/.pi/agent/extensions/orangebox.js")
  write(".pi/agent/extensions/orangebox.js", "if (!process.env.ORANGEBOX_PROXY) return")
  expect(hint("pi", "-p", "hi")).toBe("")

  for (const command of ["claude", "opencode", "aider", "mini", "node"]) expect(hint(command)).toBe("")
})

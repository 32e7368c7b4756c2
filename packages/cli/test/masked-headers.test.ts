import { expect, onTestFinished, test } from "vitest"
import { orangebox, scratchFolder } from "./command.js"
import { answerMessage, startModelServer } from "./model-server.js"

/** Sends what coding agents send: a session in a header, a key in a header and in the address. */
const AGENT = `
const response = await fetch(process.env.ANTHROPIC_BASE_URL + "/v1/messages?beta=true&key=AIzaSyAAAABBBBCCCCDDDDEEEEFFFFGGGGHHHHI", {
  method: "POST",
  headers: {
    "content-type": "application/json",
    "x-claude-code-session-id": "f2b192d7-59b7-48ea-a43b-069a8f230d57",
    "x-session-affinity": "ses_53c1a7f2bffeNqZl2xSJb1OX4",
    "x-api-key": process.env.ANTHROPIC_API_KEY,
    "x-app": "cli",
  },
  body: JSON.stringify({ model: "claude-x", max_tokens: 9, messages: [{ role: "user", content: "hello" }] }),
})
console.log((await response.json()).content[0].text)
`

test("[P-11] a forked call is sent without the headers and parameters whose values are masked in the recording", async () => {
  const seen: { url: string; headers: Record<string, unknown> }[] = []
  const server = await startModelServer((_, response, { url, headers }) => {
    seen.push({ url: url ?? "", headers })
    answerMessage(response, { content: [{ type: "text", text: `answer ${seen.length}` }] })
  })
  onTestFinished(() => server.close())
  const folder = scratchFolder()
  const data = ["--data", folder.path]
  const env = { ANTHROPIC_BASE_URL: server.origin, ANTHROPIC_API_KEY: "sk-ant-api03-of-then-aaaabbbbccccdddd" }
  const recorded = await orangebox(
    ["run", "--quiet", ...data, "--", process.execPath, "--input-type=module", "-e", AGENT],
    { env },
  )
  expect(recorded.exitCode, recorded.stderr).toBe(0)

  const today = { ...env, ANTHROPIC_API_KEY: "sk-ant-api03-of-today-aaaabbbbccccdddd" }
  const forked = await orangebox(["fork", "last", "--at", "#2", "--set", "model=claude-y", ...data], { env: today })
  expect(forked.stderr).toMatch(/\[live\] +"answer 2"/)
  expect(forked.exitCode, forked.stderr).toBe(0)
  const [, sent] = seen
  expect(JSON.stringify(sent)).not.toMatch(/redacted|of-then|session/)
  expect(sent).toMatchObject({
    url: "/v1/messages?beta=true",
    headers: { "x-app": "cli", "x-api-key": today.ANTHROPIC_API_KEY },
  })
})

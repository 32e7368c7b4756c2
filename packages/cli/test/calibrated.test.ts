import { join } from "node:path"
import { expect, test } from "vitest"
import { jsonOf, orangebox, orangeboxHere, scratchFolder } from "./command.js"
import { answerMessage, startModelServer } from "./model-server.js"

/** Its questions hold what is another thing in every run: a session in prose, the time as a number, how long something took. */
const AGENT = `
const session = crypto.randomUUID()
for (const content of ["session " + session + " begins", "it took " + (Math.random() * 9).toFixed(3) + "s in " + session]) {
  const response = await fetch(process.env.ANTHROPIC_BASE_URL + "/v1/messages", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "claude-x", max_tokens: 9, asked_at: Date.now(), messages: [{ role: "user", content }] }),
  })
  if (!response.ok) process.exit(9)
  console.log((await response.json()).content[0].text)
}
`

test("[P-11] what --calibrate accepted is used: the agent replays and forks under it, and is certified with the masks named", {
  timeout: 180_000,
}, async () => {
  let answered = 0
  const server = await startModelServer((_, response) =>
    answerMessage(response, { content: [{ type: "text", text: `answer ${++answered}` }] }),
  )
  const folder = scratchFolder()
  const data = ["--data", folder.path]
  const masks = join(folder.path, "masks.json")
  const command = ["--", process.execPath, "--input-type=module", "-e", AGENT]
  const env = { ANTHROPIC_BASE_URL: server.origin }
  for (const _ of ["first", "second"]) await orangebox(["run", "--quiet", ...data, ...command], { env })
  const { runs } = jsonOf<{ runs: { run_id: string }[] }>(await orangeboxHere(["runs", "--json", ...data]))
  const [second, first] = runs.map(({ run_id }) => run_id)

  const calibrated = await orangeboxHere(["replay", first!, "--calibrate", second!, "--accept", masks, ...data])
  expect(calibrated.exitCode, calibrated.stdout).toBe(0)
  const replayed = await orangebox(["replay", first!, "--masks", masks, ...data, ...command], { env })
  expect(replayed.stdout).toBe("answer 1\nanswer 2\n")
  expect(replayed.stderr).toMatch(
    /masks: duration@\/messages\/\*\/content, epoch_ms@\/asked_at, uuid@\/messages\/\*\/content/,
  )
  expect(replayed.exitCode, replayed.stderr).toBe(0)

  const forked = await orangebox(
    ["fork", first!, "--at", "#3", "--set", "temperature=0", "--masks", masks, ...data, ...command],
    { env },
  )
  await server.close()
  expect(forked.stdout).toBe("answer 1\nanswer 5\n")
  expect(forked.exitCode, forked.stderr).toBe(0)
})

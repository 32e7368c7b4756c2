import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { jsonOf, orangeboxHere, type Scratch, scratchFolder } from "./command.js"
import { record } from "./recorded-run.js"

describe("[Q-09] context across the runs of one conversation", () => {
  let scratch: Scratch
  let data: string
  beforeAll(() => {
    scratch = scratchFolder()
    data = join(scratch.path, "data")
  })
  afterAll(() => scratch.remove())
  const context = (...args: string[]) => orangeboxHere(["context", ...args, "--data", data])

  /** One run that asks a model with each of these histories in turn; no histories, no call. */
  async function turn(conversationId: string | undefined, ...histories: readonly (readonly string[])[]) {
    let runId = ""
    await record(data, async (recorder) => {
      const run = recorder.startRun({ entrypoint: "chat", ...(conversationId === undefined ? {} : { conversationId }) })
      runId = run.runId
      for (const said of histories) {
        const messages = said.map((content, i) => ({ role: i % 2 === 0 ? "user" : "assistant", content }))
        const request = { model: "claude-x", max_tokens: 9, system: "Be brief.", messages }
        await run.model({ provider: "anthropic", model: "claude-x", request }, () => ({
          role: "assistant",
          content: [],
        }))
      }
      run.complete()
    })
    return runId
  }

  test("the first call of a run says what changed since the last call of the run before, by its address", async () => {
    const first = await turn("conv-a", ["hello"], ["hello", "hi", "how are you?"])
    await turn("conv-b", ["something else"])
    await turn("conv-a")
    const second = await turn("conv-a", ["hello", "hi", "how are you?", "fine", "and now?"])
    const { stdout } = await context(`${second}#2`)
    expect(stdout).toMatch(new RegExp(`^since ${first}#3 2 added, 4 the same$`, "m"))
    const { changes } = jsonOf<{ changes: object }>(await context(`${second}#2`, "--json"))
    expect(changes).toMatchObject({ since: 3, since_run_id: first, added: 2, removed: 0, same: 4 })
    expect((await context(second)).stdout).toContain(`+2 −0 ~0 =4 (${first}#3)`)
    // Within a run nothing is different from before.
    expect((await context(`${first}#3`)).stdout).toMatch(/^since #2 {2}2 added/m)
  })

  test("history that the next run left behind is gone, although another run held it", async () => {
    const first = await turn("conv-lost", ["remember 42", "I will", "what else?"])
    const second = await turn("conv-lost", ["what was it?"])
    const { stdout } = await context(`${second}#2`)
    expect(stdout).toMatch(new RegExp(`^since ${first}#2 1 added, 3 gone`, "m"))
    expect(stdout).toContain("remember 42")
  })

  test("a run of no conversation, or the first of one, has nothing before it", async () => {
    for (const conversationId of [undefined, undefined, "conv-new"]) {
      const runId = await turn(conversationId, ["hello"])
      expect((await context(`${runId}#2`)).stdout).not.toMatch(/^since/m)
    }
  })
})

import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { catchUp } from "@orangebox/collector"
import { isAbsent, openStoreReader } from "@orangebox/store"
import { describe, expect, onTestFinished, test } from "vitest"
import { orangeboxHere, scratchFolder } from "./command.js"
import { answerMessage, startModelServer } from "./model-server.js"

/** A model that answers, or hears the question and says nothing; `asked` is the body of the first request, when it has come whole. */
async function startModel(answers: boolean): Promise<{ readonly origin: string; readonly asked: Promise<Buffer> }> {
  let hear: (body: Buffer) => void
  const asked = new Promise<Buffer>((resolve) => {
    hear = resolve
  })
  const server = await startModelServer((body, response) => {
    hear(body)
    if (!answers) return
    answerMessage(response, {
      content: [{ type: "text", text: "I will look at the helper." }],
      usage: { input_tokens: 50, output_tokens: 7 },
    })
  })
  onTestFinished(() => server.close())
  return { origin: server.origin, asked }
}

/** children/audit-agent.mjs in a process of its own. */
function startAgent(folder: string, origin: string) {
  const path = fileURLToPath(new URL("children/audit-agent.mjs", import.meta.url))
  const child = spawn(process.execPath, [path, folder, origin], { stdio: ["ignore", "pipe", "inherit"] })
  onTestFinished(() => void child.kill("SIGKILL"))
  const exited = once(child, "exit") as Promise<[number | null]>
  const runId = once(child.stdout, "data").then(([said]) => String(said).trim())
  return { child, exited, runId }
}

const filesIn = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : [])

describe("[F-07] profile audit and the death of the process", () => {
  test("killed while the model thinks: the prompt snapshot is in the store, to the byte, and readers show it", async () => {
    const scratch = scratchFolder()
    onTestFinished(() => scratch.remove())
    const model = await startModel(false)
    const { child, exited, runId: said } = startAgent(scratch.path, model.origin)
    const runId = await said
    const sent = await model.asked
    expect(filesIn(join(scratch.path, "spool"))).not.toEqual([])
    child.kill("SIGKILL")
    await exited

    expect((await catchUp({ dataFolder: scratch.path })).crashedRuns).toEqual([runId])
    const store = openStoreReader(join(scratch.path, "store"))
    onTestFinished(() => store.close())
    const artifacts = (await store.annotationsOf(runId)).flatMap((event) =>
      event.event_type === "artifact_recorded" && event.payload.artifact_type === "prompt_snapshot" ? [event] : [],
    )
    const bodies = await Promise.all(artifacts.map(({ payload }) => store.readBody(payload.hash)))
    const texts = bodies.map((body) => (isAbsent(body) ? body.absent : Buffer.from(body.bytes).toString()))
    expect(texts).toContain(sent.toString())

    const shown = await orangeboxHere(["show", runId, "--data", scratch.path])
    expect(shown.stdout).toContain("CRASHED")
    const listed = await orangeboxHere(["snapshot", runId, "--data", scratch.path])
    expect(listed.stdout).toMatch(/prompt_snapshot-\d+ +#\d+ +system_error/)
    const call = (await store.stepsOf(runId)).length
    const body = await orangeboxHere([
      "step",
      `${runId}#${call}`,
      "--body",
      artifacts.at(-1)!.payload.hash,
      "--data",
      scratch.path,
    ])
    expect(body.stdout).toContain("The date test fails on leap years.")
    const verified = await orangeboxHere(["verify", "--data", scratch.path])
    expect(verified).toMatchObject({ exitCode: 0 })
    expect(filesIn(join(scratch.path, "spool"))).toEqual([])
  })

  test("an end in good order takes the spool along and leaves no body but the manifest", async () => {
    const scratch = scratchFolder()
    onTestFinished(() => scratch.remove())
    const model = await startModel(true)
    const { exited, runId: said } = startAgent(scratch.path, model.origin)
    const runId = await said
    expect(await exited).toEqual([0, null])
    expect(filesIn(join(scratch.path, "spool"))).toEqual([])

    await catchUp({ dataFolder: scratch.path })
    const store = openStoreReader(join(scratch.path, "store"))
    onTestFinished(() => store.close())
    const { events } = await store.eventsOf(runId, { from: 0 })
    const stored: string[] = []
    for (const { event_type, artifact_refs } of events) {
      for (const { artifact_hash, artifact_type } of artifact_refs) {
        if (!isAbsent(await store.readBody(artifact_hash))) stored.push(`${event_type} ${artifact_type}`)
      }
    }
    expect(stored).toEqual(["context_manifest manifest", "model_result usage"])
    expect((await orangeboxHere(["verify", "--data", scratch.path])).exitCode).toBe(0)
  })
})

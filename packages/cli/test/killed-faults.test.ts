import { spawn } from "node:child_process"
import { once } from "node:events"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { catchUp } from "@orangebox/collector"
import { ContextManifest } from "@orangebox/context"
import { type Event, validate } from "@orangebox/contract"
import { isAbsent, openStoreReader } from "@orangebox/store"
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest"
import { orangeboxHere, type Scratch, scratchFolder } from "./command.js"

let scratch: Scratch
beforeEach(() => {
  scratch = scratchFolder()
})
afterEach(() => scratch.remove())

const AGENT = fileURLToPath(new URL("children/killed-agent.mjs", import.meta.url))

/** What the store says of a run whose process was killed there. */
async function killed(keeping: object, where: string) {
  const child = spawn(process.execPath, [AGENT, scratch.path, JSON.stringify(keeping), where], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  const [said] = (await once(child.stdout, "data")) as [Buffer]
  const runId = said.toString()
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit")
  for (let times = 0; times < 2; times++) await catchUp({ dataFolder: scratch.path })
  const store = openStoreReader(join(scratch.path, "store"))
  onTestFinished(() => store.close())
  const textOf = async (hash: string): Promise<string> => {
    const body = await store.readBody(hash)
    return isAbsent(body) ? body.absent : Buffer.from(body.bytes).toString()
  }
  const annotations = await store.annotationsOf(runId)
  expect(annotations.flatMap(validate)).toEqual([])
  const ofType = <T extends Event["event_type"]>(type: T) =>
    annotations.filter((event) => event.event_type === type) as Event<T>[]
  const [fault] = ofType("fault")
  const artifacts = ofType("artifact_recorded")
  const texts = await Promise.all(
    (fault?.payload.artifact_ids ?? []).map((id) =>
      textOf(artifacts.find(({ payload }) => payload.artifact_id === id)!.payload.hash),
    ),
  )
  const manifests = await Promise.all(
    ofType("context_manifest").map(async ({ payload }) =>
      ContextManifest.parse(JSON.parse(await textOf(payload.manifest_ref))),
    ),
  )
  return { runId, fault, faults: ofType("fault"), texts, manifests, artifacts }
}

const PROMPT = /^\{"prompt":"[\s\S]*The date test fails/

describe("[F-08] [F-07] a process that is killed leaves a fault with what its run saw", () => {
  test.each([
    ["profile audit", { profile: "audit" }],
    ["bodies on_fault", { bodies: "on_fault" }],
    ["every body kept, audit required", { audit: "required" }],
  ])(
    "%s: while the answer came, its streamed part is in the snapshot and the manifest names it",
    async (_, keeping) => {
      const { runId, faults, fault, texts, manifests } = await killed(keeping, "while the answer came")
      expect(faults).toHaveLength(1)
      expect(fault!.payload).toMatchObject({ trigger: "system_error", detail: expect.stringContaining("is gone") })
      expect(texts).toContainEqual(expect.stringMatching(PROMPT))
      expect(texts).toContain("data: the first half\n\ndata: and a bit\n\n")
      expect(manifests).toHaveLength(1)
      expect(manifests[0]).toMatchObject({ revision: 1, run_id: runId })
      expect(manifests[0]!.faults[0]!.artifacts.map(({ artifact_id }) => artifact_id)).toEqual(
        fault!.payload.artifact_ids,
      )
      const shown = await orangeboxHere(["show", runId, "--data", scratch.path])
      expect(shown.stdout).toContain("later: fault system_error")
      const context = await orangeboxHere(["context", `${runId}#2`, "--json", "--data", scratch.path])
      expect(context.stdout).toContain('"revision": 1')
      expect(await orangeboxHere(["verify", "--data", scratch.path])).toMatchObject({ exitCode: 0 })
      expect(readdirSync(scratch.path)).not.toContain("lost+found")
    },
  )

  test.each([{ profile: "audit" }, { bodies: "on_fault" }])(
    "in a word of a provider's answer, %j: all but that word is there, and how long it is",
    async (keeping) => {
      const { runId, texts, artifacts } = await killed(keeping, "in a word of a provider's answer")
      const answer = texts.find((text) => text.includes("content_block_delta"))!
      expect(answer).toContain("The month is ")
      expect(answer).toContain("zero-based; its to")
      expect(answer).not.toContain("A1b2C3d4")
      const { withheld_bytes } = artifacts.find(({ payload }) => payload.size_bytes === answer.length)!.payload
      const frames = (text: string) =>
        `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"${text}"}}\n\n`
      const sent = ["The month is ", "zero-based; its to", "ken is ghp_", "A1b2C3d4E5f6G7h8"].map(frames).join("")
      expect(answer.length + withheld_bytes!).toBe(sent.length)
      expect(withheld_bytes).toBeLessThan(300)
      const shown = await orangeboxHere(["show", runId, "--data", scratch.path])
      expect(shown.stdout).toContain(`(${withheld_bytes} B more withheld)`)
      const listed = await orangeboxHere(["snapshot", runId, "--list", "--json", "--data", scratch.path])
      expect(JSON.parse(listed.stdout).snapshots).toContainEqual(expect.objectContaining({ withheld_bytes }))
      const step = await orangeboxHere(["step", `${runId}#4`, "--data", scratch.path])
      expect(step.stdout).toContain("more had come and were withheld, not yet searched for secrets")
    },
  )

  test.each(["with a step open", "after its last step ended well"])(
    "%s: the last call and its answer",
    async (where) => {
      const { texts, manifests } = await killed({ profile: "audit" }, where)
      expect(texts).toContainEqual(expect.stringMatching(PROMPT))
      expect(texts).toContain("data: the first half\n\ndata: and a bit\n\n")
      expect(manifests).toHaveLength(1)
    },
  )

  test("before anything was asked: nothing was sent, and the fault says so", async () => {
    const { fault, manifests } = await killed({ profile: "audit" }, "before anything was asked")
    expect(fault!.payload).toMatchObject({ artifact_ids: [], no_evidence: "nothing_sent" })
    expect(manifests).toEqual([])
  })

  test("under hashed the fault names hashes and sizes, and no word is kept", async () => {
    const { fault, texts } = await killed({ profile: "audit", capture: "hashed" }, "with a step open")
    expect(fault!.payload.artifact_ids).not.toEqual([])
    expect(texts.join()).not.toMatch(/date test|first half/)
  })

  test("after its end, and where faults are not looked for, there is none", async () => {
    expect((await killed({ profile: "audit" }, "after its end")).faults).toEqual([])
    expect((await killed({}, "while the answer came")).faults).toEqual([])
  })
})

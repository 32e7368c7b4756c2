// An agent under audit, end to end: its prompt is built by the context compiler, the manifest is on record before the model is asked, and
// nothing else is kept. Then its model answers something that cannot be repaired, which is a fault: now the exact bytes are there. At the end
// it collects what was recorded and verifies both runs.
//
//   node examples/audited-agent.mjs                what it records is removed at the end
//   node examples/audited-agent.mjs .orangebox     or kept there, to ask about: orangebox context last#5
import assert from "node:assert/strict"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { catchUp } from "@orangebox/collector"
import {
  bm25Retriever,
  ContextManifest,
  compile,
  defineStages,
  loopGuardFor,
  rebuildContext,
  recordSchemaRepair,
} from "@orangebox/context"
import { Recorder } from "@orangebox/recorder"
import { isAbsent, openStoreReader } from "@orangebox/store"

const scratch = await mkdtemp(join(tmpdir(), "orangebox-example-"))
const folder = process.argv[2] ?? join(scratch, ".orangebox")

const stage = defineStages({
  name: "release-desk",
  version: "1",
  stages: [
    {
      id: "judge",
      name: "judge",
      mission: "Say whether the build may be released.",
      guardrails: ['Answer with one JSON object: {"release": true or false}.'],
    },
  ],
}).stage("judge")

const notes = bm25Retriever({
  chunks: [
    { id: "notes/flaky.md", text: "The date test is flaky on leap days; a release with it red is fine." },
    { id: "notes/lunch.md", text: "The test kitchen serves lunch at noon." },
  ],
})

const recorder = Recorder.open({
  app: "audited-agent",
  folder,
  profile: "audit",
  guard: loopGuardFor({ threshold: 3 }),
})
const good = await judge("4.1", '{"release": true}')
const bad = await judge("4.2", "Yes, go ahead!")
recorder.close()

/** The agent, with a model that always gives the same answer. */
async function judge(build, scripted) {
  const run = recorder.startRun({ entrypoint: "judge", input: `May ${build} be released?` })
  const step = run.step("judge")
  const reading = step.tool(
    { name: "read_report", args: { build }, effect: "read" },
    () => `build ${build}: 1 test of 812 is red`,
  )
  const report = await reading
  const prompts = []
  // Every call has a manifest of its own, so every question is compiled: also the one that asks again.
  const ask = (...more) => {
    const context = compile(stage, {
      runId: run.runId,
      stepId: step.id,
      generatedAt: new Date().toISOString(),
      items: [{ id: "report", type: "tool_output", text: report, sourceRef: reading.sourceRef }, ...more],
      query: "date test release",
      retrievers: [notes],
      minScore: 0.5,
    })
    step.context(context)
    const { prompt } = context
    prompts.push(prompt)
    return step.model({ provider: "scripted", model: "scripted-1", request: { prompt } }, async () => scripted)
  }
  const answer = await recordSchemaRepair(step, {
    output: await ask(),
    validate: parseVerdict,
    repair: (output, { problems }) =>
      ask({
        id: "refused",
        type: "summary",
        text: `You answered: ${output}\nThat ${problems.join(", ")}. Answer again.`,
        sourceRef: "model:scripted-1",
      }),
  })
  step.end()
  run.complete({ output: answer.ok ? answer.value : "no verdict" })
  return { runId: run.runId, prompts, report }
}

function parseVerdict(output) {
  try {
    return { ok: true, value: JSON.parse(output) }
  } catch {
    return { ok: false, problems: ["is no JSON"] }
  }
}

// What was recorded, read from the store.
await catchUp({ dataFolder: folder })
const store = openStoreReader(join(folder, "store"))
const textOf = async (hash) => {
  const reading = await store.readBody(hash)
  return isAbsent(reading) ? undefined : Buffer.from(reading.bytes).toString()
}
const payloadsOf = async (runId, type) =>
  (await store.eventsOf(runId, { from: 0 })).events
    .filter((event) => event.event_type === type)
    .map(({ payload }) => payload)

for (const { runId } of [good, bad]) {
  const [first] = await payloadsOf(runId, "context_manifest")
  const manifest = ContextManifest.parse(JSON.parse(await textOf(first.manifest_ref)))
  const reasons = (log, reason) => log.map((item) => `${item.item_id} (${item[reason]})`).join(", ")
  console.log(`${runId}\n  included: ${reasons(manifest.inclusion_log, "included_reason")}`)
  console.log(`  left out: ${reasons(manifest.exclusion_log, "excluded_reason")}`)
  assert.deepEqual(manifest.selected_chunk_ids, ["notes/flaky.md"])
  assert.equal(manifest.exclusion_log[0].excluded_reason, "score_below_threshold")
}

// The good run kept its manifest and no prompt.
assert.deepEqual(await payloadsOf(good.runId, "artifact_recorded"), [])
const [called] = await payloadsOf(good.runId, "model_called")
assert.equal(await textOf(called.request_ref), undefined)

// The bad one kept what the model saw and what the tool said, to the byte, and its manifest names them.
const [fault] = await payloadsOf(bad.runId, "fault")
const artifacts = await payloadsOf(bad.runId, "artifact_recorded")
assert.equal(fault.trigger, "schema_repair_failure")
assert.deepEqual(
  fault.artifact_ids,
  artifacts.map(({ artifact_id }) => artifact_id),
)
const stored = await Promise.all(artifacts.map(({ hash }) => textOf(hash)))
for (const prompt of bad.prompts) assert(stored.includes(prompt))
assert(stored.includes(bad.report))
const revised = ContextManifest.parse(
  JSON.parse(await textOf((await payloadsOf(bad.runId, "context_manifest")).at(-1).manifest_ref)),
)
assert.equal(revised.revision, 1)
assert.deepEqual(
  revised.faults[0].artifacts.map(({ path }) => path),
  artifacts.map(({ path }) => path),
)
// Its pieces were not kept, so the prompt is not put together again from guesses; the snapshot has it.
assert.equal(rebuildContext(revised, new Map()).ok, false)

console.log(`\n${fault.trigger}: ${fault.detail}`)
for (const { path, size_bytes } of artifacts)
  console.log(`  ${String(size_bytes).padStart(5)} B  ${path.replace(bad.runId, "run_…")}`)
console.log("the good run kept its manifest alone; the bad one kept every byte")
await store.close()
await rm(scratch, { recursive: true, force: true })

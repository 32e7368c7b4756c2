// Two long runs compared: unrelated ones have to be aligned, a replay is walked along what it replays. Recorded by the real recorder, with bodies.
import { bodyHash } from "@orangebox/contract"
import { MemorySink, Recorder } from "@orangebox/recorder"
import { diffRuns, diffText, replayRecorder, tapeOf } from "@orangebox/replay"
import { median, row } from "./measure.mjs"

export const title = "Two runs compared"

const UNRELATED = 1_000
const RELATED = 10_000

export async function run() {
  const same = await recorded(UNRELATED, "one")
  const other = await recorded(UNRELATED, "two")
  const strange = await recorded(UNRELATED, "three", { isOwn: true })
  const source = await recorded(RELATED, "one")
  const replay = await replayed(source, RELATED, "one")
  const changed = withOtherResults(replay)
  return [
    ...timed(`${UNRELATED} steps each, unrelated, every third result differs`, same, other, "R2"),
    ...timed(`${UNRELATED} steps each, unrelated, nothing in common`, same, strange, "R2"),
    ...timed(`${RELATED} steps each, a run and its replay`, source, replay, "R1"),
    ...timed(`${RELATED} steps each, the replay's second half differs`, source, changed, "R1"),
  ]
}

function timed(what, a, b, regime) {
  const wall = []
  const cpu = []
  let diff
  for (let round = -1; round < 5; round++) {
    const start = process.hrtime.bigint()
    const used = process.cpuUsage()
    diff = diffRuns(a, b)
    const { user, system } = process.cpuUsage(used)
    if (round < 0) continue
    wall.push(Number(process.hrtime.bigint() - start) / 1e6)
    cpu.push((user + system) / 1e3)
  }
  if (diff.regime !== regime) throw new Error(`${what}: taken for ${diff.regime}`)
  const { same, noise, changed, inserted, removed } = diff.stats
  const start = process.hrtime.bigint()
  const text = diffText(diff)
  const textMs = Number(process.hrtime.bigint() - start) / 1e6
  // The wall says more about a busy machine than about us, so the bound is held against the processor's time.
  return [
    row(what, `${median(cpu).toFixed(0)} ms (wall ${median(wall).toFixed(0)} ms)`, "< 1 s", median(cpu) < 1_000),
    row(
      "  found, and told",
      `same ${same + noise}, changed ${changed}, +${inserted} -${removed}; ${text.length} characters in ${textMs.toFixed(0)} ms`,
    ),
  ]
}

/** Half the steps ask a model with the last messages of the history, half run the tool it asked for. */
async function agent(recorder, steps, word, { isOwn = false } = {}) {
  const run = recorder.startRun({ entrypoint: "bench", input: "Work through the list" })
  const history = [{ role: "user", content: "Work through the list" }]
  for (let i = 0; i < steps / 2; i++) {
    const path = isOwn ? `lib/${word}/${i * 7}.py` : `src/part-${i % 53}/file-${i}.ts`
    const name = isOwn ? `open_${i % 5}` : i % 7 === 6 ? "write_file" : "read_file"
    const content = [
      { type: "text", text: isOwn ? `${word} considers ${i * 13} and goes on` : `Now file ${i} of the list.` },
      { type: "tool_use", id: `toolu_${i}`, name, input: { path } },
    ]
    const request = { model: "claude-x", max_tokens: 1_024, system: "Be brief.", messages: history.slice(-8) }
    const answer = { type: "message", role: "assistant", model: "claude-x", content, stop_reason: "tool_use" }
    await run.model({ provider: "anthropic", model: "claude-x", request }, () => answer)
    const effect = name === "write_file" ? "write" : "read"
    const result = await run.tool({ name, args: { path }, effect }, () => resultOf(i, word))
    history.push({ role: "assistant", content }, { role: "user", content: [{ type: "tool_result", content: result }] })
  }
  run.complete({ output: "done" })
}

const resultOf = (i, word) =>
  `${Array.from({ length: 30 }, (_, k) => `token${(i * 31 + k * k * 7) % 5_000}`).join(" ")} ${i % 3 === 0 ? word : ""}`

async function recorded(steps, word, options) {
  const sink = new MemorySink()
  const recorder = Recorder.open({ app: "bench", cwd: "/", sink })
  await agent(recorder, steps, word, options)
  recorder.close()
  return sideOf(sink)
}

async function replayed({ events, bodies }, steps, word) {
  const reading = tapeOf(events, bodies)
  if (!reading.ok) throw new Error("no tape")
  const sink = new MemorySink()
  const recorder = replayRecorder(reading.tape, { app: "bench", cwd: "/", sink })
  await agent(recorder, steps, word)
  recorder.close()
  return sideOf(sink)
}

function sideOf({ events, bodies }) {
  const own = events.filter((event) => event.run_id !== null)
  return { events: own, bodies, body: (hash) => bodies.get(hash) ?? { absent: "unknown" } }
}

/** The same run, had its tools answered otherwise from the middle on. */
function withOtherResults({ events, bodies }) {
  const more = new Map(bodies)
  const changed = events.map((event, at) => {
    if (event.event_type !== "tool_result" || at < events.length / 2) return event
    const bytes = Buffer.from(`another result ${at}`)
    const hash = bodyHash(bytes)
    more.set(hash, bytes)
    const refs = event.artifact_refs.map((ref) => ({ ...ref, artifact_hash: hash, byte_size: bytes.length }))
    return { ...event, payload: { ...event.payload, result_ref: hash }, artifact_refs: refs }
  })
  return sideOf({ events: changed, bodies: more })
}

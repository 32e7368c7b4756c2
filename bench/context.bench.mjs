// A context compiled from 10,000 candidate chunks: retrieved, ranked, policed, budgeted, and every one of them in a log of the manifest.
import { bm25Retriever, compile, defineStages, estimateCounter, loadTokenizer } from "@orangebox/context"
import { median, row } from "./measure.mjs"

export const title = "Context compiled from 10,000 candidate chunks"

export async function run() {
  const chunks = Array.from({ length: 10_000 }, (_, i) => ({ id: `notes/${i}.md#L1-L9`, text: chunkText(i) }))
  const stage = defineStages({
    name: "bench",
    version: "1",
    stages: [{ id: 1, name: "answer", mission: "Answer from the evidence.", guardrails: ["Cite what you use."] }],
  }).stage(1)
  const indexed = process.hrtime.bigint()
  const retriever = bm25Retriever({ chunks })
  const indexMs = Number(process.hrtime.bigint() - indexed) / 1e6
  const work = (counter) => () =>
    compile(stage, {
      runId: "run_bench",
      generatedAt: "2026-01-01T00:00:00Z",
      query: "ledger drift in the march window",
      retrievers: [retriever],
      counter,
    })

  const compiled = work(estimateCounter)()
  const estimate = medianOf(work(estimateCounter), 31)
  const tokenizer = medianOf(work(await loadTokenizer()), 3)
  const { candidate_chunk_ids, selected_chunk_ids } = compiled.manifest
  const ms = (value) => `${value.toFixed(1)} ms`
  return [
    row("candidates, selected", `${candidate_chunk_ids.length}, ${selected_chunk_ids.length}`),
    row("chunks together", `${(chunks.reduce((sum, { text }) => sum + text.length, 0) / 1e6).toFixed(1)} MB`),
    row("building the BM25 index, once", ms(indexMs)),
    row("compile, estimate counter", ms(estimate.wallMs), "< 50 ms", estimate.wallMs < 50),
    row("compile, estimate counter, processor time", ms(estimate.cpuMs)),
    row("compile, o200k_base tokenizer", ms(tokenizer.wallMs)),
  ]
}

// Every chunk holds a word of the query, so that all of them are candidates, and no two are equal.
function chunkText(i) {
  const topic = ["ledger", "drift", "march", "window"][i % 4]
  const words = Array.from({ length: 70 }, (_, k) => `w${(i * 31 + k * k * 7) % 5_000}`)
  return `${topic} note ${i}: ${words.join(" ")}`
}

// Both clocks: on a machine with other work on it the wall says more about that work than about ours.
function medianOf(work, rounds) {
  const wall = []
  const cpu = []
  for (let round = -5; round < rounds; round++) {
    const start = process.hrtime.bigint()
    const used = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(used)
    if (round < 0) continue
    wall.push(Number(process.hrtime.bigint() - start) / 1e6)
    cpu.push((user + system) / 1e3)
  }
  return { wallMs: median(wall), cpuMs: median(cpu) }
}

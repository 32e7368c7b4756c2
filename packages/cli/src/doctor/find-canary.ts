import { advice, bodyHash, suggested } from "@orangebox/contract"
import { loadRun } from "@orangebox/reader"
import { isAbsent, type TraceReader } from "@orangebox/store"
import { plural } from "@orangebox/text"
import type { Canary } from "./canary.js"
import { type Check, failed, ok } from "./check.js"

/** What must be true of a canary that arrived: all its events, unchanged; its body, byte for byte; and a search finds its word. */
export async function findCanary(store: TraceReader, canary: Canary): Promise<Check[]> {
  const run = await loadRun(store, canary.runId)
  if (!run) {
    return [
      failed(
        "canary: store",
        `${canary.runId} is not in the store`,
        advice`See what the collector says: ${suggested("collect", "--status")}`,
      ),
    ]
  }
  const isWhole = run.events.length === canary.events && run.digest === canary.digest && run.row.status === "completed"
  return [
    isWhole
      ? ok("canary: store", `${plural(canary.events, "event")}, digest as recorded`)
      : failed(
          "canary: store",
          `${run.events.length} of ${canary.events} events, ${run.row.status}, digest ${run.digest === canary.digest ? "as recorded" : "differs"}`,
          advice`Look at it with: ${suggested("verify", canary.runId)}`,
        ),
    await readBack(store, canary),
    await searchFor(store, canary),
  ]
}

async function readBack(store: TraceReader, canary: Canary): Promise<Check> {
  const expected = Buffer.from(canary.toolResult)
  const reading = await store.readBody(bodyHash(expected))
  if (isAbsent(reading))
    return failed("canary: body", reading.reason, advice`Check the store with: ${suggested("verify")}`)
  return expected.equals(reading.bytes)
    ? ok("canary: body", "byte for byte")
    : failed("canary: body", "other bytes than were recorded", advice`Check the store with: ${suggested("verify")}`)
}

async function searchFor(store: TraceReader, canary: Canary): Promise<Check> {
  const { hits } = await store.search({ text: canary.word, limit: 5 })
  return hits.some(({ runId }) => runId === canary.runId)
    ? ok("canary: search", "found by its word")
    : failed(
        "canary: search",
        "the search does not find it",
        advice`Build the index again with: ${suggested("collect", "--rebuild")}`,
      )
}

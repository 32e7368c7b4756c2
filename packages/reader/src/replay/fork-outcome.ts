import { createHash } from "node:crypto"
import { type Event, payloadOf, summarizeText, textIn } from "@orangebox/contract"
import type { StepView } from "@orangebox/query"
import { type ForkOutcome, lastTree } from "@orangebox/replay"
import type { ReaderOptions } from "../open/data-folder.js"
import { loadSource } from "./replay-source.js"

/** A sample of a fork, read back from its recording. */
export interface RecordedOutcome {
  /** What samples are compared by. */
  readonly aspects: ForkOutcome
  /** The calls that went to a server and came back without an answer, each in a few words. */
  readonly unanswered: readonly string[]
}

/**
 * What a sample came to, read back from its recording: how the command ended, which tools were called with what, what the files are in the
 * end, and what the model said last. Null where that was not recorded.
 */
export async function outcomeOf(options: ReaderOptions, runId: string, end: string | null): Promise<RecordedOutcome> {
  const { run, tape } = await loadSource(options, runId)
  const said = run.view.steps.findLast(({ kind }) => kind === "model")?.model?.outputSummary
  const live = run.view.steps.filter(({ kind, mode, attemptNo }) => kind === "model" && mode === "live" && !attemptNo)
  return {
    aspects: {
      end,
      actions: actionsOf(run.events),
      files: end === null ? null : filesOf(run.events, tape.bodies),
      answer: said === undefined ? null : summarizeText(said),
    },
    unanswered: live.filter(({ status }) => status !== "success").map(failureWords),
  }
}

function failureWords({ n, name, status, error }: StepView): string {
  const why = error === undefined ? `ended ${status}` : [error.errorClass, error.line].filter(Boolean).join(": ")
  return `#${n} ${name ?? "model"}: ${why}`
}

function actionsOf(events: readonly Event[]): string {
  const calls = events
    .filter(({ event_type }) => event_type === "tool_called")
    .map((event) => textIn(payloadOf(event), "call_signature_hash") ?? "?")
  return `${calls.length} tool calls${calls.length === 0 ? "" : ` ${digestOf(calls)}`}`
}

function filesOf(events: readonly Event[], bodies: Parameters<typeof lastTree>[1]): string | null {
  const tree = lastTree(events, bodies)
  if (tree === undefined) return null
  const files = tree.files.map(
    ({ path, kind, bytes }) => `${path}\0${kind}\0${bytes === null ? "" : digestOf([bytes])}`,
  )
  return `${files.length} files ${digestOf(files.sort())}`
}

function digestOf(parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash("sha256")
  for (const part of parts) hash.update(part).update("\0")
  return hash.digest("hex").slice(0, 12)
}

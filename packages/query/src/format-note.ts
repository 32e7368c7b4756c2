import {
  amountIn,
  countIn,
  type Event,
  type Link,
  type LoosePayload,
  numberIn,
  payloadOf,
  textIn,
} from "@orangebox/contract"
import { injectionWords, missingWords, type PromptAccount, promptAccountIn } from "@orangebox/dialects"
import { type Gap, UNEXPLAINED } from "@orangebox/runs"
import {
  firstLine,
  formatBytes,
  formatCount,
  formatDuration,
  plural,
  recordedText,
  recordedWord,
} from "@orangebox/text"
import { promptWords } from "./format-prompt.js"
import type { LineWords } from "./format-skeleton.js"
import type { NoteView } from "./notes.js"
import type { InboundLink } from "./run-view.js"
import { promptOf } from "./step-facts.js"

/** The words of a note's line: what is recorded inside a step and deserves to be seen. */
export function noteWords(note: NoteView, isShort: boolean, room = Number.POSITIVE_INFINITY): LineWords {
  const tone = note.weight
  if (note.gap) return { label: gapWords(note.gap), time: "", verdict: "", tone }
  if (note.inbound) {
    const { how, place } = inboundWords(note.inbound)
    return { label: how, time: "", verdict: place, tone }
  }
  const event = note.event
  if (!event) return { label: "", time: "", verdict: "", tone }
  const width = Math.max(8, Math.min(isShort ? 40 : 100, room - LONGEST_KIND))
  const words = wordsOf(note, event, payloadOf(event), width)
  const marks = (event.inferred_by === undefined ? "" : "≈ ") + (event.sequence_no === null ? "later: " : "")
  return { label: marks + words.label, time: words.time ?? "", verdict: words.verdict ?? "", tone }
}

/** What stands in front of a note's recorded text, roughly. */
const LONGEST_KIND = 8

/** Why a fault has nothing to show; one that has is followed by its artifacts. */
function evidenceWords(payload: LoosePayload): string {
  const why = textIn(payload, "no_evidence")
  if (why === undefined) return ""
  return `no evidence: ${NO_EVIDENCE.get(why) ?? recordedWord(why, 24)}`
}

const NO_EVIDENCE: ReadonlyMap<string, string> = new Map([
  ["nothing_sent", "nothing had been sent"],
  ["not_stored", "it could not be stored"],
])

interface NoteWords {
  readonly label: string
  readonly time?: string
  readonly verdict?: string
}

function wordsOf(note: NoteView, event: Event, payload: LoosePayload, width: number): NoteWords {
  const word = (name: string): string => recordedWord(textIn(payload, name) ?? "?", Math.min(width, 48))
  const text = (name: string): string => {
    const said = textIn(payload, name)
    return said === undefined ? "" : recordedText(firstLine(said), width)
  }
  switch (note.kind) {
    case "prompt":
      return promptWords(promptOf(event, note.unsent), width, note.before && promptOf(note.before))
    case "log":
      return { label: `${recordedWord(textIn(payload, "level") ?? "log", 8)} ${logWords(event, payload, width)}` }
    case "retrieval": {
      const ms = amountIn(payload, "latency_ms")
      const status = textIn(payload, "status")
      return {
        label: `retrieval ${word("retriever_id")} top ${formatCount(countIn(payload, "top_k"))}`,
        time: ms === undefined ? "" : formatDuration(ms * 1000),
        verdict: [
          ...(status === undefined || status === "success" ? [] : [`✗ ${recordedWord(status, 16)}`]),
          `${formatCount(countIn(payload, "candidate_count"))} candidates`,
        ].join(" · "),
      }
    }
    case "validator":
      return { label: `validator ${word("validator_name")}`, verdict: word("decision") }
    case "safety":
      return { label: `safety ${word("policy_name")}`, verdict: word("decision") }
    case "context": {
      const included = countIn(payload, "included_count")
      const sent = included === undefined ? undefined : included - (note.unsent?.length ?? 0)
      return {
        label: `context ${formatCount(sent)} in, ${formatCount(countIn(payload, "excluded_count"))} left out`,
        verdict: (countIn(payload, "revision") ?? 0) > 0 ? `revision ${countIn(payload, "revision")}` : "",
      }
    }
    case "injected":
      return { label: deliveryWords(promptAccountIn(payload)!) }
    case "artifact":
      return artifactWords(payload, width)
    case "decision":
      return { label: `decision ${word("action_type")} ${text("action_summary")}`.trimEnd() }
    case "evaluation":
      return {
        label: `evaluation by ${word("evaluator")}`,
        verdict: ["alignment", "quality", "policy"].map((name) => `${name} ${word(name)}`).join(" · "),
      }
    case "override":
      return { label: `override by ${word("author")} ${text("reason")}`.trimEnd(), verdict: word("verdict") }
    case "findings":
      return { label: `findings by ${word("author")} ${text("summary")}`.trimEnd(), verdict: word("verdict") }
    case "fault":
      return { label: `fault ${word("trigger")} ${text("detail")}`.trimEnd(), verdict: evidenceWords(payload) }
    case "repair": {
      const attempt = countIn(payload, "attempt")
      const most = countIn(payload, "max_attempts")
      const tries = attempt === undefined ? "" : ` (${attempt}${most === undefined ? "" : ` of ${most}`})`
      return { label: `repair ${word("kind")}${tries} ${text("reason")}`.trimEnd(), verdict: word("outcome") }
    }
    case "output":
      return { label: `output ${text("output_summary")}`.trimEnd(), verdict: outputSize(event) }
    case "link":
      return { label: note.link ? linkWords(note.link, width) : "link" }
    case "crash":
      return { label: `process_crashed ${text("evidence")}`.trimEnd(), verdict: "but the run's own end is recorded" }
    default:
      return { label: `${recordedWord(event.event_type, 40)} (an event type this version does not know)` }
  }
}

function logWords(event: Event, payload: LoosePayload, width: number): string {
  const said = textIn(payload, "message")
  const error = textIn(payload, "error_summary")
  const words = [`${recordedWord(event.source, 32)}:`]
  if (said !== undefined) words.push(recordedText(beginningOf(said), width))
  if (error !== undefined && error !== said) words.push(`(${recordedText(firstLine(error), width)})`)
  return words.join(" ")
}

function artifactWords(payload: LoosePayload, width: number): NoteWords {
  const exitCode = numberIn(payload, "exit_code")
  const added = countIn(payload, "lines_added")
  const removed = countIn(payload, "lines_removed")
  const subject = textIn(payload, "path") ?? textIn(payload, "summary") ?? ""
  const verdict = [
    ...(exitCode === undefined ? [] : [exitCode === 0 ? "exit 0" : `✗ exit ${exitCode}`]),
    ...(added === undefined && removed === undefined ? [] : [`+${added ?? "?"} −${removed ?? "?"}`]),
    formatBytes(countIn(payload, "size_bytes")),
  ]
  const type = recordedWord(textIn(payload, "artifact_type") ?? "?", 32)
  return { label: `artifact ${type} ${recordedWord(subject, Math.min(width, 60))}`, verdict: verdict.join(" · ") }
}

function outputSize(event: Event): string {
  const size = event.artifact_refs[0]?.byte_size
  return size === undefined ? "" : formatBytes(size)
}

function linkWords(link: Link, width: number): string {
  const target = link.run_id ?? link.step_id ?? link.trace_id ?? "?"
  const words = [`link ${recordedWord(link.kind, 24)} → ${recordedWord(target, 40)}`]
  if (link.reason !== undefined) words.push(recordedText(link.reason, Math.min(width, 60)))
  return words.join(" ")
}

/** `caused by` and `run_01…#5 deliver`: what the other end of a link says, in words from here. */
export function inboundWords({ link, runId, no, name }: InboundLink): { readonly how: string; readonly place: string } {
  const address = `${runId === undefined ? "" : recordedWord(runId, 40)}${no === null ? "" : `#${no}`}`
  return {
    how: INBOUND[link.kind] ?? recordedWord(link.kind, 24),
    place: [address, ...(name === null ? [] : [recordedWord(name, 40)])].join(" "),
  }
}

const INBOUND: { readonly [kind in Link["kind"]]?: string } = {
  caused: "caused by",
  caused_by: "cause of",
  spawned: "spawned by",
  spawned_by: "spawned",
  delivers: "taken up by",
  mentions: "mentioned by",
}

export function gapWords(gap: Gap): string {
  const { fromSequence: from, toSequence: to } = gap
  const where = from === null ? "" : from === to ? ` at ${from}` : ` between ${from} and ${to ?? "?"}`
  const reason = gap.reason === UNEXPLAINED ? UNEXPLAINED : recordedText(gap.reason, 96)
  return gap.count === 0 ? reason : `lost ${plural(gap.count, "event")}${where}: ${reason}`
}

/** What is wrong with a request that should have held a prompt. */
export function deliveryWords(account: PromptAccount): string {
  const injected = injectionWords(account)
  const missing = missingWords(account)
  return [
    ...(injected === undefined ? [] : [`context_injected ${injected}`]),
    ...(missing === undefined ? [] : [`context_incomplete ${missing}`]),
  ].join("; ")
}

/** The first line, and a mark where there are more. */
function beginningOf(text: string): string {
  const line = firstLine(text)
  return line === text.trim() ? line : `${line} …`
}

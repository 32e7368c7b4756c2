import {
  bodyHash,
  type Event,
  OrangeboxError,
  randomIds,
  SCHEMA_VERSION,
  summarizeText,
  type Verdict,
} from "@orangebox/contract"
import { type DataFolder, openJournal } from "@orangebox/journal"
import { type Ruleset, redactText } from "@orangebox/recorder"
import type { LoadedRun } from "../reading/load-run.js"
import { versionOf } from "../version.js"

export interface SaidOverride {
  readonly author: string
  readonly verdict: Verdict
  readonly reason: string
  /** The step it is about; null for the run as a whole. */
  readonly stepId: string | null
}

/** The `source` of everything this command says about runs. */
const SOURCE = "orangebox.cli"

/**
 * Writes a person's word about a run into a journal of this process: an annotation, outside the run's own sequence, so that the run and its
 * digest stay what they were. On disk when it returns.
 */
export function writeOverride(
  folder: DataFolder,
  run: LoadedRun,
  said: SaidOverride,
  ruleset: Ruleset,
): Event<"override"> {
  const { text: reason, masks } = redactText(said.reason, ruleset)
  const author = redactText(said.author, ruleset).text
  const summary = summarizeText(reason)
  const bytes = Buffer.from(reason.toWellFormed(), "utf8")
  // A summary is one line; a reason that is more stands in a body.
  const body = summary === reason ? undefined : { hash: bodyHash(bytes), bytes }
  const event = overrideEvent(run, {
    redaction_status: masks.length > 0 ? "redacted" : "not_required",
    artifact_refs:
      body === undefined
        ? []
        : [
            {
              artifact_hash: body.hash,
              artifact_type: "reason",
              byte_size: bytes.length,
              content_encoding: "identity",
              mime_type: "text/plain; charset=utf-8",
              redaction_profile: "default",
            },
          ],
    payload: {
      author,
      subject_step_id: said.stepId,
      verdict: said.verdict,
      reason: summary,
      ...(body === undefined ? {} : { reason_ref: body.hash }),
    },
  })
  const journal = openJournal({
    folder: folder.journalFolder,
    appId: "orangebox",
    recorderVersion: versionOf(),
    onWarning: () => {},
  })
  try {
    journal.appendDurable({
      json: JSON.stringify(event),
      runId: event.run_id,
      sequenceNo: null,
      bodies: body === undefined ? [] : [body],
    })
  } finally {
    journal.close({ exitCode: 0, reason: "closed" })
  }
  return event
}

type Content = Pick<Event<"override">, "redaction_status" | "artifact_refs" | "payload">

function overrideEvent({ events, row }: LoadedRun, content: Content): Event<"override"> {
  const [first] = events
  const last = events.at(-1)
  if (first === undefined || last === undefined) {
    throw new OrangeboxError("NO_RUN", { what: "the run has no event that could be spoken about", where: row.runId })
  }
  const now = Date.now()
  return {
    schema_version: SCHEMA_VERSION,
    event_id: randomIds().event(now),
    trace_id: first.trace_id,
    run_id: row.runId,
    step_id: content.payload.subject_step_id ?? first.step_id,
    parent_step_id: null,
    sequence_no: null,
    event_type: "override",
    timestamp_utc: new Date(now).toISOString(),
    // Comparable only within the run; it was said after everything that is there.
    mono_us: last.mono_us,
    actor_type: "backend",
    determinism_mode: "live",
    source: SOURCE,
    ...(first.conversation_id === undefined ? {} : { conversation_id: first.conversation_id }),
    ...content,
  }
}

import { countIn, type Event, integerIn, payloadOf, summarizeText, textHash, textIn } from "@orangebox/contract"
import { isFailure } from "@orangebox/runs"
import type { Action, EvidencePointer } from "./action.js"
import { capturedText, isMasked } from "./captured-text.js"
import type { DecisionArtifact } from "./generated.js"
import { type BodyLookup, bodyText } from "./recorded-run.js"

/**
 * The work products of an action: those read from what it was told and what it gave back, then those recorded beside it. An edit whose
 * diff the application recorded itself is listed once, in the words of the application, which saw the file.
 */
export function artifactsOf(action: Action, events: readonly Event[], bodies: BodyLookup): DecisionArtifact[] {
  const recorded = events.flatMap((event) => recordedArtifact(event, bodies))
  const recordedPaths = new Set(
    recorded.flatMap(({ type, metadata }) => (type === "file_edit" || type === "diff" ? [metadata.path] : [])),
  )
  const isRecorded = ({ evidence: { ref } }: { readonly evidence: EvidencePointer }): boolean =>
    ref !== null && recorded.some(({ content_ref }) => content_ref === ref)
  const edits = action.edits.filter((edit) => !recordedPaths.has(edit.path) && !isRecorded(edit))
  const testRuns = action.testRuns.filter((run) => !isRecorded(run))
  return [
    ...edits.map((edit, at) =>
      made(action, "file_edit", at, edit.evidence, edit.diff, {
        summary: `${edit.path} +${edit.linesAdded} −${edit.linesRemoved ?? "?"}`,
        path: edit.path,
        lines_added: edit.linesAdded,
        lines_removed: edit.linesRemoved,
      }),
    ),
    ...action.commands.map((command, at) =>
      made(action, "command", at, command.evidence, command.text, {
        summary: command.text,
        exit_code: command.exitCode,
      }),
    ),
    ...unreadWork(action).filter(({ type }) => !recorded.some((one) => one.type === type)),
    ...testRuns.map((run, at) =>
      made(action, "test_run", at, run.evidence, `${run.command}\n${run.summary}`, {
        summary: `${run.runner}: ${run.summary}`,
        exit_code: run.exitCode,
        tests: {
          runner: run.runner,
          passed: run.passed,
          failed: run.failed,
          skipped: run.skipped,
          outcome: run.outcome,
        },
      }),
    ),
    ...action.commits.map((commit, at) =>
      made(action, "commit", at, commit.evidence, commit.message ?? commit.id ?? "", {
        summary: `${commit.id ?? "commit"} ${commit.message ?? ""}`.trim(),
        commit: { sha: commit.id, message: commit.message },
      }),
    ),
    ...action.pullRequests.map((request, at) =>
      made(action, "pr", at, request.evidence, request.url ?? request.title ?? "", {
        summary: request.title ?? request.url ?? "pull request",
      }),
    ),
    ...recorded,
  ]
}

interface Described extends Partial<DecisionArtifact["metadata"]> {
  readonly summary: string
}

function made(
  action: Action,
  type: DecisionArtifact["type"],
  at: number,
  evidence: EvidencePointer,
  content: string,
  { summary, ...metadata }: Described,
): DecisionArtifact {
  return {
    type,
    id: `${action.stepId}/${type}/${at + 1}`,
    summary: summarizeText(summary),
    content_ref: evidence.ref,
    hash: textHash(content),
    metadata: { path: null, lines_added: null, lines_removed: null, exit_code: null, ...metadata },
    content,
    ...(isMasked(content) ? { content_form: "redacted" as const } : {}),
  }
}

/** A command or an edit whose text was not kept is still one: its digest stands for it. */
function unreadWork(action: Action): DecisionArtifact[] {
  const { tool } = action
  const isCommand = action.type === "command" || action.type === "run_tests"
  if (!isCommand && action.type !== "edit") return []
  if (!isCommand && isFailure(action.status)) return []
  if (!tool || tool.argsText !== null || !/^sha256:[0-9a-f]{64}$/.test(tool.argsRef)) return []
  const type = isCommand ? "command" : "file_edit"
  return [
    {
      type,
      id: `${action.stepId}/${type}/1`,
      summary: tool.name,
      content_ref: tool.argsRef,
      hash: tool.argsRef,
      metadata: { path: null, lines_added: null, lines_removed: null, exit_code: tool.exitCode },
      content: tool.argsRef,
      content_form: "hash",
    },
  ]
}

function commitOf(
  payload: ReturnType<typeof payloadOf>,
  content: ReturnType<typeof capturedText>,
): { sha: string | null; message: string | null } {
  const id = textIn(payload, "artifact_id") ?? ""
  return {
    sha: /^[0-9a-f]{7,64}$/.test(id) ? id : null,
    message: content === null || content.form === "hash" ? null : content.text,
  }
}

const SEED_TYPES: ReadonlySet<unknown> = new Set<DecisionArtifact["type"]>([
  "file_edit",
  "command",
  "test_run",
  "pr",
  "commit",
  "diff",
])

/** An artifact that was recorded as one; none for kinds that are not work products. */
export function recordedArtifact(event: Event, bodies: BodyLookup): DecisionArtifact[] {
  const payload = payloadOf(event)
  const type = payload["artifact_type"]
  const hash = textIn(payload, "hash")
  if (!SEED_TYPES.has(type) || hash === undefined) return []
  const ref = textIn(payload, "content_ref") ?? null
  const content = capturedText(bodyText(bodies, ref), ref)
  return [
    {
      type: type as DecisionArtifact["type"],
      id: textIn(payload, "artifact_id") ?? hash,
      summary: textIn(payload, "summary") ?? "",
      content_ref: ref,
      hash,
      metadata: {
        path: textIn(payload, "path") ?? null,
        lines_added: countIn(payload, "lines_added") ?? null,
        lines_removed: countIn(payload, "lines_removed") ?? null,
        exit_code: integerIn(payload, "exit_code") ?? null,
        ...(type === "commit" && { commit: commitOf(payload, content) }),
      },
      content: content?.text ?? null,
      ...(content?.form ? { content_form: content.form } : {}),
    },
  ]
}

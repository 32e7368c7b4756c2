import { plural } from "@orangebox/text"
import { type ChangedFiles, compareFiles, type FilesOfRun, looksOf, NOT_KEPT } from "../diff/changed-files.js"
import { lastTree } from "../fork/recorded-workspace.js"
import type { DeclaredOutputs } from "../generated.js"
import { areToolsServed } from "../tape/served-tools.js"
import type { Recording, Tape } from "../tape/tape.js"

/** Something of the ends of two runs, and whether it is the same; null where one of them has none on record. */
export interface ComparedOutputs {
  /** What both have in common; null where it was not compared. */
  readonly outputs: Omit<DeclaredOutputs, "stdout">
  readonly differences: readonly string[]
  readonly unknown: readonly { readonly what: string; readonly why: string }[]
}

/** What a run declares in the end; how it ended and what it gave is compared with its other records. */
export function declaredOutputs(
  { outputs }: Tape,
  files: DeclaredOutputs["files"],
  isExitKnown = true,
): DeclaredOutputs {
  return {
    ended: outputs.ended,
    error_class: outputs.errorClass,
    error: outputs.error,
    exit_code: isExitKnown ? outputs.exitCode : null,
    signal: isExitKnown ? outputs.signal : null,
    stdout: outputs.stdout && (outputs.stdout.body?.hash ?? outputs.stdout.digest),
    last_model_output: outputs.lastModelOutput,
    final_outputs: [...outputs.finalOutputs],
    files,
  }
}

/** The last answer of a model and what two runs left of their files, and which of the rest is on record in both. */
export function compareOutputs(source: RunOutput, replay: RunOutput): ComparedOutputs {
  const differences: string[] = []
  const unknown: { what: string; why: string }[] = []
  const [was, is] = [source.tape.outputs, replay.tape.outputs]
  const last = lastAnswerAsTold(replay.tape, source.tape)
  if (was.lastModelOutput !== last)
    differences.push(`the last answer of a model differs: ${was.lastModelOutput} was recorded, it is ${last}`)
  const hasStatus = was.exitCode !== null || was.signal !== null
  const isStatusKnown = hasStatus && (is.exitCode !== null || is.signal !== null)
  if (!isStatusKnown)
    unknown.push({ what: "exit status", why: `not on record in the ${hasStatus ? "replay" : "source"}` })
  const files = filesOfBoth(source, replay, { differences, unknown })
  return { outputs: declaredOutputs(source.tape, files, isStatusKnown), differences, unknown }
}

export interface RunOutput extends Recording {
  readonly tape: Tape
}

/**
 * The last answer where the source had it: which of several concurrent calls is opened last is a matter of microseconds, and not what "the
 * last answer" means.
 */
function lastAnswerAsTold(replay: Tape, source: Tape): string | null {
  const last = replay.calls.find((call) => call.replayed?.sourceStepId === source.outputs.lastModelStep)
  return last ? (last.answer?.body?.hash ?? null) : replay.outputs.lastModelOutput
}

/** What became of the files that the runs changed. A work tree that was not looked at is not compared. */
function filesOfBoth(
  source: RunOutput,
  replay: RunOutput,
  told: { readonly differences: string[]; readonly unknown: { what: string; why: string }[] },
): Record<string, string> | null {
  const found = compareFiles(filesOf(source), filesOf(replay))
  if (!found.areCompared) {
    told.unknown.push({ what: "files", why: found.why })
    return null
  }
  for (const { path, a, b } of found.differing) {
    const [was, is] = [a ?? "not changed", b ?? "not changed"]
    told.differences.push(`the file ${path} differs: ${was} was left, it is ${is}`)
  }
  told.unknown.push({
    what: "files that git ignores, and empty folders",
    why: "a look at the work tree does not see them",
  })
  const files: Record<string, string> = {}
  const notKept = new Set([...leftOut(source, found.same), ...leftOut(replay, found.same)])
  for (const [path, file] of found.same) {
    if (file.endsWith(NOT_KEPT)) notKept.add(path)
    else files[path] = file
  }
  if (notKept.size > 0) {
    const paths = [...notKept].sort().slice(0, 3).join(", ")
    told.unknown.push({ what: `${plural(notKept.size, "file")} (${paths})`, why: "their contents were not kept" })
  }
  return files
}

function filesOf({ events, bodies, tape }: RunOutput): FilesOfRun {
  const text = (ref: string): string | undefined => {
    const bytes = bodies.get(ref)
    return bytes && Buffer.from(bytes).toString("utf8")
  }
  const own = events.filter(({ run_id }) => run_id === tape.runId)
  return { looks: looksOf(own), reader: { text }, areToolsServed: areToolsServed(events) }
}

/** What a look passes over: too large, not readable, more than are listed. */
function leftOut({ events, bodies, tape }: RunOutput, known: ChangedFiles): readonly string[] {
  const own = events.filter(({ run_id }) => run_id === tape.runId)
  const paths = lastTree(own, bodies)?.notRestored.map(({ path }) => path) ?? []
  return paths.filter((path) => !known.has(path))
}

import { plural } from "@orangebox/text"
import { type ChangedFiles, changedFiles, looksOf, NOT_KEPT } from "../diff/changed-files.js"
import { lastTree } from "../fork/recorded-workspace.js"
import type { DeclaredOutputs } from "../generated.js"
import type { Recording, Tape } from "../tape/tape.js"

/** Something of the ends of two runs, and whether it is the same; null where one of them has none on record. */
export interface ComparedOutputs {
  /** What both have in common; null where it was not compared. */
  readonly outputs: DeclaredOutputs
  readonly differences: readonly string[]
  readonly unknown: readonly { readonly what: string; readonly why: string }[]
}

/** How two runs ended and what they left. Where every tool was answered from the tape, none of them touched a file. */
export function compareOutputs(source: RunOutput, replay: RunOutput, areToolsServed = false): ComparedOutputs {
  const differences: string[] = []
  const unknown: { what: string; why: string }[] = []
  const [was, is] = [source.tape.outputs, replay.tape.outputs]
  const compare = <T>(what: string, a: T, b: T): T => {
    if (JSON.stringify(a) !== JSON.stringify(b))
      differences.push(`${what} differs: ${JSON.stringify(a)} was recorded, it is ${JSON.stringify(b)}`)
    return a
  }
  compare("how the run ended", was.ended, is.ended)
  compare("the class of its error", was.errorClass, is.errorClass)
  compare("its error", was.error, is.error)
  const hasStatus = was.exitCode !== null || was.signal !== null
  const hasStatusNow = is.exitCode !== null || is.signal !== null
  if (hasStatus && hasStatusNow) {
    compare("the exit code", was.exitCode, is.exitCode)
    compare("the signal that ended it", was.signal, is.signal)
  } else unknown.push({ what: "exit status", why: `not on record in the ${hasStatus ? "replay" : "source"}` })
  const isStatusKnown = hasStatus && hasStatusNow
  return {
    outputs: {
      ended: was.ended,
      error_class: was.errorClass,
      error: was.error,
      exit_code: isStatusKnown ? was.exitCode : null,
      signal: isStatusKnown ? was.signal : null,
      last_model_output: compare(
        "the last answer of a model",
        was.lastModelOutput,
        lastAnswerAsTold(replay.tape, source.tape),
      ),
      final_outputs: compare("the final output", [...was.finalOutputs], [...is.finalOutputs]),
      files: areToolsServed ? notTouched(unknown) : compareFiles(source, replay, { differences, unknown }),
    },
    differences,
    unknown,
  }
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

function notTouched(unknown: { what: string; why: string }[]): null {
  unknown.push({ what: "files", why: "tools were answered from the recording, and changed none" })
  return null
}

/** What became of the files that the runs changed. A work tree that nobody looked at is not compared. */
function compareFiles(
  source: RunOutput,
  replay: RunOutput,
  told: { readonly differences: string[]; readonly unknown: { what: string; why: string }[] },
): Record<string, string> | null {
  const [was, is] = [filesOf(source), filesOf(replay)]
  if (was === undefined || is === undefined) {
    const side = was === undefined ? "source" : "replay"
    told.unknown.push({ what: "files", why: `the work tree of the ${side} was not looked at` })
    return null
  }
  const files: Record<string, string> = {}
  const notKept = new Set([...was.leftOut, ...is.leftOut])
  for (const path of [...new Set([...was.changed.keys(), ...is.changed.keys()])].sort()) {
    const [a, b] = [was.changed.get(path) ?? "not changed", is.changed.get(path) ?? "not changed"]
    if (a !== b) told.differences.push(`the file ${path} differs: ${a} was left, it is ${b}`)
    else if (a.endsWith(NOT_KEPT)) notKept.add(path)
    else files[path] = a
  }
  if (notKept.size > 0) {
    const paths = [...notKept].sort().slice(0, 3).join(", ")
    told.unknown.push({ what: `${plural(notKept.size, "file")} (${paths})`, why: "their contents were not kept" })
  }
  return files
}

interface LeftFiles {
  readonly changed: ChangedFiles
  /** What a look passes over: too large, not readable, more than are listed. */
  readonly leftOut: readonly string[]
}

function filesOf({ events, bodies, tape }: RunOutput): LeftFiles | undefined {
  const own = events.filter(({ run_id }) => run_id === tape.runId)
  const looks = looksOf(own)
  const text = (ref: string): string | undefined => {
    const bytes = bodies.get(ref)
    return bytes && Buffer.from(bytes).toString("utf8")
  }
  const changed = looks && changedFiles(looks, { text })
  if (changed === undefined) return undefined
  const leftOut = lastTree(own, bodies)?.notRestored ?? []
  return { changed, leftOut: leftOut.filter(({ path }) => !changed.has(path)).map(({ path }) => path) }
}

import { advice, InputError, suggested } from "@orangebox/contract"
import { effectsHere, loadSource, type ReplaySource, refuseForeignSecrets } from "@orangebox/reader"
import { type CoverageGap, coverageGaps, type Tape } from "@orangebox/replay"
import { shellWord } from "@orangebox/text"
import { withReader } from "../reading.js"
import type { GlobalOptions, Session } from "../session.js"
import { numbersOf } from "./format-replay.js"

/** Said in the same words wherever a command is started against a tape. */
export const NOT_A_SANDBOX = "The proxy is not a sandbox: what the command does besides calling models, it really does."

const SHOWN_STEPS = 5

/** A run to be answered from, with everything that is known to be missing said before anything starts. */
export async function loadTape(session: Session, options: GlobalOptions, address: string): Promise<ReplaySource> {
  const source = await withReader(session, options, (reader) => loadSource(reader, address))
  for (const line of preflightLines(source)) session.terminal.say(line)
  refuseIncompleteTape(source)
  return source
}

/** What cannot be replayed and why, one line for each kind of it. */
function preflightLines(source: ReplaySource): string[] {
  const { problems, voidedBecause } = source
  const numberOf = numbersOf(source)
  const groups = new Map<string, { readonly isBlocked: boolean; readonly why: string; readonly steps: string[] }>()
  for (const { code, severity, step, reason } of problems) {
    const isBlocked = severity === "blocks"
    const why = `${code}, ${reason}`
    const group = groups.get(`${isBlocked} ${why}`) ?? { isBlocked, why, steps: [] }
    const n = step && numberOf(step)
    if (step !== undefined) group.steps.push(n === undefined ? step : `#${n}`)
    groups.set(`${isBlocked} ${why}`, group)
  }
  const lines = [...groups.values()].map(({ isBlocked, why, steps }) => {
    const fares = isBlocked ? "cannot be replayed" : steps.length > 1 ? "are limited" : "is limited"
    return `orangebox: ${stepWords(steps)} ${fares}: ${why}`
  })
  return voidedBecause === undefined ? lines : [...lines, `orangebox: no certificate is possible: ${voidedBecause}`]
}

function stepWords(steps: readonly string[]): string {
  if (steps.length === 0) return "the run"
  const more = steps.length > SHOWN_STEPS ? ` and ${steps.length - SHOWN_STEPS} more` : ""
  return `${steps.slice(0, SHOWN_STEPS).join(", ")}${more}`
}

/** A tape without a run that was part of it, or one that answers nothing, would only make calls of the agent fail. */
function refuseIncompleteTape({ tape, problems, run }: ReplaySource): void {
  const [absent, ...others] = tape.absentRuns
  if (absent) {
    throw new InputError("COVERAGE_GAP", {
      what: `it started ${[absent, ...others].map(({ runId }) => runId).join(", ")}, which ${others.length > 0 ? "are" : "is"} not here: nothing can answer what was asked there`,
      where: run.row.runId,
      next: "Replay it where all its runs were recorded, or from a file that was exported there",
    })
  }
  const blocked = new Set(problems.filter(({ severity }) => severity === "blocks").map(({ step }) => step))
  const asked = tape.calls.filter((call) => !call.isInferred)
  if (asked.some(({ stepId }) => !blocked.has(stepId))) return
  const first = problems.find(({ severity }) => severity === "blocks")
  throw new InputError(asked.length === 0 ? "NO_TRAFFIC" : "NOTHING_TO_SERVE", {
    what:
      asked.length === 0
        ? "the run recorded no call that a replay could answer"
        : `none of the ${asked.length} recorded calls can be answered: ${first?.reason ?? "nothing is there"}`,
    where: run.row.runId,
    next: advice`Record a run with its bodies: ${suggested("run", "--capture redacted -- …")}`,
  })
}

/** Tools that a user lets run again. */
export interface AllowedTools {
  isAllowed(tool: string): boolean
  /** The options that would let these run, too, and the names of those that they take the place of. */
  optionsFor(gaps: readonly CoverageGap[]): AllowingOptions | Promise<AllowingOptions>
}

interface AllowingOptions {
  readonly flags: readonly string[]
  readonly replaced?: readonly string[]
}

/** Refuses to start a command that the tape cannot be held against, or that would do what nobody allowed. Gives the number of tools that it runs. */
export async function checkCommand(session: Session, source: ReplaySource, allowed: AllowedTools): Promise<number> {
  const { tape } = source
  refuseForeignSecrets(source)
  const tools = coverageGaps(tape, { covers: ["model", "tool", "retriever", "http"], effects: effectsHere() })
  const gaps = tools.filter(({ tool }) => !allowed.isAllowed(tool))
  if (gaps.length > 0) {
    const { flags, replaced } = await allowed.optionsFor(gaps)
    throw gapError(tape, gaps, typedWith(session, flags, replaced))
  }
  const executed = toolsExecutedBy(tape)
  if (executed > 0) session.terminal.say(`orangebox: ${NOT_A_SANDBOX}`)
  return executed
}

/** @param command the one that was typed, with all that it takes to let them */
function gapError(tape: Tape, gaps: readonly CoverageGap[], command: string): InputError {
  return new InputError("COVERAGE_GAP", {
    what: `the command would run tools again that nothing can answer for: ${toolWords(gaps)}. ${NOT_A_SANDBOX}`,
    where: tape.runId,
    next: `Name harmless tools as effect "read" in orangebox.config.json, leave the command away, which runs nothing, or let them run: ${command}`,
  })
}

/** What was typed, with these options put in front of the command that it starts, in the place of those that they replace. */
function typedWith({ args }: Session, flags: readonly string[], replaced: readonly string[] = []): string {
  const end = args.includes("--") ? args.indexOf("--") : args.length
  const own = args.slice(0, end).filter((word, at, words) => !isOptionOf(word, words[at - 1], replaced))
  return ["orangebox", ...own.map(shellWord), ...flags, ...args.slice(end).map(shellWord)].join(" ")
}

const isOptionOf = (word: string, before: string | undefined, names: readonly string[]): boolean =>
  names.some((name) => word === name || word.startsWith(`${name}=`) || before === name)

function toolWords(gaps: readonly CoverageGap[]): string {
  const counts = new Map<string, number>()
  for (const { tool, effect } of gaps) {
    const word = `${tool} (${effect === "unknown" ? "effect unknown" : effect.replace("_", " ")})`
    counts.set(word, (counts.get(word) ?? 0) + 1)
  }
  return [...counts].map(([word, count]) => (count === 1 ? word : `${word} × ${count}`)).join(", ")
}

/** How many recorded tool calls the command makes by itself when it runs again: those that its recorder told of are answered. */
const toolsExecutedBy = (tape: Tape): number =>
  tape.calls.filter(({ kind, isInferred }) => kind === "tool" && isInferred).length

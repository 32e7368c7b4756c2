import type { ReplaySource } from "@orangebox/reader"
import { type Blocking, type Certification, reasonText, reportText } from "@orangebox/replay"
import { type Painter, safeText, snakeJson } from "@orangebox/text"
import { shellWord } from "../next-command.js"
import type { GlobalOptions } from "../session.js"

/** A command that was started against a tape, and how it ended. */
export interface EndedCommand {
  readonly name: string
  readonly exitCode: number | null
  readonly signal: string | null
}

export interface ReplayResult {
  readonly source: ReplaySource
  readonly certification: Certification
  /** The run it was recorded as, and its command; undefined for the engine, which starts and writes nothing. */
  readonly replayed: { readonly runId: string; readonly command: EndedCommand } | undefined
}

const SHOWN_REASONS = 8

export function replayText(
  { source, certification, replayed }: ReplayResult,
  options: GlobalOptions,
  paint: Painter,
): string {
  const lines: string[] = []
  if (replayed) lines.push(paint(`orangebox: ${endWords(replayed.command)}`, "heading"))
  const numberOf = numbersOf(source)
  lines.push(...reportText(certification.report, { numberOf }).split("\n"))
  if (certification.issued) {
    const { id, scope } = certification.certificate
    lines.push(`  ${id}`, `  ${scope.says}`)
  } else {
    for (const { reason } of tellingFirst(certification.blocking).slice(0, SHOWN_REASONS)) {
      lines.push(`  because ${reasonText(reason, { numberOf })}`)
    }
    const hidden = certification.blocking.length - SHOWN_REASONS
    if (hidden > 0) lines.push(`  … and ${hidden} more (--json has them all)`)
  }
  if (replayed) lines.push(...nextLines(source, replayed.runId, options))
  return lines.join("\n")
}

/** The numbers by which people address the steps of the recorded run. */
export function numbersOf({ run }: ReplaySource): (stepId: string) => number | undefined {
  const numbers = new Map(run.view.steps.map(({ id, n }) => [id, n]))
  return (stepId) => numbers.get(stepId)
}

/** That two hashes differ says nothing that the other reasons do not say better. */
const tellingFirst = (blocking: readonly Blocking[]): readonly Blocking[] =>
  blocking.toSorted((a, b) => Number(a.condition === "fingerprint") - Number(b.condition === "fingerprint"))

/** The run as an argument of the commands we suggest. Never `last`: that is the replay by then. */
export const wordOf = ({ file, run }: ReplaySource): string => (file === undefined ? run.row.runId : shellWord(file))

/** The commands that go on from a replay. */
export function nextLines(source: ReplaySource, runId: string, options: GlobalOptions): string[] {
  const data = options.data === undefined ? "" : ` --data ${shellWord(options.data)}`
  return [`  show  orangebox show ${runId}${data}`, `  diff  orangebox diff ${wordOf(source)} ${runId}${data}`]
}

export function endWords({ name, exitCode, signal }: EndedCommand): string {
  const end = signal === null ? `exited with ${exitCode}` : `was ended by ${signal}`
  return `${safeText(name)} ${end}`
}

export function replayJson({ source, certification, replayed }: ReplayResult) {
  return {
    source_run: source.run.row.runId,
    run: replayed?.runId ?? null,
    driver: replayed ? "proxy" : "engine",
    certified: certification.issued,
    certificate: certification.issued ? certification.certificate : null,
    blocking: certification.issued ? [] : certification.blocking,
    report: certification.report,
    coverage: coverageJson(source),
    command: replayed ? commandJson(replayed.command) : null,
    behind_bytes: source.behindBytes,
  }
}

export const commandJson = ({ name, exitCode, signal }: EndedCommand) => ({ name, exit_code: exitCode, signal })

export const coverageJson = ({ problems }: ReplaySource) => snakeJson(problems)

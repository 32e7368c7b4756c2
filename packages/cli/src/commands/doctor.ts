import { adviceText } from "@orangebox/contract"
import { dataPath } from "@orangebox/reader"
import { padToWidth, plural, safeJson, safeText } from "@orangebox/text"
import type { Command } from "commander"
import type { Check } from "../doctor/check.js"
import { type Examination, examine } from "../doctor/examine.js"
import { EXIT, type ExitCode } from "../exit-code.js"
import { pasteable } from "../next-command.js"
import { bindShell, type GlobalOptions, prose, type Session } from "../session.js"
import type { Terminal } from "../terminal.js"

export function define(command: Command, session: Session): void {
  command
    .description(
      "Check the machine and the data folder, and send a canary run through the real path to prove that it arrives.",
    )
    .addHelpText(
      "after",
      prose(
        session,
        "The canaries are runs of the application orangebox-doctor: last never means one, runs lists them with --all, prune takes them like any other.\nExits with 1 when a check fails.",
      ),
    )
  bindShell(command, session, doctor, [["orangebox doctor", "is everything all right?"]])
}

async function doctor({ terminal }: Session, options: GlobalOptions): Promise<ExitCode> {
  const examination = await examine({
    dataFolder: dataPath(options.data),
    cwd: process.cwd(),
    env: process.env,
    nodeVersion: process.versions.node,
  })
  const folder = pasteable(options, "")
  const isWell = examination.checks.every(({ verdict }) => verdict !== "failed")
  terminal.out(
    options.json
      ? safeJson(examinationJson(examination, isWell, folder), 2)
      : examinationText(examination, terminal, folder),
  )
  return isWell ? EXIT.fine : EXIT.findings
}

const MARKS = { ok: "ok  ", warning: "warn", failed: "FAIL" } as const

function examinationText({ checks, isScratch, canaryRunId }: Examination, { paint }: Terminal, folder: string): string {
  const role = { ok: "dim", warning: "warn", failed: "bad" } as const
  const lines = checks.flatMap((check: Check) => [
    `${paint(MARKS[check.verdict], role[check.verdict])}  ${padToWidth(check.name, NAME_WIDTH)}  ${safeText(check.found)}`,
    ...(check.next === undefined ? [] : [`${" ".repeat(NAME_WIDTH + 8)}→ ${safeText(adviceText(check.next, folder))}`]),
  ])
  const failures = checks.filter(({ verdict }) => verdict === "failed").length
  const arrived = isScratch
    ? "the canary arrived (in a scratch folder, there is no data folder yet)"
    : `the canary arrived: ${canaryRunId}`
  const warnings = checks.filter(({ verdict }) => verdict === "warning").length
  const well = warnings === 0 ? "all well" : `nothing failed, ${plural(warnings, "warning")}`
  lines.push(failures === 0 ? `${well}, ${arrived}` : `${plural(failures, "check")} failed`)
  return lines.join("\n")
}

const NAME_WIDTH = 17

function examinationJson({ dataFolder, isScratch, canaryRunId, checks }: Examination, isWell: boolean, folder: string) {
  return {
    ok: isWell,
    data_folder: dataFolder,
    is_scratch: isScratch,
    canary_run_id: canaryRunId,
    checks: checks.map(({ name, verdict, found, next }) => ({
      name,
      verdict,
      found,
      next: next === undefined ? null : adviceText(next, folder),
    })),
  }
}

import type { Problem } from "@orangebox/contract"
import { leftOutWords, type RunVerdict, type StoreVerdict, type Trail, trailJson } from "@orangebox/reader"
import { formatMoment, formatTable, type Painter, plural, recordedText, recordedWord, snakeJson } from "@orangebox/text"
import { problemJson } from "../json-shapes.js"

/** Nothing in it breaks the contract. Being open does not. */
const isFine = ({ findings }: RunVerdict): boolean => findings.length === 0

/** As it was recorded, and recorded without a hole. */
export const isSound = (run: RunVerdict): boolean => isFine(run) && run.trail.failures.length === 0

/** Findings are listed as far as a person will read them; `--json` has them all. */
const MOST_SHOWN = 20

export function verdictText(
  { runs, findings, bodiesHashed }: StoreVerdict,
  expected: string | undefined,
  { paint, columns }: { readonly paint: Painter; readonly columns: number | undefined },
): string {
  const table = formatTable(
    [
      { title: "" },
      { title: "RUN" },
      { title: "STATUS" },
      { title: "EVENTS", align: "right" },
      { title: "BODIES" },
      { title: "DIGEST", minWidth: 15, dropRank: 1 },
    ],
    runs.map((run) => [
      !isFine(run) ? "BAD" : !isSound(run) ? "HOLES" : run.open.length > 0 ? "open" : "ok",
      run.runId,
      run.status,
      String(run.events),
      run.bodies.absent === 0 ? String(run.bodies.present) : `${run.bodies.present} +${run.bodies.absent} gone`,
      run.digest ?? "unknown",
    ]),
    columns === undefined ? {} : { width: columns },
  )
  const lines = runs.length > 0 ? [table] : []
  for (const run of runs) {
    lines.push(...listed(run.findings, (text) => paint(`✗ ${recordedWord(run.runId, 40)} ${text}`, "bad")))
    lines.push(...listed(run.declared, (text) => paint(`! ${recordedWord(run.runId, 40)} declared: ${text}`, "warn")))
    if (run.open.length > 0) {
      const why = run.endedBy ?? "no end is recorded so far"
      lines.push(`· ${run.runId} ${plural(run.openSteps, "step")} open: ${why}`)
    }
    lines.push(...trailLines(run))
    if (run.redacted.onMs !== null) lines.push(redactedText(run))
    if (expected !== undefined) {
      lines.push(
        run.digest === expected
          ? "= the digest is the same: nothing was changed"
          : run.digest === null
            ? paint("✗ the digest cannot be told: events are missing", "bad")
            : paint(
                `✗ the digest differs: expected ${expected}${run.redacted.events > 0 ? REDACTED_SINCE : ""}`,
                "bad",
              ),
      )
    }
  }
  lines.push(...listed(findings, (text) => paint(`✗ store: ${text}`, "bad")))
  if (bodiesHashed !== undefined && findings.length === 0) {
    lines.push(`· the database is sound, ${plural(bodiesHashed, "body", "bodies")} read and hashed`)
  }
  const total = findings.length + runs.reduce((sum, run) => sum + run.findings.length, 0)
  const different = expected !== undefined && runs.some(({ digest }) => digest !== expected) ? 1 : 0
  const holed = runs.filter(hasHoles).length
  const trails = holed === 0 ? "" : `; ${plural(holed, "run")} with holes in the trail`
  lines.push(`${plural(runs.length, "run")} verified, ${plural(total + different, "finding")}${trails}`)
  return lines.join("\n")
}

const REDACTED_SINCE = "; events were redacted, so a digest of before cannot be proven any more"

function redactedText({ runId, redacted: { events, bodies, onMs } }: RunVerdict): string {
  const what = [
    ...(events > 0 ? [plural(events, "event")] : []),
    ...(bodies > 0 ? [plural(bodies, "body", "bodies")] : []),
  ]
  const when = formatMoment(onMs ?? 0)
  const digest = events > 0 ? "; its digest is a new one, and certificates of before are void" : ""
  return `· ${recordedWord(runId, 40)} ${what.join(" and ")} redacted later (${when})${digest}: not corruption`
}

/** Not corruption: the run is as it was recorded, and what was recorded has holes. */
function trailLines({ runId, trail }: RunVerdict): string[] {
  const { failures, bypasses } = holesIn(trail)
  const unseen =
    trail.leftOut.bodies === 0
      ? []
      : [`! ${recordedWord(runId, 40)} its trail was not looked at wholly: ${leftOutWords(trail.leftOut)}`]
  if (failures + bypasses === 0) return unseen
  const what = `${plural(failures, "observability failure")} and ${plural(bypasses, "bypass", "bypasses")}`
  return [
    ...unseen,
    `! ${recordedWord(runId, 40)} its trail has holes: ${what}; see orangebox report ${recordedWord(runId, 40)}`,
  ]
}

const holesIn = ({ failures, bypasses }: Trail): { failures: number; bypasses: number } => ({
  failures: failures.length,
  bypasses: bypasses.filter(({ certainty }) => certainty === "certain").length,
})

const hasHoles = ({ trail }: RunVerdict): boolean => {
  const { failures, bypasses } = holesIn(trail)
  return failures + bypasses > 0
}

function listed(problems: readonly Problem[], line: (text: string) => string): string[] {
  const shown = problems.slice(0, MOST_SHOWN).map((problem) => line(problemText(problem)))
  return problems.length > MOST_SHOWN
    ? [...shown, line(`and ${problems.length - MOST_SHOWN} more of ${problems.length}; see them all with --json`)]
    : shown
}

function problemText({ code, subject, field, reason }: Problem): string {
  const where = [recordedWord(subject, 80), ...(field === "" ? [] : [recordedWord(field, 80)])].join(" ")
  return `${code} ${where}: ${recordedText(reason, 200)}`
}

export function verdictJson({ runs, findings, bodiesHashed }: StoreVerdict, expected: string | undefined) {
  return {
    runs: runs.map(
      ({ runId, status, events, openSteps, digest, bodies, redacted, findings, open, declared, trail }) => ({
        ...snakeJson({ runId, status, events, openSteps, digest, bodies }),
        digest_matches: expected === undefined ? null : digest === expected,
        redacted: {
          events: redacted.events,
          bodies: redacted.bodies,
          on: redacted.onMs === null ? null : new Date(redacted.onMs).toISOString(),
        },
        findings: findings.map(problemJson),
        open: open.map(problemJson),
        declared: declared.map(problemJson),
        trail: { ...trailJson(trail), left_out: trail.leftOut },
      }),
    ),
    findings: findings.map(problemJson),
    bodies_hashed: bodiesHashed ?? null,
  }
}

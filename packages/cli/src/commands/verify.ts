import type { Problem } from "@orangebox/contract"
import { formatTable, type Painter, plural, recordedText, recordedWord, safeJson } from "@orangebox/query"
import type { TraceReader } from "@orangebox/store"
import type { Command } from "commander"
import { EXIT, type ExitCode } from "../exit-code.js"
import { InputError } from "../failure.js"
import { problemJson } from "../json-shapes.js"
import { findRun } from "../reading/find-target.js"
import { withReading } from "../reading/open-reading.js"
import { examples, type GlobalOptions, type Session, shellOf } from "../session.js"
import { type RunVerdict, verifyRun } from "../verify/verify-run.js"
import { type StoreVerdict, verifyStore } from "../verify/verify-store.js"

interface VerifyOptions {
  readonly digest?: string
}

export function define(command: Command, session: Session): void {
  command
    .description(
      "Check recorded runs against every rule of the contract, their bodies against their hashes, and print digests.",
    )
    .argument("[run]", "one run; without it all runs, the database and every body")
    .option("--digest <sha256>", "prove that the run is what it was when it printed this digest")
    .addHelpText(
      "after",
      "\nExits with 1 when something is wrong. Open and crashed runs are reported as open; that is not an error.",
    )
    .addHelpText(
      "after",
      examples([
        ["orangebox verify", "everything"],
        ["orangebox verify last", "one run"],
        ["orangebox verify run_01JT9 --digest sha256:08da…", "nothing was changed since"],
      ]),
    )
    .action(shellOf<VerifyOptions>(session, verify))
}

function verify(session: Session, options: VerifyOptions & GlobalOptions, address?: string): Promise<ExitCode> {
  const expected = options.digest === undefined ? undefined : parseDigest(options.digest)
  if (expected !== undefined && address === undefined) {
    throw new InputError("USAGE", {
      what: "--digest is about one run",
      next: "Name the run: orangebox verify last --digest …",
    })
  }
  return withReading(session, options, async ({ store, caughtUp, freshness }) => {
    const bar = session.terminal.progress("verifying")
    let verdict: StoreVerdict
    try {
      verdict =
        address === undefined
          ? await verifyStore(store, caughtUp, { onProgress: bar.update })
          : { runs: await oneRun(store, address), findings: [] }
    } finally {
      bar.clear()
    }
    const changed = verdict.runs.filter(({ digest }) => expected !== undefined && digest !== expected)
    const isOk = changed.length === 0 && verdict.findings.length === 0 && verdict.runs.every(isFine)
    if (options.json) {
      const json = { ok: isOk, ...verdictJson(verdict, expected), ...freshness }
      session.terminal.out(safeJson(json, 2))
    } else {
      session.terminal.out(verdictText(verdict, expected, session.terminal.paint ?? ((text) => text)))
    }
    return isOk ? EXIT.fine : EXIT.findings
  })
}

async function oneRun(store: TraceReader, address: string): Promise<RunVerdict[]> {
  const { run } = await findRun(store, address)
  const verdict = await verifyRun(store, run.row.runId, { readBodies: true })
  return verdict ? [verdict] : []
}

function parseDigest(text: string): string {
  const digits = text.replace(/^sha256:/i, "").toLowerCase()
  if (/^[0-9a-f]{64}$/.test(digits)) return `sha256:${digits}`
  throw new InputError("USAGE", {
    what: "a digest is sha256: and 64 hex digits",
    next: "Copy the whole last line that orangebox show prints",
  })
}

const isFine = ({ findings }: RunVerdict): boolean => findings.length === 0

/** Findings are listed as far as somebody will read them; `--json` has them all. */
const MOST_SHOWN = 20

function verdictText(
  { runs, findings, bodiesHashed }: StoreVerdict,
  expected: string | undefined,
  paint: Painter,
): string {
  const table = formatTable(
    [
      { title: "" },
      { title: "RUN" },
      { title: "STATUS" },
      { title: "EVENTS", align: "right" },
      { title: "BODIES" },
      { title: "DIGEST" },
    ],
    runs.map((run) => [
      isFine(run) ? (run.open.length > 0 ? "open" : "ok") : "BAD",
      run.runId,
      run.status,
      String(run.events),
      run.bodies.absent === 0
        ? String(run.bodies.present)
        : `${run.bodies.present} (+${run.bodies.absent} pruned or redacted)`,
      run.digest,
    ]),
  )
  const lines = runs.length > 0 ? [table] : []
  for (const run of runs) {
    lines.push(...listed(run.findings, (text) => paint(`✗ ${recordedWord(run.runId, 40)} ${text}`, "bad")))
    lines.push(...listed(run.declared, (text) => paint(`! ${recordedWord(run.runId, 40)} declared: ${text}`, "warn")))
    if (run.open.length > 0) {
      const why = run.status === "crashed" ? "its process died" : "no end is recorded so far"
      lines.push(
        `· ${run.runId} ${plural(run.open.filter(({ code }) => code === "step_open").length, "step")} open: ${why}`,
      )
    }
    if (expected !== undefined) {
      lines.push(
        run.digest === expected
          ? "= the digest is the same: nothing was changed"
          : paint(`✗ the digest differs: expected ${expected}`, "bad"),
      )
    }
  }
  lines.push(...listed(findings, (text) => paint(`✗ store: ${text}`, "bad")))
  if (bodiesHashed !== undefined && findings.length === 0) {
    lines.push(`· the database is sound, ${plural(bodiesHashed, "body", "bodies")} read and hashed`)
  }
  const total = findings.length + runs.reduce((sum, run) => sum + run.findings.length, 0)
  const different = expected !== undefined && runs.some(({ digest }) => digest !== expected) ? 1 : 0
  lines.push(`${plural(runs.length, "run")} verified, ${plural(total + different, "finding")}`)
  return lines.join("\n")
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

function verdictJson({ runs, findings, bodiesHashed }: StoreVerdict, expected: string | undefined) {
  return {
    runs: runs.map((run) => ({
      run_id: run.runId,
      status: run.status,
      events: run.events,
      digest: run.digest,
      digest_matches: expected === undefined ? null : run.digest === expected,
      bodies: run.bodies,
      findings: run.findings.map(problemJson),
      open: run.open.map(problemJson),
      declared: run.declared.map(problemJson),
    })),
    findings: findings.map(problemJson),
    bodies_hashed: bodiesHashed ?? null,
  }
}

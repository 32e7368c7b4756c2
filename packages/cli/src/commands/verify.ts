import { safeJson } from "@orangebox/query"
import type { Command } from "commander"
import { EXIT, type ExitCode } from "../exit-code.js"
import { InputError } from "../failure.js"
import { findRun } from "../reading/find-target.js"
import { withReading } from "../reading/open-reading.js"
import { examples, type GlobalOptions, type Session, shellOf } from "../session.js"
import { isFine, verdictJson, verdictText } from "../verify/verdict-words.js"
import { verifyRun } from "../verify/verify-run.js"
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
          : { runs: [await verifyRun(store, await findRun(store, address), { readBodies: true })], findings: [] }
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

function parseDigest(text: string): string {
  const digits = text.replace(/^sha256:/i, "").toLowerCase()
  if (/^[0-9a-f]{64}$/.test(digits)) return `sha256:${digits}`
  throw new InputError("USAGE", {
    what: "a digest is sha256: and 64 hex digits",
    next: "Copy the whole last line that orangebox show prints",
  })
}

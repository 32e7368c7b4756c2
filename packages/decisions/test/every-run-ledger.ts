import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/**
 * A global set-up of the test runner: counts the runs whose decisions were looked at, in all its processes, and fails where tests of the
 * packages that record ran and not one run was looked at. A hook that fell off would otherwise be green for ever.
 */
export default function setup(project?: { readonly vitest?: { readonly state: { getPaths(): readonly string[] } } }) {
  const folder = mkdtempSync(join(tmpdir(), "orangebox-decisions-ledger-"))
  const ledger = join(folder, "ledger")
  writeFileSync(ledger, "")
  process.env["ORANGEBOX_DECISIONS_LEDGER"] = ledger
  return () => {
    const lines = readFileSync(ledger, "utf8").split("\n").filter(Boolean)
    rmSync(folder, { recursive: true, force: true })
    const paths = project?.vitest?.state.getPaths() ?? []
    tellLedger(lines, paths)
  }
}

/** More test files than somebody at work on one thing runs; a few may record nothing. */
const A_WHOLE_SUITE = 20

export function tellLedger(lines: readonly string[], paths: readonly string[]): void {
  const sum = (column: number): number => lines.reduce((total, line) => total + Number(line.split(" ")[column]), 0)
  const recording = paths.filter((path) => /packages\/(?:cli|decisions|proxy|recorder)\/test\//.test(path)).length
  if (sum(0) > 0) {
    console.log(`decisions of ${sum(0)} recorded runs fit the published schema, ${sum(1)} in all`)
  } else if (recording >= A_WHOLE_SUITE) {
    throw new Error(`${recording} test files of recording packages ran, and the decisions of no run were looked at`)
  }
}

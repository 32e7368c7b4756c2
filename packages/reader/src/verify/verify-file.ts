import type { Problem } from "@orangebox/contract"
import { plural } from "@orangebox/text"
import type { RunFile } from "../open/run-file.js"
import type { LoadedRun } from "../run/load-run.js"
import { type RunVerdict, verifyRun } from "./verify-run.js"

/**
 * An exported run: the file itself to the byte, then the run by every rule of the contract. A body that a whole file does not hold was not
 * there when it was written; of a damaged one nobody can tell, so its bodies are one finding and not one each.
 */
export async function verifyFile({ reader, problems }: RunFile, run: LoadedRun): Promise<Omit<RunVerdict, "trail">> {
  const { findings, declared, ...verdict } = await verifyRun(reader, run, { readBodies: true })
  const isMissing = ({ code }: Problem): boolean => code === "body_missing"
  if (problems.length === 0) {
    const missing = findings.filter(isMissing)
    return {
      ...verdict,
      findings: findings.filter((problem) => !isMissing(problem)),
      declared: [...declared, ...missing],
    }
  }
  const missing = [...findings, ...declared].filter(isMissing).length
  const others = (list: readonly Problem[]): Problem[] => list.filter((problem) => !isMissing(problem))
  return {
    ...verdict,
    findings: [...problems, ...(missing > 0 ? [notThere(run, missing)] : []), ...others(findings)],
    declared: others(declared),
  }
}

const notThere = (run: LoadedRun, count: number): Problem => ({
  code: "bodies_missing",
  severity: "error",
  subject: run.row.runId,
  field: "",
  reason: `${plural(count, "body", "bodies")} cannot be read: behind the damage, or not there when the file was written`,
})

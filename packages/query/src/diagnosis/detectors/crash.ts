import type { CaseFile } from "../case-file.js"
import { at, type Detected } from "../finding.js"

/** The process that wrote the run is gone, and left a step open. */
export function crash({ view }: CaseFile): Detected {
  if (view.crash === undefined || view.status !== "crashed") return []
  const n = view.crash.step ?? 1
  const step = view.steps[n - 1]!
  const { endedBy, pid, errorClass } = view.crash
  const partial = step.partials.map(({ role, byteSize }) => `${byteSize} bytes of its ${role} had come`)
  const how =
    endedBy === undefined || endedBy === "gone" ? "its process was gone without a word" : endedBy.replaceAll("_", " ")
  const words = [
    `the run stood in #${n} when it ended: ${how}`,
    ...(errorClass === undefined ? [] : ["an error is on record"]),
    ...partial,
  ]
  return [
    {
      detector: "crash",
      kind: endedBy ?? null,
      severity: "fatal",
      confidence: "proven",
      cause: n,
      fails: n,
      claim: `${words.join("; ")}${pid === undefined ? "" : ` (process ${pid})`}`,
      by: null,
      evidence: [at(step), ...step.partials.map(({ role }) => at(step, role))],
    },
  ]
}

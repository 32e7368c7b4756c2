import { payloadOf, textIn } from "@orangebox/contract"
import { type CaseFile, isBadOutcome } from "../case-file.js"
import { at, type Detected } from "../finding.js"
import { failurePoint } from "../rank.js"

/** The first call that changes something and that no good run of the same input made. Reading more, or other things, is no difference. */
export function siblingDivergence(file: CaseFile): Detected {
  const { view, siblings, writes, told } = file
  if (!isBadOutcome(file)) return []
  if (siblings.length === 0) return { notRun: "no good run of the same input is on record" }
  const ownWrites = view.steps.filter(({ n }) => writes.has(n))
  if (ownWrites.length === 0 && siblings.every(({ writes: theirs }) => theirs.length === 0))
    return { notRun: "no call is known to change anything" }
  const made = new Map(
    siblings.flatMap(({ runId, writes: theirs }) => theirs.map((one) => [one.signature, { ...one, runId }])),
  )
  const first = ownWrites.find((step) => {
    const signature = textIn(payloadOf(step.opened), "call_signature_hash")
    return signature !== undefined && !made.has(signature)
  })
  if (first === undefined) return []
  const [good] = siblings
  const theirs = good!.writes[ownWrites.indexOf(first)] ?? good!.writes.at(-1)
  return [
    {
      detector: "sibling_divergence",
      kind: null,
      severity: "harm",
      confidence: "likely",
      cause: first.n,
      fails: told.at ?? failurePoint(view),
      claim: `#${first.n} is the first change that none of ${siblings.length} good ${siblings.length === 1 ? "run" : "runs"} of the same input made`,
      by: null,
      evidence: [at(first, "args"), { ...at({ n: theirs?.n ?? 1 }), runId: good!.runId }],
    },
  ]
}

import { payloadOf, recordsIn, textIn } from "@orangebox/contract"
import { previousContext, type RecordedContext, recordedContexts } from "../../context/recorded-contexts.js"
import type { CaseFile } from "../case-file.js"
import { at, type Detected, type Finding } from "../finding.js"

const INSTRUCTIONS = new Set(["persona", "skill", "agent-profile"])

interface Instruction {
  readonly contributor: string
  readonly hash: string
  /** The same where only a time or a number in it changed. */
  readonly stableHash: string
}

/** An instruction that stood in the prompt before and is gone; worse where a rule was broken after that. */
export function lostInstruction({ view, evaluation }: CaseFile): Detected {
  const contexts = recordedContexts(view).filter(({ isAuxiliary }) => !isAuxiliary)
  let isAnyKnown = false
  const found: Finding[] = []
  for (const context of contexts) {
    const before = previousContext(contexts, context)
    const gone = before && goneBetween(before, context)
    if (before === undefined || gone === undefined) continue
    isAnyKnown = true
    if (gone.length === 0) continue
    const broken = violatedAfter({ view, evaluation }, context.n)
    found.push({
      detector: "lost_instruction",
      kind: broken === undefined ? null : "then_violated",
      severity: broken === undefined ? "notice" : "harm",
      confidence: "likely",
      cause: context.n,
      fails: broken ?? context.n,
      claim: `${gone.length === 1 ? "an instruction" : `${gone.length} instructions`} that #${before.n} was sent with ${gone.length === 1 ? "is" : "are"} not in the prompt of #${context.n}${broken === undefined ? "; no rule was seen broken after it" : `; a rule was broken in #${broken}`}`,
      by: null,
      evidence: [
        at(before.step, "request"),
        at(context.step, "request"),
        ...(broken === undefined ? [] : [at({ n: broken })]),
      ],
    })
  }
  if (contexts.length < 2) return []
  return isAnyKnown ? found : { notRun: "no two prompts of one conversation say what they were made of" }
}

/** Undefined where the two do not both tell. Who says more of an instruction is asked: the application, else the request. */
function goneBetween(before: RecordedContext, now: RecordedContext): readonly Instruction[] | undefined {
  for (const of of ["told", "derived"] as const) {
    const [old, fresh] = [instructionsOf(before[of]), instructionsOf(now[of])]
    if (old === undefined || fresh === undefined || old.length === 0) continue
    const hashes = new Set(fresh.flatMap(({ hash, stableHash }) => [hash, stableHash]))
    const missing = old.filter(({ hash, stableHash }) => !hashes.has(hash) && !hashes.has(stableHash))
    // One that was reworded is still there: only as many are gone as there are fewer of its contributor.
    return missing.filter(({ contributor }, index) => {
      const fewer = countOf(old, contributor) - countOf(fresh, contributor)
      return missing.slice(0, index).filter((other) => other.contributor === contributor).length < fewer
    })
  }
  return undefined
}

const countOf = (all: readonly Instruction[], contributor: string): number =>
  all.filter((one) => one.contributor === contributor).length

function instructionsOf(event: RecordedContext["told"]): readonly Instruction[] | undefined {
  if (event === undefined) return undefined
  return recordsIn(payloadOf(event), "segments").flatMap((segment) => {
    const hash = textIn(segment, "segment_hash") ?? textIn(segment, "content_ref")
    if (hash === undefined || !INSTRUCTIONS.has(textIn(segment, "kind") ?? "")) return []
    return [
      { contributor: textIn(segment, "contributor") ?? "?", hash, stableHash: textIn(segment, "stable_hash") ?? hash },
    ]
  })
}

/** The first step behind a call in which a rule was broken. */
function violatedAfter({ view, evaluation }: Pick<CaseFile, "view" | "evaluation">, n: number): number | undefined {
  const noOf = new Map(view.steps.map(({ id, n: no }) => [id, no]))
  const steps = (evaluation?.results ?? [])
    .filter(({ status }) => status === "fail")
    .flatMap(({ violations }) => violations.flatMap(({ pointers }) => pointers ?? []))
    .flatMap(({ step_id }) => noOf.get(step_id) ?? [])
  return steps.filter((no) => no >= n).sort((a, b) => a - b)[0]
}

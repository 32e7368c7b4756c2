import { type Answer, type CheckContext, defineRule, type Finding, noArguments, unknownAnswer } from "../rule.js"

export const trailComplete = defineRule({
  name: "trail.complete",
  form: "trail.complete",
  about:
    "The recording has no hole: every call with its prompt, every tool with its result, every change of a prompt on record, nothing past the recorder",
  example: "trail.complete",
  concerns: ["alignment", "policy"],
  judged: "end",
  read: noArguments,
  onRun: (_, _run, _actions, context) => judgeTrail(context),
})

function judgeTrail({ trail }: CheckContext): Answer {
  if (trail === undefined) return unknownAnswer("nobody looked for holes in the trail")
  const { failures, bypasses, pendingTools } = trail()
  const holes = [
    ...failures.map(({ failure, detail, stepId }) => ({ what: failure, detail, stepId })),
    ...bypasses
      .filter(({ certainty }) => certainty === "certain")
      .map(({ bypass, detail, stepId }) => ({ what: `bypass (${bypass})`, detail, stepId })),
  ]
  const findings = holes.map(
    ({ what, detail, stepId }): Finding => ({
      certainty: "sure",
      message: `${what}: ${detail}`,
      excerpt: null,
      pointers: stepId === null ? [] : [{ stepId, ref: null }],
    }),
  )
  return { findings, unknown: pendingTools > 0 ? "tools are still at work" : undefined }
}

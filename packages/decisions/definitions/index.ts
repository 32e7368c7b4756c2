import { z } from "zod"
import * as decision from "./decision-event.js"
import { JudgeAnswer, JudgeQuestion } from "./judge.js"

export const shared = decision

export const types = {
  BundleMessage: decision.BundleMessage,
  BundleTool: decision.BundleTool,
  DecisionArtifact: decision.DecisionArtifact,
  HumanOverride: decision.HumanOverride,
  PromptBundle: decision.PromptBundle,
  TextForm: decision.TextForm,
  Transformation: decision.Transformation,
  Violation: decision.Violation,
}

export const schemas = {
  DecisionEvaluation: decision.DecisionEvaluation,
  DecisionEvent: decision.DecisionEvent,
  JudgeAnswer,
  JudgeQuestion,
}

export function jsonSchemas(): Map<string, string> {
  const schema = z.toJSONSchema(decision.DecisionEvent, { target: "draft-2020-12" })
  return new Map([
    ["decision-event.schema.json", `${JSON.stringify({ title: "DecisionEvent 0.2", ...schema }, null, 2)}\n`],
  ])
}

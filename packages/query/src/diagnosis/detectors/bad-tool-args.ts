import { readJsonSchema, schemaProblems } from "@orangebox/decisions"
import { type CaseFile, isBadEnd, toolCallsOf } from "../case-file.js"
import { at, type Detected, type Finding } from "../finding.js"

/** A tool call whose arguments break the schema that its own request sent. */
export function badToolArgs({ view, askedTools }: CaseFile): Detected {
  if (askedTools.length === 0) {
    const asks = view.steps.some(({ model }) => (model?.requestedTools?.length ?? 0) > 0)
    return asks ? { notRun: "no request that offers tools is kept beside its answer" } : []
  }
  const found: Finding[] = []
  const tools = toolCallsOf(view)
  let isAnyRead = false
  for (const { callNo, callId, argsText, schema } of askedTools) {
    const read = schema === null ? undefined : readJsonSchema(inSmallLetters(schema))
    if (read === undefined || "reason" in read) continue
    isAnyRead = true
    const problem = problemOf(read.schema, argsText)
    const call = view.steps[callNo - 1]
    if (problem === undefined || call === undefined) continue
    const tool = tools.find((step) => callId !== null && step.tool?.callId === callId)
    const hasFailed = tool !== undefined && tool.status !== "success"
    const isMended =
      tool !== undefined &&
      tools.some((later) => later.n > tool.n && later.tool?.name === tool.tool?.name && later.status === "success")
    const isHarm = isBadEnd(view) ? !isMended : hasFailed && !isMended
    found.push({
      detector: "bad_tool_args",
      kind: problem,
      severity: isHarm ? "harm" : "notice",
      confidence: "proven",
      cause: callNo,
      fails: tool?.n ?? callNo,
      claim: `#${callNo} calls a tool with arguments that ${problem === "not_json" ? "are no JSON" : "break the schema its request sent"}${outcomeWords(tool?.n, hasFailed, isMended)}`,
      by: "the model",
      evidence: [at(call, "response"), at(call, "request"), ...(tool === undefined ? [] : [at(tool, "args")])],
    })
  }
  return isAnyRead ? found : { notRun: "the schemas of its tools use words that are not understood" }
}

function outcomeWords(n: number | undefined, hasFailed: boolean, isMended: boolean): string {
  if (n === undefined) return ""
  if (!hasFailed) return `; #${n} took them all the same`
  return isMended ? `; #${n} failed, and a later call succeeded` : `; #${n} failed`
}

function problemOf(schema: object, argsText: string): "not_json" | "schema" | undefined {
  // No arguments at all are how models say that there are none.
  if (argsText.trim() === "") return undefined
  let args: unknown
  try {
    args = JSON.parse(argsText)
  } catch {
    return "not_json"
  }
  return schemaProblems(schema, args).length > 0 ? "schema" : undefined
}

/** Some write the names of types in capitals. */
function inSmallLetters(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(inSmallLetters)
  if (typeof schema !== "object" || schema === null) return schema
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) =>
      key === "type" && typeof value === "string" ? [key, value.toLowerCase()] : [key, inSmallLetters(value)],
    ),
  )
}

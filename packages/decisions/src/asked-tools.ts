import type { ModelCall } from "./model-calls.js"
import { PromptReader } from "./prompt-bundle.js"
import type { RunReading } from "./read-run.js"

/** A tool call that a model made, beside what its own request said of the tool. */
export interface AskedTool {
  /** The number of the model call. */
  readonly callNo: number
  readonly callId: string | null
  readonly name: string
  /** JSON text as the model wrote it. */
  readonly argsText: string
  /** The schema in the request; null where the request offered the tool without one. */
  readonly schema: Readonly<Record<string, unknown>> | null
}

/** Every tool call with arguments whose request is kept and offered the tool. What the provider runs itself is its own affair. */
export function askedTools({ calls, bodies }: RunReading): readonly AskedTool[] {
  const prompts = new PromptReader(bodies)
  return calls.flatMap((call) => {
    const asked = call.answer.toolCalls.filter((one) => one.runsAt === "client" && one.arguments !== null)
    if (asked.length === 0 || isNotKept(call, bodies)) return []
    const offered = new Map(prompts.read(call).tools.map((tool) => [tool.name, tool]))
    return asked.flatMap(({ id, name, arguments: argsText }) => {
      const tool = offered.get(name)
      return tool === undefined || argsText === null
        ? []
        : [{ callNo: call.step.no, callId: id, name, argsText, schema: tool.schema }]
    })
  })
}

const isNotKept = ({ requestRef }: ModelCall, bodies: RunReading["bodies"]): boolean =>
  requestRef === null || bodies(requestRef) === undefined

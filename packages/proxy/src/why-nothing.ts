import { readFileSync } from "node:fs"
import { join } from "node:path"
import { plural } from "@orangebox/text"
import type { PlannedVariable } from "./client-variables.js"
import { clientCommand } from "./clients/client-command.js"
import type { SupervisedFacts } from "./proxy-supervisor.js"

/** What users of a certain command have to do before it can be recorded, unless it is done. */
export function hintsFor(command: readonly string[], home: string | undefined): string[] {
  const known = clientCommand(command)
  const recipe = known?.client.recipe
  if (!recipe) return []
  const { doneBy } = recipe
  const isDone =
    "argument" in doneBy
      ? known.args.some((argument) => doneBy.argument.test(argument))
      : doneBy.saying.test(contentOf(home, doneBy.file))
  return isDone ? [] : [recipe.lines(known.start, known.args).join("\n")]
}

function contentOf(home: string | undefined, file: string): string {
  try {
    return home ? readFileSync(join(home, file), "utf8") : ""
  } catch {
    return ""
  }
}

/** Why a recording is empty, as far as it can be known from here. Null when it is not empty. */
export function whyNothing(
  command: readonly string[],
  name: string,
  { stats, isRecording }: Pick<SupervisedFacts, "stats" | "isRecording">,
  variables: readonly PlannedVariable[],
): string | null {
  if (!isRecording)
    return "recording is off: the setting `enabled`, the variable ORANGEBOX, or a data folder that cannot be written"
  if (stats.modelCalls > 0) return null
  if (stats.linkedCalls > 0) return null
  if (stats.unrecorded > 0) return `${plural(stats.unrecorded, "request")} passed, but none could be recorded`
  if (stats.otherRequests > 0) return `${plural(stats.otherRequests, "request")} passed, none of them a call to a model`
  if (stats.refusedWebSockets > 0) {
    const others = stats.refused - stats.refusedWebSockets
    const more = others > 0 ? `, and ${plural(others, "request")} had no path that it forwards` : ""
    return `the proxy refused ${plural(stats.refusedWebSockets, "request")} for a WebSocket: model calls are recorded over HTTP${more}`
  }
  if (stats.refused > 0) return `${plural(stats.refused, "request")} reached the proxy without a path it forwards`
  const names = variables.map((variable) => variable.name).join(", ")
  const client = clientCommand(command)?.client
  const reason = client ? `${client.name}: ${client.elsewhere}` : GENERAL_REASON
  return `${name} made no request through the proxy. It was given these variables: ${names}. ${reason}`
}

const GENERAL_REASON =
  "Either it called no model, or it takes its address from somewhere else: a settings file, a flag, a base URL in its code. " +
  "Name another variable it reads, or write the address of the proxy where it looks: `orangebox run --port 4000` keeps the same one"

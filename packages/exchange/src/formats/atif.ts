import { derivedIds, type TokenUsage } from "@orangebox/contract"
import { ConversationTeller } from "./conversation-teller.js"
import type { SessionPlaces } from "./session-file.js"
import { contentText, countOf, type Json, jsonText, listOf, numberOf, recordOf, timeOf, wordOf } from "./told-values.js"

/*
 * ATIF (Agent Trajectory Interchange Format) 1.4 to 1.7: one JSON document.
 *
 *   run          the trajectory (`trajectory_id`, else `session_id`)
 *   child run    `subagent_trajectories`, embedded; named by `subagent_trajectory_ref` in an observation
 *   model call   a step of `source: agent`; one with `is_copied_context` was made elsewhere
 *   usage        `metrics`: prompt tokens include the cached ones
 *   tools        `tool_calls` and the results in `observation`
 *   time         of the step; where a step has none, that of the one before it
 *   absent       wire bytes; the system prompt is there only if a step of `source: system` holds it
 */
export const ATIF = "import:atif"

const VERSION = /^ATIF-v1\.(\d+)$/

export const isAtif = (value: unknown): boolean => {
  const { schema_version, steps } = recordOf(value)
  return typeof schema_version === "string" && schema_version.startsWith("ATIF") && Array.isArray(steps)
}

export function readAtif(value: unknown, places: SessionPlaces & { readonly session: string }): void {
  const document = recordOf(value)
  const version = VERSION.exec(String(document["schema_version"]))?.[1]
  if (version === undefined) {
    places.problem({
      line: undefined,
      reason: `${String(document["schema_version"]).slice(0, 40)} is no version 1 of ATIF: nothing is taken`,
    })
    return
  }
  if (Number(version) < 4 || Number(version) > 7)
    places.problem({
      line: undefined,
      reason: `ATIF 1.${version} is read like 1.7; what it adds or lacks is not known here`,
    })
  const root = wordOf(document["session_id"]) ?? wordOf(document["trajectory_id"]) ?? places.session
  tellTrajectory(document, { ...places, root, parent: undefined })
}

interface Place extends SessionPlaces {
  readonly session: string
  readonly root: string
  readonly parent: { readonly runId: string; readonly stepId: string | undefined } | undefined
}

function tellTrajectory(document: Json, place: Place): void {
  const steps = listOf(document["steps"]).map(recordOf)
  const agent = recordOf(document["agent"])
  const name = wordOf(document["trajectory_id"]) ?? wordOf(document["session_id"]) ?? place.session
  const firstAtMs = steps.map(({ timestamp }) => timeOf(timestamp)).find((at) => at !== undefined)
  const hasTimes = firstAtMs !== undefined
  const startedAtMs = firstAtMs ?? 0
  const traceId = derivedIds.trace(`${ATIF}\0${place.root}`)
  const told = new ConversationTeller(
    { source: ATIF, name, startedAtMs, traceId, conversationId: wordOf(document["session_id"]) },
    place.emit,
  )
  const prompt = steps.find(({ source }) => source === "user")
  told.start("start", startedAtMs, {
    app: wordOf(agent["name"]) ?? "atif",
    entrypoint: "trajectory",
    input: prompt === undefined ? undefined : contentText(prompt["message"]),
    agentVersion: wordOf(agent["version"]),
    attributes: {
      schema_version: document["schema_version"],
      not_in_the_record: hasTimes ? "wire bytes" : "wire bytes, times",
      ...(wordOf(document["notes"]) === undefined ? {} : { notes: document["notes"] }),
    },
    links:
      place.parent === undefined
        ? []
        : [
            {
              kind: "spawned_by",
              trace_id: traceId,
              run_id: place.parent.runId,
              ...(place.parent.stepId === undefined ? {} : { step_id: place.parent.stepId }),
            },
          ],
  })
  let atMs = startedAtMs
  let messages: unknown[] = []
  const startedBy = new Map<string, string>()
  for (const [index, step] of steps.entries()) {
    const at = timeOf(step["timestamp"])
    const beforeMs = atMs
    atMs = at === undefined ? atMs : Math.max(atMs, at)
    const key = `step ${index}`
    const text = contentText(step["message"])
    if (step["is_copied_context"] === true) {
      messages.push({ role: step["source"], content: step["message"] })
    } else if (step["source"] === "agent") {
      tellCall(told, step, { key, calledAtMs: beforeMs, endedAtMs: atMs, text, messages, agent })
      messages = []
      for (const [callId, ref] of tellTools(told, step, key, atMs)) startedBy.set(ref, callId)
    } else if (step["source"] === "user") {
      messages.push({ role: "user", content: step["message"] })
      told.prompt(key, atMs, text)
    } else {
      messages.push({ role: "system", content: step["message"] })
      told.log(key, atMs, "info", text, { source: String(step["source"]) })
    }
  }
  told.complete("end", "the end of the trajectory")
  for (const child of listOf(document["subagent_trajectories"]).map(recordOf)) {
    const id = wordOf(child["trajectory_id"]) ?? wordOf(child["session_id"])
    const stepId = id === undefined ? undefined : startedBy.get(id)
    const session = id ?? `${name}/sub-agent`
    tellTrajectory(child, { ...place, session, parent: { runId: told.teller.run.runId, stepId } })
  }
}

interface CallPlace {
  readonly key: string
  readonly calledAtMs: number
  readonly endedAtMs: number
  readonly text: string
  readonly messages: readonly unknown[]
  readonly agent: Json
}

function tellCall(told: ConversationTeller, step: Json, place: CallPlace): void {
  const metrics = recordOf(step["metrics"])
  const tools = listOf(step["tool_calls"]).map(recordOf)
  const cost = numberOf(metrics["cost_usd"])
  told.call({
    key: place.key,
    calledAtMs: place.calledAtMs,
    endedAtMs: place.endedAtMs,
    provider: wordOf(recordOf(place.agent["extra"])["provider"]) ?? "unknown",
    model: wordOf(step["model_name"]) ?? wordOf(place.agent["model_name"]) ?? null,
    messages: place.messages,
    response: {
      role: "assistant",
      content: step["message"] ?? null,
      ...(step["reasoning_content"] === undefined ? {} : { reasoning_content: step["reasoning_content"] }),
      ...(tools.length === 0 ? {} : { tool_calls: tools }),
    },
    usage: usageOf(metrics),
    usageAsTold: Object.keys(metrics).length === 0 ? undefined : withoutTokenLists(metrics),
    finishReason: null,
    text: place.text,
    tools: tools.map((tool) => ({
      id: wordOf(tool["tool_call_id"]) ?? null,
      name: wordOf(tool["function_name"]) ?? "?",
    })),
    attributes: cost === null ? {} : { told_cost_usd: cost },
  })
}

/** Ids of tool calls are one trajectory's own, some programs begin anew in every step. */
function tellTools(told: ConversationTeller, step: Json, key: string, atMs: number): [stepId: string, ref: string][] {
  const results = listOf(recordOf(step["observation"])["results"]).map(recordOf)
  const tools = listOf(step["tool_calls"]).map(recordOf)
  const idOf = (tool: Json, at: number): string => `${wordOf(tool["tool_call_id"]) ?? `${key}.${at}`}`
  const pairs: [string, string][] = []
  for (const [at, tool] of tools.entries()) {
    const callId = idOf(tool, at)
    told.tool({
      key: `${key}\0${at}`,
      atMs,
      callId,
      name: wordOf(tool["function_name"]) ?? "?",
      argumentText: jsonText(tool["arguments"] ?? {}),
    })
    const opened = told.toolStep(callId)
    const own = results.filter(
      (result, place) =>
        (wordOf(result["source_call_id"]) ?? (tools.length === 1 && place === at ? callId : undefined)) === callId,
    )
    const refs = own.flatMap((result) => listOf(result["subagent_trajectory_ref"]).map(recordOf))
    for (const ref of refs) {
      const id = wordOf(ref["trajectory_id"]) ?? wordOf(ref["session_id"])
      if (id !== undefined && opened !== undefined) pairs.push([opened.id, id])
    }
    if (own.length > 0) {
      const text = own.map(({ content }) => contentText(content)).join("\n")
      told.result({ key: `${key}\0${at}`, atMs, callId, text, isError: null })
    }
  }
  const known = new Set(tools.map(idOf))
  for (const [at, result] of results.entries()) {
    const callId = wordOf(result["source_call_id"])
    if (callId === undefined ? tools.length !== 1 : !known.has(callId))
      told.log(`${key}\0result ${at}`, atMs, "info", contentText(result["content"]), { observation: true })
  }
  return pairs
}

function usageOf(metrics: Json): TokenUsage {
  const prompt = countOf(metrics["prompt_tokens"])
  const completion = countOf(metrics["completion_tokens"])
  return {
    prompt,
    completion,
    total: prompt === null || completion === null ? null : prompt + completion,
    cache_read: countOf(metrics["cached_tokens"]),
    cache_write: null,
    reasoning: null,
  }
}

/** Token ids and their probabilities are as long as the text again. */
const withoutTokenLists = (metrics: Json): Json =>
  Object.fromEntries(Object.entries(metrics).filter(([, value]) => !Array.isArray(value)))

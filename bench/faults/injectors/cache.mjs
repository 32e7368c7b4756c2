/** What breaks a cache, by class: how the second half of a conversation differs from the first, and who the segment belongs to that changes first. */
import { openAgent } from "../agent.mjs"
import { lastCall } from "./places.mjs"

/** Only where a request says itself what is to be kept. */
const MARKED = { protocol: ["anthropic"] }

export const CACHE_FAULTS = {
  volatile_value: {
    segment: "system",
    change(agent) {
      agent.system = [agent.system[0].replace("12:00:00", "12:07:31")]
    },
  },
  tools_changed: {
    segment: "tool:edit",
    change(agent) {
      agent.offered = agent.offered.map((tool, at) =>
        at === 1 ? { ...tool, schema: { ...tool.schema, required: [] } } : tool,
      )
    },
  },
  unstable_serialisation: {
    segment: "tool:read",
    change(agent) {
      const [tool, ...others] = agent.offered
      const { type, properties, required } = tool.schema
      agent.offered = [{ ...tool, schema: { required, properties, type } }, ...others]
    },
  },
  content_changed: {
    segment: "system",
    change(agent) {
      agent.system = [agent.system[0].replace("small steps", "large steps")]
    },
  },
  history_rewritten: {
    segment: "user",
    change(agent) {
      // What a person said: words of the model or of a tool that nobody recorded would be a bypass as well.
      agent.turns = [{ user: "The date test fails, I think. Fix it." }, ...agent.turns.slice(1)]
    },
  },
  model_changed: {
    change(agent) {
      agent.model = agent.protocol.other
    },
  },
  params_changed: {
    shapes: MARKED,
    change(agent) {
      agent.more = { tool_choice: { type: "any" } }
    },
  },
  mark_missing: {
    shapes: MARKED,
    change(agent) {
      agent.marks = "none"
    },
  },
}

/** A conversation whose cache breaks between two calls. */
export async function layCacheFault(place, cause) {
  const agent = await openAgent({ ...place, shape: { ...place.shape, isSub: false } })
  agent.system = [`It is 12:00:00. ${agent.system[0]}`]
  await agent.work(2)
  const { change, segment } = CACHE_FAULTS[cause]
  change(agent)
  await agent.ask({ text: "Done." })
  return { runId: await agent.finish(), cause: lastCall(agent), kind: cause, segment }
}

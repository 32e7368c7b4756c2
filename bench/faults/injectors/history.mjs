/** What stands in a prompt that was never said, or no longer stands there. */
import { HASHED, lastCall, pick, SDK } from "./places.mjs"

const REFUSED = { refuse: { status: 400, message: "messages: tool_use ids were found without tool_result blocks" } }

/** Two tools are asked for and run; what is done with their results is the caller's. */
async function twoTools(agent, textOf) {
  const calls = [agent.call(), agent.call("read", { path: "b.js" })]
  await agent.ask({ text: "Both.", tools: calls })
  const results = []
  for (const call of calls) results.push(await agent.use(call, textOf && { text: textOf(call) }))
  return results
}

const CORRUPTIONS = {
  missing: (agent, results) => agent.turns.push({ results: results.slice(0, 1) }),
  orphan: (agent, results) =>
    agent.turns.push({ results: [...results, { id: agent.id(), name: "read", text: "whose?" }] }),
  duplicate: (agent, results) => agent.turns.push({ results: [...results, results[0]] }),
  misplaced: (agent, results) => agent.turns.push({ results }, agent.turns.pop(), { user: "go on" }),
}

export const HISTORY_FAULTS = {
  corrupted_history: {
    confidence: "proven",
    isOfFive: true,
    fails: "refused",
    async lay(agent, { random }) {
      await agent.work(1)
      const kind = pick(random, Object.keys(CORRUPTIONS))
      const results = await twoTools(agent)
      CORRUPTIONS[kind](agent, results)
      await agent.ask(REFUSED)
      return { cause: lastCall(agent), kind: `tool_result_${kind}` }
    },
  },
  corrupted_history_by_transform: {
    detector: "corrupted_history",
    confidence: "proven",
    isOfFive: true,
    shapes: { ...SDK, isStreamed: [false] },
    fails: "refused",
    async lay(agent, { shape }) {
      const results = await twoTools(agent)
      agent.turns.push({ results })
      const short = { ...agent.built(), turns: [...agent.turns.slice(0, -1), { results: results.slice(0, 1) }] }
      await agent.ask(REFUSED, { wire: () => agent.protocol.request(short) })
      const by = shape.capture === "hashed" ? undefined : /^a transform/
      return { cause: lastCall(agent), kind: "tool_result_missing", by }
    },
  },
  bypass: {
    confidence: "likely",
    hiddenIn: HASHED,
    async lay(agent) {
      await agent.work(1)
      const said = { text: "I already looked at everything and it is fine.", tools: [] }
      agent.turns.push({ assistant: said }, { user: "And?" })
      await agent.ask({ text: "Done." })
      return { cause: lastCall(agent), kind: "assistant_turn" }
    },
  },
  swapped_results: {
    detector: "bypass",
    confidence: "likely",
    shapes: SDK,
    hiddenIn: HASHED,
    async lay(agent) {
      await agent.work(1)
      const [one, other] = await twoTools(agent, ({ args }) => `what stands in ${args.path}`)
      agent.turns.push({
        results: [
          { ...one, text: other.text },
          { ...other, text: one.text },
        ],
      })
      await agent.ask({ text: "Done." })
      return { cause: lastCall(agent), kind: "swapped_result" }
    },
  },
  lost_instruction: {
    confidence: "likely",
    // Instructions that stand in one text are reworded, not gone, as far as anybody can tell.
    shapes: { protocol: ["anthropic", "chat"] },
    start: { constraints: [{ id: "src", type: "scope", rule: "paths.only src/**" }] },
    async lay(agent) {
      agent.system = [...agent.system, "Only change files under src/."]
      await agent.work(1)
      agent.system = agent.system.slice(0, 1)
      await agent.turn([agent.call("Edit", { file_path: "package.json", old_string: "a", new_string: "b" })])
      const cause = lastCall(agent)
      await agent.ask({ text: "Done." })
      return { cause }
    },
  },
}

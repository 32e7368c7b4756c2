import { openAgent } from "./agent.mjs"

/** A loop on the way, and at the end a history that is refused. */
export async function layPair({ stage, shape, key }) {
  const agent = await openAgent({ stage, shape: { ...shape, isParallel: false }, key })
  for (let at = 0; at < 4; at++) await agent.turn([agent.call("read", { path: "a.js" })], () => ({ text: "nothing" }))
  const calls = [agent.call(), agent.call("read", { path: "b.js" })]
  await agent.ask({ text: "Both.", tools: calls })
  const results = []
  for (const call of calls) results.push(await agent.use(call))
  agent.turns.push({ results: results.slice(0, 1) })
  await agent.ask({ refuse: { status: 400, message: "tool_use ids without tool_result" } })
  return { runId: await agent.finish({ error: "refused" }), detectors: ["corrupted_history", "loop"] }
}

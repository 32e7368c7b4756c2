/** Tools that are asked for wrongly, run wrongly or not at all, and what is made of it. */
import { openAgent } from "../agent.mjs"
import { HASHED, lastCall, lastTool, pick, SDK } from "./places.mjs"

const ONLY_SRC = { constraints: [{ id: "src", type: "scope", rule: "paths.only src/**" }] }

export const TOOL_FAULTS = {
  orphan_tool_call: {
    confidence: "proven",
    shapes: SDK,
    async lay(agent) {
      await agent.work(1)
      const calls = [agent.call(), agent.call("edit", { path: "b.js" })]
      await agent.ask({ text: "Both.", tools: calls })
      const cause = lastCall(agent)
      const result = await agent.use(calls[0])
      agent.turns.push({ results: [result, { id: calls[1].id, name: "edit", text: "cancelled" }] })
      await agent.ask({ text: "Done." })
      return { cause }
    },
  },
  loop: {
    confidence: "proven",
    shapes: { isParallel: [false] },
    async lay(agent, { random }) {
      await agent.work(1)
      const cause = { tool: agent.tools + 1 }
      const paths = pick(random, [["a.js"], ["a.js", "b.js"]])
      for (let at = 0; at < 4; at++) {
        for (const path of paths)
          await agent.turn([agent.call("read", { path })], () => ({ text: `nothing in ${path}` }))
      }
      await agent.ask({ text: "Hm." })
      return { cause }
    },
  },
  loop_of_answers: {
    detector: "loop",
    confidence: "proven",
    hiddenIn: HASHED,
    fails: "too many turns",
    async lay(agent) {
      await agent.work(1)
      const cause = { model: agent.calls + 1 }
      for (let at = 0; at < 5; at++) {
        await agent.ask({ text: "I will now run the tests and look at what they say." })
        agent.turns.push({ user: "Do it then." })
      }
      return { cause, kind: "same_answer" }
    },
  },
  false_success: {
    confidence: "proven",
    shapes: SDK,
    async lay(agent) {
      await agent.work(1)
      const test = agent.run.step("test")
      test.artifact({ id: "t1", type: "test_run", summary: "tests", content: "1 failed", exitCode: 1 })
      await agent.ask({ text: "All good." })
      return { cause: { named: "test" } }
    },
  },
  ignored_tool_error: {
    confidence: "likely",
    shapes: SDK,
    async lay(agent) {
      await agent.work(1)
      await agent.turn([agent.call("save", { path: "out.js" })], () => ({ error: "locked", effect: "write" }))
      const cause = lastTool(agent)
      await agent.ask({ text: "Saved." })
      return { cause, kind: "write" }
    },
  },
  bad_tool_args: {
    confidence: "proven",
    hiddenIn: HASHED,
    fails: "path must be a string",
    async lay(agent) {
      await agent.work(1)
      await agent.turn([agent.call("edit", { path: 5, lines: "ten" })], () => ({ error: "path must be a string" }))
      return { cause: lastCall(agent) }
    },
  },
  unknown_tool: {
    confidence: "proven",
    async lay(agent) {
      await agent.work(1)
      const call = agent.call("format_disk", { path: "/" })
      await agent.ask({ text: "Let me.", tools: [call] })
      const cause = lastCall(agent)
      agent.turns.push({ results: [{ id: call.id, name: call.name, text: "there is no such tool", isError: true }] })
      await agent.ask({ text: "Then not." })
      return { cause }
    },
  },
  constraint_violation: {
    confidence: "proven",
    hiddenIn: HASHED,
    start: ONLY_SRC,
    async lay(agent) {
      await agent.turn([agent.call("Edit", { file_path: "infra/main.tf", old_string: "a", new_string: "b" })])
      const cause = lastTool(agent)
      await agent.ask({ text: "Done." })
      return { cause }
    },
  },
  sibling_divergence: {
    confidence: "likely",
    shapes: SDK,
    async play(place) {
      const booked = async (seats, error) => {
        const agent = await openAgent(place)
        for (const seat of seats)
          await agent.turn([agent.call("save", { path: seat })], () => ({ text: "ok", effect: "write" }))
        const cause = lastTool(agent)
        return { runId: await agent.finish(error ? { error } : {}), cause }
      }
      await booked(["1A", "1B"])
      return booked(["1A", "9F"], "the guest complained")
    },
  },
}

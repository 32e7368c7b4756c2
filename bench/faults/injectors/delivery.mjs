/** Processes that die, and messages that go astray. */
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { openAgent } from "../agent.mjs"
import { pick, SDK } from "./places.mjs"

const CRASHING_AGENT = fileURLToPath(new URL("../crashing-agent.mjs", import.meta.url))
const CRASHED_IN = { before: { model: 2 }, stream: { model: 2 }, tool: { tool: 2 }, between: { step: 1 } }

const enqueued = (agent, key) =>
  agent.run.queue.enqueue({
    messageId: `m-${key}`,
    sourceConversationId: "c-0",
    targetConversationId: `c-${key}`,
  })

export const DELIVERY_FAULTS = {
  crash: {
    confidence: "proven",
    isOfFive: true,
    shapes: { ...SDK, isSub: [false], isParallel: [false] },
    async play({ stage, shape, key, random }) {
      const phases = Object.keys(CRASHED_IN).filter((phase) => phase !== "stream" || shape.isStreamed)
      const phase = pick(random, phases)
      stage.server.putUp(key, {
        text: "Next.",
        tools: [{ id: `call_${key}_1`, name: "read", args: { path: "a.js" } }],
      })
      stage.server.putUp(key, {
        text: "I will now think about this for a while and then say more about it.",
        breaksOff: true,
        hangs: true,
      })
      const plan = JSON.stringify({ folder: stage.folder, origin: stage.server.origin, shape, key, phase })
      const child = spawn(process.execPath, [CRASHING_AGENT, plan], { stdio: ["ignore", "pipe", "inherit"] })
      let said = ""
      child.stdout.on("data", (text) => (said += text))
      await new Promise((resolve) => child.once("close", resolve))
      return { runId: said.trim(), cause: CRASHED_IN[phase] }
    },
  },
  double_delivery: {
    confidence: "proven",
    isOfFive: true,
    shapes: SDK,
    async lay(agent, { key, random }) {
      const message = enqueued(agent, key)
      agent.run.queue.deliver(message)
      agent.run.queue.deliver(message, { redelivered: random() < 0.5 })
      await agent.work(1)
      return { cause: { queue: 3 } }
    },
  },
  double_delivery_across_runs: {
    detector: "double_delivery",
    confidence: "proven",
    isOfFive: true,
    shapes: SDK,
    async play(place) {
      const first = await openAgent(place)
      const message = enqueued(first, place.key)
      first.run.queue.deliver(message)
      await first.work(1)
      await first.finish()
      const second = await openAgent(place)
      second.run.queue.deliver(message)
      return { runId: await second.finish(), cause: { queue: 1 } }
    },
  },
  misroute: {
    confidence: "proven",
    isOfFive: true,
    shapes: SDK,
    async lay(agent, { key }) {
      await agent.work(1)
      agent.run.queue.deliver(enqueued(agent, key), { conversationId: "c-other" })
      return { cause: { queue: 2 } }
    },
  },
}

/** Runs that look like trouble and are none. */
import { Agent } from "./agent.mjs"

const isSdk = ({ door }) => door === "sdk"
const opened = ({ stage, shape, key }, start) => new Agent(stage, shape, key, start).open()

export const CLEAN_TWINS = {
  "a long good run": {
    async play(place) {
      const agent = await opened(place)
      for (let at = 0; at < 12; at++) await agent.turn([agent.call("read", { path: `src/file-${at}.js` })])
      await agent.ask({ text: "Fixed." })
      return agent.finish()
    },
  },
  "errors that were recovered from": {
    async play(place) {
      const agent = await opened(place)
      await agent.turn([agent.call("save", { path: "a.js" })], () => ({ error: "locked", effect: "write" }))
      await agent.turn([agent.call("save", { path: "a.js" })], () => ({ text: "saved", effect: "write" }))
      await agent.turn([agent.call("edit", { path: 5 })], () => ({ error: "path must be a string" }))
      await agent.turn([agent.call("edit", { path: "a.js" })])
      await agent.ask({ text: "Fixed." })
      return agent.finish()
    },
  },
  "a retry that succeeded": {
    has: ({ isStreamed }) => !isStreamed,
    async play(place) {
      const agent = await opened(place)
      await agent.work(1)
      place.stage.server.putUp(place.key, { refuse: { status: 529, message: "overloaded" } })
      await agent.send(agent.built())
      await agent.ask({ text: "Fixed." })
      return agent.finish()
    },
  },
  polling: {
    async play(place) {
      const agent = await opened({ ...place, shape: { ...place.shape, isParallel: false } })
      for (let at = 0; at < 8; at++)
        await agent.turn([agent.call("read", { path: "status" })], () => ({ text: `${at} of 8` }))
      await agent.ask({ text: "It is done." })
      return agent.finish()
    },
  },
  "delivered again after a failure": {
    has: isSdk,
    async play(place) {
      const agent = await opened(place)
      const message = agent.run.queue.enqueue({
        messageId: `m-${place.key}`,
        sourceConversationId: "c-0",
        targetConversationId: `c-${place.key}`,
      })
      agent.run.queue.deliver(message, { err: new Error("not now") })
      agent.run.queue.deliver(message, { redelivered: true })
      await agent.work(1)
      return agent.finish()
    },
  },
  "one message for each of two": {
    has: isSdk,
    async play(place) {
      const agent = await opened(place)
      for (const to of ["a", "b"]) {
        const message = agent.run.queue.enqueue({
          messageId: `m-${place.key}-${to}`,
          sourceConversationId: "c-0",
          targetConversationId: `c-${to}`,
        })
        agent.run.queue.deliver(message, { conversationId: `c-${to}` })
      }
      await agent.work(1)
      return agent.finish()
    },
  },
  "rules that were kept": {
    async play(place) {
      const agent = await opened(place, { constraints: [{ id: "src", type: "scope", rule: "paths.only src/**" }] })
      await agent.turn([agent.call("Edit", { file_path: "src/a.js", old_string: "a", new_string: "b" })])
      await agent.ask({ text: "Done." })
      return agent.finish()
    },
  },
  "tests that went from red to green": {
    has: isSdk,
    async play(place) {
      const agent = await opened(place)
      for (const exitCode of [1, 0]) {
        agent.run
          .step("test")
          .artifact({ id: `t${exitCode}`, type: "test_run", summary: "tests", content: "…", exitCode })
        await agent.work(1)
      }
      return agent.finish()
    },
  },
  "a good run beside a good run": {
    has: isSdk,
    async play(place) {
      const ids = []
      for (const seat of ["1A", "2B"]) {
        const agent = await opened(place)
        await agent.turn([agent.call("save", { path: seat })], () => ({ text: "ok", effect: "write" }))
        ids.push(await agent.finish())
      }
      return ids
    },
  },
}

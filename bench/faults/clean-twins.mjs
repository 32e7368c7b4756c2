/**
 * Runs that look like trouble and are none. Fields as in the table of faults: `shapes`, `start`, `lay(agent, place)`, and `play(place)`, which returns the
 * ids of its runs, where one agent is not enough; `output` is what the run comes to.
 */
import { openAgent } from "./agent.mjs"
import { SDK } from "./injectors/places.mjs"

const ONE_AT_A_TIME = { isParallel: [false] }
const WHOLE = { isStreamed: [false] }

const examples = [
  { user: "Is it good? I love it" },
  { assistant: { text: "good", tools: [] } },
  { user: "Is it good? I hate it" },
  { assistant: { text: "bad", tools: [] } },
]

export const CLEAN_TWINS = {
  "a long good run": {
    async lay(agent) {
      for (let at = 0; at < 12; at++) await agent.turn([agent.call("read", { path: `src/file-${at}.js` })])
      await agent.ask({ text: "Fixed." })
    },
  },
  "errors that were recovered from": {
    async lay(agent) {
      await agent.turn([agent.call("save", { path: "a.js" })], () => ({ error: "locked", effect: "write" }))
      await agent.turn([agent.call("save", { path: "a.js" })], () => ({ text: "saved", effect: "write" }))
      await agent.turn([agent.call("edit", { path: 5 })], () => ({ error: "path must be a string" }))
      await agent.turn([agent.call("edit", { path: "a.js" })])
      await agent.ask({ text: "Fixed." })
    },
  },
  "a file that could not be edited and was written anew": {
    shapes: SDK,
    async lay(agent) {
      await agent.turn([agent.call("edit", { path: "src/date.js" })], () => ({ error: "no match", effect: "write" }))
      await agent.turn([agent.call("save", { path: "src/date.js" })], () => ({ text: "saved", effect: "write" }))
      await agent.ask({ text: "Fixed." })
    },
  },
  "a failure that the answer owns up to": {
    shapes: { ...SDK, capture: ["full", "redacted"] },
    output: "I could not save it: permission denied.",
    async lay(agent) {
      await agent.turn([agent.call("save", { path: "/etc/x" })], () => ({
        error: "permission denied",
        effect: "write",
      }))
      await agent.ask({ text: "I could not save it: permission denied." })
    },
  },
  "a retry that succeeded": {
    shapes: WHOLE,
    async lay(agent, { stage, key }) {
      await agent.work(1)
      stage.server.putUp(key, { refuse: { status: 529, message: "overloaded" } })
      await agent.send(agent.built())
      await agent.ask({ text: "Fixed." })
    },
  },
  polling: {
    shapes: ONE_AT_A_TIME,
    async lay(agent) {
      for (let at = 0; at < 8; at++)
        await agent.turn([agent.call("read", { path: "status" })], () => ({ text: `${at} of 8` }))
      await agent.ask({ text: "It is done." })
    },
  },
  "polling that hears the same until it is done": {
    shapes: ONE_AT_A_TIME,
    async lay(agent) {
      for (const text of [...Array.from({ length: 5 }, () => "pending"), "done"])
        await agent.turn([agent.call("read", { path: "job/7" })], () => ({ text }))
      await agent.ask({ text: "It is done." })
    },
  },
  "delivered again after a failure": {
    shapes: SDK,
    async lay(agent, { key }) {
      const message = agent.run.queue.enqueue({
        messageId: `m-${key}`,
        sourceConversationId: "c-0",
        targetConversationId: `c-${key}`,
      })
      agent.run.queue.deliver(message, { err: new Error("not now") })
      agent.run.queue.deliver(message, { redelivered: true })
      await agent.work(1)
    },
  },
  "one message for each of two": {
    shapes: SDK,
    async lay(agent, { key }) {
      for (const to of ["a", "b"]) {
        const message = agent.run.queue.enqueue({
          messageId: `m-${key}-${to}`,
          sourceConversationId: "c-0",
          targetConversationId: `c-${to}`,
        })
        agent.run.queue.deliver(message, { conversationId: `c-${to}` })
      }
      await agent.work(1)
    },
  },
  "rules that were kept": {
    start: { constraints: [{ id: "src", type: "scope", rule: "paths.only src/**" }] },
    async lay(agent) {
      await agent.turn([agent.call("Edit", { file_path: "src/a.js", old_string: "a", new_string: "b" })])
      await agent.ask({ text: "Done." })
    },
  },
  "tests that went from red to green": {
    shapes: SDK,
    async lay(agent) {
      for (const exitCode of [1, 0]) {
        const test = agent.run.step("test")
        test.artifact({ id: `t${exitCode}`, type: "test_run", summary: "tests", content: "…", exitCode })
        await agent.work(1)
      }
    },
  },
  "a good run beside a good run": {
    shapes: SDK,
    async play(place) {
      const ids = []
      for (const seat of ["1A", "2B"]) {
        const agent = await openAgent(place)
        await agent.turn([agent.call("save", { path: seat })], () => ({ text: "ok", effect: "write" }))
        ids.push(await agent.finish())
      }
      return ids
    },
  },
  "a conversation that an earlier run began": {
    async play(place) {
      const first = await openAgent(place)
      await first.work(2)
      await first.ask({ text: "The first half is done." })
      const ids = [await first.finish()]
      const second = await openAgent(place)
      second.turns = [...first.turns, { user: "Go on." }]
      await second.ask({ text: "Done." })
      return [...ids, await second.finish()]
    },
  },
  "examples in the prompt": {
    async lay(agent) {
      agent.turns = [...examples, { user: "Is it good? Well" }]
      await agent.ask({ text: "neutral" })
    },
  },
  "an answer that the application begins": {
    // Others take it for a turn that is over.
    shapes: { protocol: ["anthropic"] },
    async lay(agent, { stage, key }) {
      agent.marks = "system"
      await agent.work(1)
      agent.turns.push({ user: "As JSON." }, { assistant: { text: '{"fixed":', tools: [] } })
      stage.server.putUp(key, { text: "true}" })
      await agent.send(agent.built())
      agent.turns.splice(-1, 1, { assistant: { text: '{"fixed":true}', tools: [] } }, { user: "Thank you." })
      await agent.ask({ text: "Done." })
    },
  },
  "helpers that read the same file": {
    shapes: { isSub: [false], isParallel: [false] },
    async lay(agent, { shape }) {
      for (let at = 0; at < 4; at++) {
        const helper = shape.door === "sdk" ? agent.run.step(`helper-${at}`) : undefined
        agent.handle = helper ?? agent.run
        agent.turns = [{ user: `Look at part ${at}.` }]
        await agent.turn([agent.call("read", { path: "README.md" })], () => ({ text: "# A project" }))
        await agent.ask({ text: `Part ${at} is fine.` })
        helper?.end()
      }
      agent.handle = agent.run
    },
  },
  "many questions with one answer": {
    shapes: { isSub: [false] },
    async lay(agent) {
      for (let at = 0; at < 6; at++) {
        agent.turns = [{ user: `Is item ${at} good?` }]
        await agent.ask({ text: "good" })
      }
    },
  },
  "a history that was summed up": {
    async lay(agent) {
      await agent.work(4)
      agent.turns = [{ user: "So far: both files were read, nothing was found. Go on." }]
      await agent.work(1)
      await agent.ask({ text: "Fixed." })
    },
  },
  "results in another order than they were asked for": {
    async lay(agent) {
      const calls = [agent.call(), agent.call("read", { path: "b.js" })]
      await agent.ask({ text: "Both.", tools: calls })
      const results = []
      for (const call of calls) results.unshift(await agent.use(call))
      agent.turns.push({ results })
      await agent.ask({ text: "Fixed." })
    },
  },
  "other scripts, and answers that are empty": {
    output: "直りました。",
    async lay(agent) {
      agent.turns = [{ user: "日付のテストが失敗します。修正してください。مرحبا 👩‍👩‍👧‍👦" }]
      for (const path of ["ソース/日付.js", "ソース/月.js", "ソース/年.js", "ソース/週.js"])
        await agent.turn([agent.call("read", { path })], () => ({ text: "" }))
      await agent.ask({ text: "直りました。" })
    },
  },
  "a small call of another model on the side": {
    shapes: WHOLE,
    async lay(agent, { stage, key }) {
      await agent.work(2)
      stage.server.putUp(key, { text: "Date test" })
      const aside = { model: agent.protocol.other, tools: [], system: ["Give it a title."] }
      await agent.send({ ...agent.built(), ...aside, turns: [{ user: "A title for: the date test fails" }] })
      await agent.work(1)
      await agent.ask({ text: "Fixed." })
    },
  },
  "an answer that was cut and went on": {
    async lay(agent) {
      await agent.work(1)
      await agent.ask({ text: "The first half of it is", isCut: true })
      agent.turns.push({ user: "Go on." })
      await agent.ask({ text: "the second half." })
    },
  },
}

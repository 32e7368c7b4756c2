import { createHash } from "node:crypto"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import net from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { validate, validateRun } from "@orangebox/contract"
import { MemorySink, Recorder, type Run, recordMcpClient, wrapTools } from "@orangebox/recorder"
import fc from "fast-check"
import { expect, test } from "vitest"
import { fingerprintOf } from "../src/certificate/fingerprint.js"
import {
  parseProfile,
  planFork,
  type Recording,
  ReplayDivergence,
  recheckCertificate,
  replayRecorder,
  type Tape,
} from "../src/index.js"
import { anthropicAnswer, messages, post, recordingOf, recordRun, tapeFrom, withUpstream } from "./recorded.js"
import { type Act, answering, playScript, script } from "./scripted-agent.js"

async function replay(
  tape: Tape,
  agent: (run: Run) => unknown,
  options: Partial<Parameters<typeof replayRecorder>[1]> = {},
) {
  const sink = new MemorySink()
  const recorder = replayRecorder(tape, { app: "test", environment: "local", capture: "full", sink, ...options })
  const run = recorder.startRun({ entrypoint: "agent", input: "go" })
  const said = await agent(run)
  recorder.close()
  return {
    recorder,
    said,
    recording: { events: sink.events.filter((event) => event.run_id !== null), bodies: sink.bodies } as Recording,
  }
}

const offline = {
  branch: "",
  url: "http://127.0.0.1:9",
  ask: (): number => {
    throw new Error("the world was asked")
  },
}

async function recordScript(acts: readonly Act[]) {
  let count = 0
  const ask = (): number => ++count
  return withUpstream(answering(ask), async (url) => {
    const sink = new MemorySink()
    const recorder = Recorder.open({ app: "test", environment: "local", capture: "full", sink })
    const said = await playScript(recorder.startRun({ entrypoint: "agent", input: "go" }), acts, {
      ask,
      url,
      branch: "",
    })
    recorder.close()
    const { events, bodies } = sink
    const own = events.filter((event) => event.run_id !== null)
    return { said, url, recording: { events: own, bodies }, tape: tapeFrom({ events: own, bodies }) }
  })
}

test("[P-03] any scripted agent replays exactly: the same answers, the same fingerprint, no socket, a certificate that anybody can check", () =>
  fc.assert(
    fc.asyncProperty(script, async (acts) => {
      const source = await recordScript(acts)
      const first = await replay(source.tape, (run) => playScript(run, acts, { ...offline, url: source.url }))
      expect(first.said).toBe(source.said)
      const certification = first.recorder.certify(source.recording)
      if (source.tape.calls.length === 0) return
      if (!certification.issued)
        throw new Error(JSON.stringify([certification.blocking, certification.report.divergences], null, 1))
      expect(certification.report.egress.upstream_sockets).toBe(0)
      expect(recheckCertificate(certification.certificate, source.recording, first.recording)).toMatchObject({
        holds: true,
      })

      const again = tapeFrom(first.recording)
      expect(fingerprintOf(again, undefined, { source: source.tape })).toBe(fingerprintOf(source.tape))
      const second = await replay(again, (run) => playScript(run, acts, { ...offline, url: source.url }))
      expect(second.said).toBe(source.said)
      const twice = second.recorder.certify(first.recording)
      expect(twice.issued ? [] : twice.blocking).toEqual([])
    }),
    { numRuns: 40 },
  ))

test("[P-10] branches that race each other are certified however the race went; the calls of one branch keep their order", async () => {
  const write = (name: string): Act => ({ does: "tool", name, args: {}, fails: false, inside: [] })
  const seq = (...names: string[]): Act => ({ does: "seq", acts: names.map(write) })
  const fan = (...first: string[]): readonly Act[] => {
    const asks: Act = { does: "wire", text: "b", stream: true, failures: 1 }
    return [{ does: "fan", acts: [seq(...first), asks, seq("c1", "c2")] }]
  }
  const [acts, turned] = [fan("a1", "a2", "a3"), fan("a2", "a1", "a3")]
  for (let i = 0; i < 50; i++) {
    const source = await recordScript(acts)
    const same = await replay(source.tape, (run) => playScript(run, acts, { ...offline, url: source.url }))
    const found = same.recorder.certify(source.recording)
    expect(found.issued ? [] : found.blocking).toEqual([])
    if (i > 0) continue
    const other = await replay(source.tape, (run) => playScript(run, turned, { ...offline, url: source.url }))
    expect(other.recorder.certify(source.recording).issued).toBe(false)
  }
})

test("[P-12] a call that the application tells in its protocol and sends through the recorder's fetch is certified, its tries served with it", () =>
  withUpstream(
    (_, response) => {
      response.writeHead(200, { "content-type": "application/json" })
      response.end(anthropicAnswer("yes"))
    },
    async (url, asked) => {
      const body = messages(["hello"])
      const agent = (run: Run) =>
        run.model({ provider: "anthropic", model: "claude-x", request: JSON.parse(body) }, async (_send, step) =>
          (await step.fetch(`${url}/v1/messages`, { method: "POST", body })).json(),
        )
      const recording = await recordRun(agent)
      const { recorder } = await replay(recording.tape, async (run) => {
        await agent(run)
        run.complete({ output: "done" })
      })
      expect(asked()).toBe(1)
      expect(recorder.certify(recording)).toMatchObject({ issued: true })
    },
  ))

test("[P-05] a replay is an ordinary run: valid, marked on every event, and nothing is written under its source", async () => {
  const acts: Act[] = [
    { does: "tool", name: "write", args: { n: 1 }, fails: false, inside: [] },
    { does: "model", question: "a", fails: true },
    { does: "wire", text: "a", stream: true, failures: 1 },
    { does: "retrieve", query: "q" },
  ]
  const source = await recordScript(acts)
  const before = JSON.stringify(source.recording.events)
  const { recording } = await replay(source.tape, (run) => playScript(run, acts, { ...offline, url: source.url }))
  expect(recording.events.flatMap((event) => validate(event))).toEqual([])
  expect(validateRun(recording.events, { hasBody: (hash) => recording.bodies.get(hash) !== undefined })).toEqual([])
  expect(JSON.stringify(source.recording.events)).toBe(before)
  expect(recording.events.some((event) => event.run_id === source.tape.runId)).toBe(false)
  for (const event of recording.events) {
    expect(event).toMatchObject({
      actor_type: "replay_engine",
      determinism_mode: "exact",
      replay: {
        source_run_id: source.tape.runId,
        fork_step_id: null,
        override_profile_id: null,
        replay_reason_code: "reproduce",
      },
    })
  }
  const called = recording.events.find((event) => event.event_type === "tool_called")!
  expect(called.replay).toMatchObject({
    source_step_id: source.tape.calls[0]!.stepId,
    match: { tier: "sig", occurrence: 0 },
    effect_class: "write",
  })
})

test("[P-03] what was thrown is thrown again with its class, message and code; what was returned comes back as it was", async () => {
  class Teapot extends Error {
    override name = "TeapotError"
    code = "E_TEA"
  }
  const values = ["text", "", 12.5, null, undefined, [1, { a: "b" }], new Uint8Array([0, 255]), "\ud800"]
  const agent = (results: readonly (() => unknown)[]) => async (run: Run) => {
    const seen: unknown[] = []
    for (const [index, result] of results.entries()) {
      seen.push(await run.tool({ name: "t", args: { index } }, result).catch((error: unknown) => error))
    }
    run.complete()
    return seen
  }
  const throwing = (error: unknown) => () => {
    throw error
  }
  const results = [
    ...values.map((value) => () => value),
    throwing(new Teapot("short and stout")),
    throwing(new TypeError("no")),
    throwing("text"),
  ]
  const { tape } = await recordRun(agent(results))
  const { said } = await replay(tape, agent(results.map(() => throwing(new Error("the world was asked")))))
  const seen = said as unknown[]
  expect(seen.slice(0, values.length)).toEqual(values)
  expect(seen.at(-3)).toMatchObject({ name: "TeapotError", message: "short and stout", code: "E_TEA" })
  expect(seen.at(-2)).toBeInstanceOf(TypeError)
  expect(seen.at(-1)).toBe("text")
})

test("[P-03] [R-15] a model call recorded when told requests had signatures of their own still replays", async () => {
  const request = { model: "m", max_tokens: 9, system: "be brief", messages: [{ role: "user", content: "hi" }] }
  const agent = (answer: () => unknown) => (run: Run) =>
    run.model({ provider: "anthropic", model: "m", request }, answer)
  const { events, bodies } = await recordRun(agent(() => ({ text: "hello" })))
  const older = events.map((event) => {
    if (event.event_type !== "model_called") return event
    const { wire_digest: _, shape_digest: __, ...payload } = event.payload
    return { ...event, payload: { ...payload, call_signature_hash: `sha256:${"0".repeat(64)}`, canon_version: 0 } }
  })
  const asked = agent(() => {
    throw new Error("the world was asked")
  })
  expect((await replay(tapeFrom({ events: older, bodies }), asked)).said).toEqual({ text: "hello" })
})

test("[P-01] a call that was not recorded is a divergence where it happens, and the tool does not run", async () => {
  const { tape } = await recordRun((run) => run.tool({ name: "rm", args: { path: "a" } }, () => "gone"))
  let ran = false
  const { said } = await replay(tape, (run) =>
    run
      .tool({ name: "rm", args: { path: "b" } }, () => {
        ran = true
      })
      .catch((error: unknown) => error),
  )
  expect(ran).toBe(false)
  expect(said).toBeInstanceOf(ReplayDivergence)
  expect((said as ReplayDivergence).message).toContain('/path was "a", is "b"')
})

test("[P-07] calls made by hand, which a tape cannot answer, are stopped before they run", async () => {
  const { tape } = await recordRun((run) => run.tool({ name: "t", args: {} }, () => 1))
  await replay(tape, (run) => {
    expect(() => run.startTool({ name: "t", args: {} })).toThrow(/COVERAGE_GAP|by hand/)
    expect(() => run.startModel({ provider: "p", model: "m", request: {} })).toThrow(/by hand/)
    expect(() => run.log.span("x").startTool({ name: "t", args: {} })).toThrow(/by hand/)
  })
})

test("[P-03] a client library below a model call reads the recorded bytes again, its own retries included", () =>
  withUpstream(
    ({ count }, response) => {
      response.writeHead(count === 1 ? 529 : 200, { "content-type": "text/event-stream" })
      response.write(`data: {"n":${count}}\n\n`)
      response.end("event: message_stop\ndata: {}\n\n")
    },
    async (url, asked) => {
      // A client that tries again and hands its answer out before the bytes have come, as the official ones do.
      const agent = async (run: Run) => {
        const body = messages(["hello"], { stream: true })
        const reply = await run.model(
          { provider: "anthropic", model: "claude-x", request: { body } },
          async (_send, step) => {
            for (;;) {
              const response = await step.fetch(`${url}/v1/messages`, { method: "POST", body })
              if (response.ok) return response
              await response.text()
            }
          },
        )
        const text = await reply.text()
        run.complete({ output: text })
        return text
      }
      const source = await recordRun(agent)
      const before = asked()
      const { said, recorder } = await replay(source.tape, agent)
      expect(said).toBe('data: {"n":2}\n\nevent: message_stop\ndata: {}\n\n')
      expect(asked()).toBe(before)
      expect(recorder.certify(source)).toMatchObject({ issued: true })
    },
  ))

test("[P-03] concurrent calls are answered in their recorded order, so the same one wins the race", async () => {
  const agent = (tools: readonly (() => unknown)[]) => async (run: Run) => {
    const order: number[] = []
    const calls = tools.map((tool, index) =>
      run.tool({ name: "race", args: { index } }, tool).then(() => order.push(index)),
    )
    await Promise.all(calls)
    run.complete({ output: order })
    return order
  }
  const gates = [0, 1, 2, 3].map(() => gate())
  const recording = recordRun(
    agent(
      gates.map(
        ({ opened }) =>
          () =>
            opened,
      ),
    ),
  )
  for (const index of [1, 3, 2, 0]) {
    await new Promise((resolve) => setImmediate(resolve))
    gates[index]!.open()
  }
  const { tape } = await recording
  const world = gates.map(() => () => 0)
  const { said, recorder } = await replay(tape, agent(world))
  expect(said).toEqual([1, 3, 2, 0])
  expect(recorder.session.report().divergences).toEqual([])
  const free = await replay(tape, agent(world), { policy: { completionOrder: "free" } })
  expect(free.said).toEqual([0, 1, 2, 3])
})

function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

test("[P-03] an answer whose predecessors never come is let go after a while, and the order is said to be relaxed", async () => {
  // The first to be asked is answered last, whatever else the machine does.
  const source = await recordRun((run) => {
    let isAnswered = (): void => {}
    const other = new Promise<void>((resolve) => {
      isAnswered = resolve
    })
    return Promise.all([
      run.tool({ name: "t", args: { delay: 20 } }, () => other.then(() => 20)),
      run.tool({ name: "t", args: { delay: 1 } }, () => 1).then(() => isAnswered()),
    ])
  })
  const { said, recorder } = await replay(source.tape, (run) => run.tool({ name: "t", args: { delay: 20 } }, () => 0))
  expect(said).toBe(20)
  expect(recorder.session.report().divergences.map(({ code }) => code)).toEqual(["ORDER_RELAXED"])
})

test("[P-04] a fork through the SDK asks the world from its step on, with the change, and records what came", () =>
  withUpstream(
    ({ body, count }, response) => {
      response.writeHead(200, { "content-type": "application/json" })
      response.end(anthropicAnswer(`${body.includes("loud") ? "LOUD" : "quiet"} ${count}`))
    },
    async (url, asked) => {
      const agent = async (run: Run) => {
        const history: string[] = []
        for (const question of ["one", "two", "three"]) {
          history.push(question)
          history.push(await post(run.fetch, url, messages(history, { system: "Be quiet." })))
        }
        run.complete({ output: history })
        return history
      }
      const source = await recordRun(agent)
      expect(asked()).toBe(3)
      const profile = parseProfile({
        schema_version: 1,
        rules: [
          { id: "loud", select: { kind: "model" }, op: { type: "system.edit", edit: { find: "quiet", with: "loud" } } },
        ],
      })
      const plan = planFork(source.tape, { stepId: source.tape.calls[1]!.stepId, profile })
      if (!plan.ok) throw new Error(JSON.stringify(plan.problems))
      const { said, recorder, recording } = await replay(source.tape, agent, {
        fork: plan.fork,
        policy: { reason: "what_if" },
      })
      const history = said as string[]
      expect(history[1]).toContain("quiet 1")
      expect([history[3], history[5]].map((text) => /LOUD \d/.exec(text!)?.[0])).toEqual(["LOUD 4", "LOUD 5"])
      expect(asked()).toBe(5)
      expect(recorder.session.report({ isOver: true })).toMatchObject({
        fidelity: "exact_prefix",
        exact_prefix: 1,
        counts: { live: 2 },
        egress: { upstream_sockets: 2 },
      })
      const modes = recording.events
        .filter((event) => event.event_type === "model_called")
        .map((event) => event.determinism_mode)
      expect(modes).toEqual(["exact", "live", "live"])
      expect(recorder.certify(source)).toMatchObject({ issued: false })
      expect(recording.events.flatMap((event) => validate(event))).toEqual([])
      const [, forked] = recording.events.filter((event) => event.event_type === "model_called")
      expect(forked!.attributes).toMatchObject({ override_rules: "loud" })
      const sent = forked!.artifact_refs.find((ref) => ref.artifact_type === "request_sent")!
      expect(Buffer.from(recording.bodies.get(sent.artifact_hash)!).toString()).toContain("Be loud.")
      expect(recording.events[0]!.replay).toMatchObject({
        fork_step_id: plan.fork.call.stepId,
        override_profile_id: plan.fork.profileId,
        replay_reason_code: "what_if",
      })
    },
  ))

test("[P-02] a simulated answer is recorded, so a replay of the fork is exact", async () => {
  const agent = async (run: Run) => {
    const text = await run.tool({ name: "read", args: {}, effect: "read" }, () => "real")
    const next = await run.tool({ name: "use", args: { text }, effect: "pure" }, () => `used ${text}`)
    run.complete({ output: next })
    return next
  }
  const source = await recordRun(agent)
  const profile = parseProfile({
    schema_version: 1,
    rules: [{ id: "r", select: { tool: "read" }, op: { type: "tool.result", result: { inline: "made up" } } }],
  })
  const plan = planFork(source.tape, { stepId: source.tape.calls[0]!.stepId, profile })
  if (!plan.ok) throw new Error(JSON.stringify(plan.problems))
  const fork = await replay(source.tape, agent, { fork: plan.fork })
  expect(fork.said).toBe("used made up")
  const again = await replay(tapeFrom(fork.recording), agent)
  expect(again.said).toBe("used made up")
  expect(again.recorder.certify(fork.recording)).toMatchObject({ issued: true })
})

test("[P-03] a run recorded with its secrets masked replays, and another secret does not pass for it", async () => {
  const key = Buffer.alloc(32, 7)
  const secret = (letter: string): string =>
    `sk-ant-api03-${["1", "2"]
      .map((n) =>
        createHash("sha512")
          .update(letter + n)
          .digest("base64url"),
      )
      .join("")
      .slice(0, 93)}AA`
  const agent = (value: string) => async (run: Run) => {
    await run.tool({ name: "login", args: { password: value } }, () => "ok")
    const found = await run.tool({ name: "env", args: {} }, () => `KEY=${value}`)
    const used = await run.tool({ name: "use", args: { found } }, () => "used")
    run.complete({ output: used })
    return used
  }
  const sink = new MemorySink()
  const recorder = Recorder.open({ app: "test", capture: "redacted", key, sink })
  await agent(secret("x"))(recorder.startRun({ entrypoint: "agent", input: "go" }))
  recorder.close()
  const { tape, events } = recordingOf(sink)
  expect(JSON.stringify([...sink.bodies.values()].map((bytes) => Buffer.from(bytes).toString()))).not.toContain(
    secret("x"),
  )
  const same = await replay(tape, agent(secret("x")), { capture: "redacted", key })
  expect(same.said).toBe("used")
  expect(same.recorder.session.report({ isOver: true })).toMatchObject({
    fidelity: "exact",
    counts: { sig: 2, masked: 1, missed: 0 },
    masks: [expect.stringMatching(/^redaction:/)],
    divergences: [],
  })
  expect(same.recorder.certify({ events, bodies: sink.bodies })).toMatchObject({
    issued: true,
    certificate: { grades: { sig: 2, masked: 1 } },
  })
  const other = await replay(tape, (run) => agent(secret("y"))(run).catch((error: unknown) => error), {
    capture: "redacted",
    key,
  })
  expect(other.said).toBeInstanceOf(ReplayDivergence)
})

test("[P-03] secrets in what retrievers, MCP tools and tools are asked match by their tags: the same secret does, another never", async () => {
  const key = Uint8Array.from({ length: 32 }, (_, i) => 255 - i)
  const secret = (letter: string): string =>
    `ghp_${letter.repeat(3)}${createHash("sha512").update(letter).digest("hex").slice(0, 33)}`
  const agent =
    (value: string, world: () => unknown, ...kinds: readonly ("retrieve" | "mcp" | "tool")[]) =>
    async (run: Run) => {
      const client = recordMcpClient({ callTool: async (_: object) => ({ content: [world()] }) }, run)
      const seen: unknown[] = []
      for (const kind of kinds) {
        if (kind === "tool") seen.push(await run.tool({ name: "push", args: { token: value } }, world))
        if (kind === "mcp") seen.push(await client.callTool({ name: "push", arguments: { note: `with ${value}` } }))
        if (kind !== "retrieve") continue
        const query = `who uses ${value} now?`
        seen.push(await run.retrieval({ retriever: "docs", query, topK: 1 }, () => [{ chunkId: String(world()) }]))
      }
      run.complete({ output: seen })
      return seen
    }
  const sink = new MemorySink()
  const recorder = Recorder.open({ app: "test", capture: "redacted", key, sink })
  let count = 0
  const all = ["retrieve", "mcp", "tool"] as const
  const said = await agent(secret("x"), () => ++count, ...all)(recorder.startRun({ entrypoint: "agent", input: "go" }))
  recorder.close()
  const { tape, events } = recordingOf(sink)
  const stored = [...sink.bodies.values()].map((bytes) => Buffer.from(bytes).toString()).join("\n")
  expect(stored + JSON.stringify(events)).not.toContain(secret("x"))
  const same = await replay(tape, agent(secret("x"), offline.ask, ...all), { capture: "redacted", key })
  expect(same.said).toEqual(said)
  expect(same.recorder.certify({ events, bodies: sink.bodies })).toMatchObject({
    issued: true,
    certificate: { grades: { sig: 3, masked: 0 } },
  })
  for (const kind of all) {
    const other = await replay(
      tape,
      (run) => agent(secret("y"), offline.ask, kind)(run).catch((error: unknown) => error),
      { capture: "redacted", key },
    )
    expect(other.said, kind).toBeInstanceOf(ReplayDivergence)
  }
})

test("[P-03] an exact replay opens no socket at all", async () => {
  const acts: Act[] = [
    { does: "wire", text: "a", stream: false, failures: 1 },
    { does: "wire", text: "b", stream: true, failures: 0 },
  ]
  const source = await recordScript(acts)
  const connect = net.Socket.prototype.connect
  let opened = 0
  net.Socket.prototype.connect = function (this: net.Socket, ...args: unknown[]) {
    opened++
    return Reflect.apply(connect, this, args) as net.Socket
  } as typeof connect
  try {
    await replay(source.tape, (run) => playScript(run, acts, { ...offline, url: source.url }))
  } finally {
    net.Socket.prototype.connect = connect
  }
  expect(opened).toBe(0)
})

test("[P-08] an answer that broke off breaks off again behind the same byte, whatever the chunking", () =>
  withUpstream(
    (_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.write("data: 1\n\ndata: ha", () => setTimeout(() => response.socket?.destroy(), 20))
    },
    async (url) => {
      const agent = async (run: Run) => {
        const response = await run.fetch(`${url}/v1/messages`, {
          method: "POST",
          body: messages(["x"], { stream: true }),
        })
        const reader = response.body!.getReader()
        let text = ""
        try {
          for (;;) {
            const { done, value } = await reader.read()
            if (done) return `${text} complete`
            text += Buffer.from(value).toString()
          }
        } catch {
          return `${text} broken`
        }
      }
      const { tape } = await recordRun(agent)
      expect(tape.calls[0]!.answer).toMatchObject({ end: "upstream_reset" })
      for (const chunking of ["event", "single", "recorded", "fuzz:1"] as const) {
        expect((await replay(tape, agent, { policy: { chunking } })).said).toBe("data: 1\n\ndata: ha broken")
      }
    },
  ))

test("[P-03] sub-agents replay in lanes of their own, and tools an adapter wraps are answered, not run", async () => {
  const agent = (world: () => unknown) => async (run: Run) => {
    const tools = wrapTools({ look: (_where: string) => world() }, run)
    const seen: unknown[] = [await tools.look("here")]
    const subs = ["one", "two"].map(async (name) => {
      const sub = run.startRun({ entrypoint: name })
      const said = await sub.tool({ name: "same", args: {} }, world)
      sub.complete({ output: said })
      return said
    })
    seen.push(...(await Promise.all(subs)))
    run.complete({ output: seen })
    return seen
  }
  let count = 0
  const source = await recordRun(agent(() => ++count))
  expect(new Set(source.tape.calls.map((call) => call.lane))).toEqual(new Set(["main", "sub:one", "sub:two"]))
  const { said } = await replay(source.tape, agent(offline.ask))
  expect(said).toEqual([1, 2, 3])
})

test("[P-07] a tool with effects is not run behind a fork: the agent is told so, and the report says why", async () => {
  const agent = (text: string) => async (run: Run) => {
    await run.tool({ name: "read", args: {}, effect: "read" }, () => text)
    return run.tool({ name: "write", args: { text }, effect: "write" }, () => "written")
  }
  const { tape } = await recordRun(agent("a"))
  const plan = planFork(tape, { stepId: tape.calls[0]!.stepId })
  if (!plan.ok) throw new Error("no plan")
  let ran = false
  const { said, recorder } = await replay(
    tape,
    async (run) => {
      await run.tool({ name: "read", args: {}, effect: "read" }, () => "b")
      return run.tool({ name: "write", args: { text: "b" }, effect: "write" }, () => {
        ran = true
      })
    },
    { fork: plan.fork },
  )
  expect(ran).toBe(false)
  expect(said).toMatch(/^\[blocked by replay\] write was not run: it is a write/)
  expect(recorder.session.report().divergences.map(({ code }) => code)).toContain("EFFECT_DENIED")
})

test("[P-05] a replay into a data folder is in its journal like any other run", async () => {
  const { tape } = await recordRun((run) => run.tool({ name: "t", args: {} }, () => "text"))
  const folder = mkdtempSync(join(tmpdir(), "orangebox-replay-"))
  try {
    const recorder = replayRecorder(tape, { app: "test", folder })
    const run = recorder.startRun({ entrypoint: "agent" })
    expect(await run.tool({ name: "t", args: {} }, offline.ask)).toBe("text")
    run.complete()
    recorder.close()
    const journals = readdirSync(join(folder, "journal")).filter((name) => name.endsWith(".ndjson"))
    const text = journals.map((name) => readFileSync(join(folder, "journal", name), "utf8")).join("")
    expect(text).toContain(`"replay":{"source_run_id":"${tape.runId}"`)
    expect(text).toContain('"actor_type":"replay_engine"')
  } finally {
    rmSync(folder, { recursive: true })
  }
})

/**
 * An agent that works through a script of its model and is recorded for real, in one of many shapes: through the SDK or through the proxy, in three
 * protocols, whole or streamed, with one tool at a time or two, alone or as a sub-agent, in three capture modes.
 */
import { startProxy } from "@orangebox/proxy"
import { Recorder } from "@orangebox/recorder"
import { PROTOCOLS } from "./protocols.mjs"

const PATH = {
  type: "object",
  properties: { path: { type: "string" }, lines: { type: "integer" } },
  required: ["path"],
}
export const TOOLS = ["read", "edit", "save"].map((name) => ({ name, schema: PATH }))
const PERSONA = "You fix bugs in small steps and say what you did. ".repeat(110)

/** Shapes in which faults are laid. */
export function shapesFrom(random) {
  const doors = ["sdk", "proxy"]
  const protocols = Object.keys(PROTOCOLS)
  const captures = ["full", "redacted", "hashed"]
  const shapes = []
  // Each door, protocol and capture mode comes about equally often, in an order that the seed decides.
  for (const door of doors) {
    for (const protocol of protocols) {
      for (const capture of captures) {
        shapes.push({
          door,
          protocol,
          capture,
          isStreamed: random() < 0.5,
          isParallel: random() < 0.5,
          isSub: random() < 0.3,
        })
      }
    }
  }
  return shapes
    .map((shape) => [random(), shape])
    .sort(([a], [b]) => a - b)
    .map(([, shape]) => shape)
}

/** A shape as a fault or a twin can have it: which door and protocol is drawn, the rest is set. Undefined where it cannot have it. */
export function fitted(shape, shapes = {}) {
  const fit = { ...shape }
  for (const [name, values] of Object.entries(shapes)) {
    if (values.includes(shape[name])) continue
    if (typeof shape[name] !== "boolean") return undefined
    fit[name] = values[0]
  }
  return fit
}

/** Whether a shape has one of the values that are named. */
export const isAmong = (shape, values = {}) =>
  Object.entries(values).some(([name, these]) => these.includes(shape[name]))

export const openAgent = ({ stage, shape, key }, start) => new Agent(stage, shape, key, start).open()

export const shapeName = ({ door, protocol, capture, isStreamed, isParallel, isSub }) =>
  [
    door,
    protocol,
    capture,
    isStreamed ? "streamed" : "whole",
    ...(isParallel ? ["parallel"] : []),
    ...(isSub ? ["sub"] : []),
  ].join(" ")

export class Agent {
  /** Numbers of model calls and tools so far, to say later which of them is the cause. */
  calls = 0
  tools = 0
  turns = [{ user: "The date test fails. Fix it." }]
  system = [PERSONA]
  offered = TOOLS
  more = {}
  marks = "last"
  #serial = 0

  constructor(stage, shape, key, start) {
    this.stage = stage
    this.shape = shape
    this.key = key
    this.protocol = PROTOCOLS[shape.protocol]
    this.model = this.protocol.model
    this.recorder = Recorder.open({
      app: `fault-${key}`,
      folder: stage.folder,
      cwd: stage.folder,
      capture: shape.capture,
      environment: "local",
    })
    this.run = this.recorder.startRun({ entrypoint: "fix", input: `fix ${key}`, conversationId: `c-${key}`, ...start })
  }

  async open() {
    if (this.shape.door === "proxy") {
      this.proxy = await startProxy({
        recorder: this.recorder,
        upstreams: { up: this.stage.server.origin },
        run: this.run,
      })
    }
    this.handle = this.run
    if (this.shape.isSub) {
      await this.#mainCall("I hand this to a helper.")
      if (this.shape.door === "sdk") this.handle = this.run.step("helper")
    }
    return this
  }

  /** The calls of the agent around a sub-agent, with a conversation of their own. */
  async #mainCall(text) {
    this.stage.server.putUp(this.key, { text })
    await this.send({ ...this.built(), system: ["You are the lead."], turns: [{ user: "Plan the fix." }] })
  }

  id() {
    return `call_${this.key}_${++this.#serial}`
  }

  built() {
    const { model, system, offered: tools, turns, more, marks } = this
    return { model, system, tools, turns, more, marks }
  }

  /** Sends a request as built, and takes what comes. `wire` changes it on the way, behind the application's back. */
  async send(built, { wire } = {}) {
    const { protocol, shape, handle } = this
    const request = { ...protocol.request(built), ...(shape.isStreamed ? { stream: true } : {}) }
    this.calls++
    const path = `${protocol.path}?key=${this.key}`
    const init = (body) => ({
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": "k", authorization: "Bearer k" },
      body: JSON.stringify(body),
    })
    try {
      const fetched =
        shape.door === "proxy"
          ? await fetch(`${this.proxy.urlFor("up")}${path}`, init(request))
          : wire
            ? await this.#told(request, wire(request), path)
            : await handle.fetch(`${this.stage.server.origin}${path}`, init(request))
      await fetched?.text()
      return fetched?.status
    } catch {
      return undefined
    }
  }

  /** Built by the application, and changed before it leaves: both forms are on record. */
  async #told(request, sent, path) {
    let answer
    await this.#inModelStep(request, async (call) => {
      answer = await this.#post(path, sent, call)
      if (answer.status >= 400) throw new Error("refused")
      return JSON.parse(await answer.text())
    })
    return answer
  }

  /** One call that the application tells of, tried so many times in vain. */
  async sendTold(tries) {
    this.calls++
    const request = this.protocol.request(this.built())
    await this.#inModelStep(request, async (call) => {
      for (let at = 0; at < tries; at++) await this.#post(`${this.protocol.path}?key=${this.key}`, request, call)
      throw new Error("overloaded")
    })
  }

  #inModelStep(request, work) {
    const provider = this.shape.protocol === "anthropic" ? "anthropic" : "openai"
    return this.handle.model({ provider, model: this.model, request }, work).catch(() => {})
  }

  async #post(path, body, call) {
    const response = await this.recorder.fetch(`${this.stage.server.origin}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": "k", ...call.headers },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    return { status: response.status, text: async () => text }
  }

  /** One call of the model that answers with `reply`, which becomes part of the conversation. */
  async ask(reply, options) {
    this.stage.server.putUp(this.key, reply)
    const status = await this.send(this.built(), options)
    if (!reply.refuse) this.turns.push({ assistant: { text: reply.text, tools: reply.tools ?? [] } })
    return status
  }

  call(name = "read", args = { path: "src/date.js" }) {
    return { id: this.id(), name, args }
  }

  /** Runs a tool that the model asked for. Behind a proxy nobody sees that but the next request. */
  async use({ id, name, args }, { text = `the text of ${id}`, error, effect } = {}) {
    this.tools++
    if (this.shape.door === "sdk") {
      await this.handle
        .tool({ name, args, callId: id, ...(effect ? { effect } : {}) }, () => {
          if (error) throw new Error(error)
          return text
        })
        .catch(() => {})
    }
    return { id, name, text: error ?? text, isError: error !== undefined }
  }

  /** A turn with tools: asked for, run, and their results put into the conversation. */
  async turn(
    calls = this.shape.isParallel ? [this.call(), this.call("read", { path: "test/date.js" })] : [this.call()],
    how,
  ) {
    await this.ask({ text: "Next.", tools: calls })
    const results = []
    for (const call of calls) results.push(await this.use(call, how?.(call)))
    this.turns.push({ results })
    return calls
  }

  /** A few good turns, so that what follows stands in the middle of something. */
  async work(turns = 2) {
    for (let at = 0; at < turns; at++) await this.turn()
  }

  async finish({ error, output = "Fixed." } = {}) {
    if (this.shape.isSub && !error) {
      if (this.handle !== this.run) this.handle.end()
      this.handle = this.run
      await this.#mainCall("Thank you.")
    }
    if (error) this.run.fail(new Error(error))
    else this.run.complete({ output })
    return this.close()
  }

  async close() {
    await this.proxy?.close()
    this.recorder.close()
    return this.run.runId
  }
}

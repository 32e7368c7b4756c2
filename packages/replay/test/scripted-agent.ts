import type { Run, Step } from "@orangebox/recorder"
import fc from "fast-check"
import type { Answering } from "./recorded.js"
import { anthropicAnswer, messages } from "./recorded.js"

/** What a random agent does. Everything the world answers is new each time it is asked. */
export type Act =
  | {
      readonly does: "tool"
      readonly name: string
      readonly args: unknown
      readonly fails: boolean
      readonly inside: readonly Act[]
    }
  | { readonly does: "model"; readonly question: string; readonly fails: boolean }
  | { readonly does: "retrieve"; readonly query: string }
  | { readonly does: "wire"; readonly text: string; readonly stream: boolean; readonly failures: number }
  /** `par` asks different things side by side; `fan` may ask the same, each in a step of its own. */
  | { readonly does: "seq" | "par" | "fan"; readonly acts: readonly Act[] }
  | { readonly does: "step"; readonly name: string; readonly acts: readonly Act[] }

const word = fc.constantFrom("a", "b", "ç", "\u0000", '"', "long ".repeat(40))
export const script: fc.Arbitrary<readonly Act[]> = fc.letrec<{ act: Act; acts: readonly Act[] }>((tie) => ({
  acts: fc.array(tie("act"), { maxLength: 4, depthIdentifier: "acts" }),
  act: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.record({ does: fc.constant("model" as const), question: word, fails: fc.boolean() }),
    fc.record({ does: fc.constant("wire" as const), text: word, stream: fc.boolean(), failures: fc.nat(2) }),
    fc.record({ does: fc.constant("retrieve" as const), query: word }),
    fc.record({
      does: fc.constant("tool" as const),
      name: fc.constantFrom("read", "write"),
      args: fc.json().map((json) => JSON.parse(json) as unknown),
      fails: fc.boolean(),
      inside: fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: tie("acts") }),
    }),
    fc.record({ does: fc.constantFrom("seq" as const, "par" as const, "fan" as const), acts: tie("acts") }),
    fc.record({ does: fc.constant("step" as const), name: word, acts: tie("acts") }),
  ),
})).acts

export interface World {
  /** Called whenever something outside is really asked. */
  ask(): number
  readonly url: string
  /** Which branch of the script this is, so that branches ask different things. */
  readonly branch: string
}

/** Runs a script and gives back everything it was told, which is also its output. */
export async function playScript(run: Run, acts: readonly Act[], world: World): Promise<string> {
  const said = await inOrder(run, acts, world)
  run.complete({ output: said })
  return said
}

async function inOrder(step: Step, acts: readonly Act[], world: World): Promise<string> {
  const said: string[] = []
  for (const act of acts) said.push(await play(step, act, world))
  return said.join("|")
}

async function play(step: Step, act: Act, world: World): Promise<string> {
  switch (act.does) {
    case "seq":
      return inOrder(step, act.acts, world)
    case "par": {
      const branches = act.acts.map((inner, i) => play(step, inner, { ...world, branch: `${world.branch}/${i}` }))
      return (await Promise.all(branches)).join("&")
    }
    case "fan": {
      const branches = act.acts.map(async (inner, i) => {
        const own = step.child(`branch ${i}`)
        const said = await play(own, inner, world)
        own.end()
        return said
      })
      return (await Promise.all(branches)).join("&")
    }
    case "step": {
      const inner = step.child(act.name)
      const said = await inOrder(inner, act.acts, world)
      inner.end()
      return said
    }
    case "tool":
      return step
        .tool(
          { name: act.name, args: { value: act.args, branch: world.branch }, effect: "write" },
          async ({ step: own }) => {
            const inside = await inOrder(own, act.inside, world)
            if (act.fails) throw new RangeError(`refused ${world.ask()}`)
            return { value: world.ask(), inside, nothing: null }
          },
        )
        .then(JSON.stringify, (error: Error) => `${error.name}: ${error.message}`)
    case "model":
      return step
        .model({ provider: "own", model: "m", request: { question: act.question, branch: world.branch } }, async () => {
          if (act.fails) throw new TypeError(`busy ${world.ask()}`)
          return { text: `answer ${world.ask()}` }
        })
        .then(JSON.stringify, (error: Error) => `${error.name}: ${error.message}`)
    case "retrieve": {
      const chunks = await step.retrieval({ retriever: "docs", query: `${act.query}${world.branch}`, topK: 2 }, () => [
        { chunkId: `c${world.ask()}`, score: 0.5, content: `text ${world.ask()}` },
      ])
      return JSON.stringify(chunks)
    }
    case "wire": {
      const body = messages([act.text, `fail ${act.failures} ${world.branch}`], act.stream ? { stream: true } : {})
      for (;;) {
        const response = await step.fetch(`${world.url}/v1/messages`, { method: "POST", body })
        const text = await response.text()
        if (response.status < 500) return `${response.status} ${text}`
      }
    }
  }
}

/** Answers the wire: fails as often as it is told to in a row, then gives something nobody has seen before. */
export function answering(ask: () => number): Answering {
  const failed = new Map<string, number>()
  return ({ body }, response) => {
    const wanted = Number(/fail (\d)/.exec(body)?.[1] ?? 0)
    const count = failed.get(body) ?? 0
    if (count < wanted) {
      failed.set(body, count + 1)
      response.writeHead(529, { "content-type": "application/json" })
      response.end(`{"error":{"message":"overloaded ${ask()}"}}`)
      return
    }
    failed.delete(body)
    if (!body.includes('"stream":true')) {
      response.writeHead(200, { "content-type": "application/json" })
      response.end(anthropicAnswer(`wire ${ask()}`))
      return
    }
    response.writeHead(200, { "content-type": "text/event-stream" })
    for (let i = 0; i < 3; i++) response.write(`event: content_block_delta\ndata: {"n":${ask()},"t":"ü"}\n\n`)
    response.end("event: message_stop\ndata: {}\n\n")
  }
}

import type { ServerResponse } from "node:http"
import type { Event } from "@orangebox/contract"
import { recheckCertificate } from "@orangebox/replay"
import { foldRun } from "@orangebox/runs"
import { describe, expect, test } from "vitest"
import { type Recorded, recordThroughProxy, replayThroughProxy } from "./replayed-proxy.js"
import { type Behaviour, json, messageRequest, messageStream, startUpstream } from "./upstream.js"

// A client goes on from what it has been told. Its upstream may close the connection long after that, or the client may read the rest
// later or never: none of it may show in what is recorded, or the unchanged agent would be refused.

const LIMITED = { type: "error", error: { type: "rate_limit_error", message: "slow down" } }
const MESSAGE = { id: "msg_1", type: "message", role: "assistant", content: [{ type: "text", text: "fine" }] }

const send = (url: string, body: Uint8Array): Promise<Response> =>
  fetch(`${url}/v1/messages`, { method: "POST", headers: { "content-type": "application/json" }, body })

const answer = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { "content-type": "application/json" }).end(json(body))
}

/** What a run is made of, in the order in which it opened, with the tries of each call. */
const shapeOf = (events: readonly Event[]): readonly string[] =>
  foldRun(events).steps.map(({ kind, name, attempts, status }) => [kind, name, attempts.length, status].join(" "))

/** Why there is no certificate; that an old one has other digests is no reason. */
const refusalsOf = (found: ReturnType<typeof recheckCertificate>): readonly string[] =>
  found.holds
    ? []
    : found.reasons.filter((reason) => !/^[a-z_]+(?:\.[a-z_]+)? is .*, and the recordings say /s.test(reason))

async function recordAndReplay(behave: Behaviour, use: (url: string) => Promise<unknown>) {
  const { origin } = await startUpstream(behave)
  let said: unknown
  const recorded = await recordThroughProxy({ anthropic: origin }, async (urlFor) => {
    said = await use(urlFor("anthropic"))
  })
  const replayed = await replayThroughProxy(recorded, { anthropic: origin }, (urlFor) => use(urlFor("anthropic")))
  expect(replayed.said).toEqual(said)
  expect(replayed.certification).toMatchObject({ issued: true })
  expect(shapeOf(replayed.recorded.events)).toEqual(shapeOf(recorded.events))
  if (!replayed.certification.issued) throw new Error("not certified")
  const { certificate } = replayed.certification
  return { recorded, replayed: replayed.recorded, certificate, shape: shapeOf(recorded.events) }
}

describe("[K-09] a refusal that its client leaves unread is the first try of one call", () => {
  const refusals: [string, (response: ServerResponse) => void][] = [
    ["that came whole", (response) => answer(response, 429, LIMITED)],
    ["whose body is still to come", (response) => response.writeHead(429).flushHeaders()],
    [
      "with more bytes than fit between the two",
      (response) => answer(response, 529, { ...LIMITED, more: "x".repeat(9_000_000) }),
    ],
  ]
  test.each(refusals)("[P-10] one %s", async (_, refuse) => {
    const open: ServerResponse[] = []
    let asked = 0
    const { recorded, shape } = await recordAndReplay(
      (_request, response) => {
        if (asked++ > 0) return answer(response, 200, MESSAGE)
        open.push(response)
        refuse(response)
      },
      async (url) => {
        const first = await send(url, messageRequest([{ role: "user", content: "go" }], { stream: false }))
        const second = await send(url, messageRequest([{ role: "user", content: "go" }], { stream: false }))
        const said = [first.status, second.status, await second.text()]
        for (const response of open.splice(0)) if (!response.writableEnded) response.end(json(LIMITED))
        await first.text()
        return said
      },
    )
    expect(shape.filter((line) => line.startsWith("model"))).toEqual([
      "model claude-sonnet-4-5 2 success",
      "model claude-sonnet-4-5 0 error",
      "model claude-sonnet-4-5 0 success",
    ])
    const [call, ...tries] = recorded.tape.calls
    expect(tries.map(({ attemptOf, answer: given }) => [attemptOf, given?.httpStatus])).toEqual([
      [call!.stepId, expect.any(Number)],
      [call!.stepId, 200],
    ])
    expect(call!.answer?.body?.hash).toBe(tries[1]!.answer?.body?.hash)
  })

  test("[P-10] whose number in the recording is part of what is certified", async () => {
    let asked = 0
    const { recorded, replayed, certificate } = await recordAndReplay(
      (_request, response) => (asked++ === 0 ? answer(response, 429, LIMITED) : answer(response, 200, MESSAGE)),
      async (url) => {
        const ask = () => send(url, messageRequest([{ role: "user", content: "go" }], { stream: false }))
        return [(await ask()).status, (await ask()).status]
      },
    )
    const recordingOf = ({ events, tape }: Recorded) => ({ events, bodies: tape.bodies })
    const numbered = (change: (attemptNo: number) => number | undefined): Recorded => ({
      ...replayed,
      events: replayed.events.map(({ attempt_no, ...event }) => {
        const changed = attempt_no === undefined ? undefined : change(attempt_no)
        return { ...event, ...(changed === undefined ? {} : { attempt_no: changed }) } as Event
      }),
    })
    const holds = (replay: Recorded) => recheckCertificate(certificate, recordingOf(recorded), recordingOf(replay))
    expect(holds(replayed)).toMatchObject({ holds: true })
    const changes = [(n: number) => 3 - n, (n: number) => n + 1, () => 1, () => undefined]
    for (const change of changes) expect(refusalsOf(holds(numbered(change)))).not.toEqual([])
  })
})

test("[K-09] [P-10] an agent that goes on when its answer has said its last is recorded like one that waits for the end of the stream", async () => {
  const tool = (n: number) => ({ id: `toolu_${n}`, name: "read_file", input: { n } })
  let asked = 0
  const { shape } = await recordAndReplay(
    (_request, response) => {
      asked++
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.write(asked < 3 ? messageStream({ tool: tool(asked) }) : messageStream({ text: "done" }))
      // The others are never closed: their client leaves.
      if (asked === 1) setTimeout(() => response.end(), 200)
    },
    async (url) => {
      const messages: unknown[] = [{ role: "user", content: "go" }]
      const leaves = new AbortController()
      for (let n = 1; ; n++) {
        const response = await fetch(`${url}/v1/messages`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: messageRequest(messages),
          signal: leaves.signal,
        })
        const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
        let text = ""
        while (!text.includes("event: message_stop")) text += (await reader.read()).value ?? ""
        if (!text.includes("tool_use")) {
          leaves.abort()
          return "done"
        }
        messages.push(
          { role: "assistant", content: [{ type: "tool_use", ...tool(n) }] },
          { role: "user", content: [{ type: "tool_result", tool_use_id: `toolu_${n}`, content: `line ${n}` }] },
        )
      }
    },
  )
  expect(shape).toEqual([
    "run test 0 success",
    "step go 0 success",
    ...["1", "2"].flatMap(() => ["model claude-sonnet-4-5 0 success", "tool read_file 0 success"]),
    "model claude-sonnet-4-5 0 success",
  ])
})

test("[P-10] a client that gives up waiting and asks again is left waiting again", async () => {
  let asked = 0
  const { recorded } = await recordAndReplay(
    (_request, response) => {
      if (asked++ > 0) answer(response, 200, MESSAGE)
    },
    async (url) => {
      const body = messageRequest([{ role: "user", content: "go" }], { stream: false })
      const leaves = AbortSignal.timeout(200)
      const first = await fetch(`${url}/v1/messages`, { method: "POST", body, signal: leaves }).catch(
        (error: Error) => error.name,
      )
      return [first, await (await send(url, body)).text()]
    },
  )
  expect(recorded.tape.calls.map(({ answer: given }) => given?.end)).toEqual(["complete", "client_abort", "complete"])
})

test("[P-10] a client that goes on from headers alone is not made to wait for an answer that it will ask for later", async () => {
  await recordAndReplay(
    (request, response) => {
      if (request.body.includes("second")) return answer(response, 200, MESSAGE)
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders()
      setTimeout(
        () =>
          response.end(
            messageStream({ text: "late" })
              .toString()
              .replaceAll(/msg_\w+/g, "msg_1"),
          ),
        300,
      )
    },
    async (url) => {
      const first = await send(url, messageRequest([{ role: "user", content: "first" }]))
      const second = await send(url, messageRequest([{ role: "user", content: "second" }], { stream: false }))
      return [await second.text(), await first.text()]
    },
  )
})

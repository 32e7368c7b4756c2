import { expect, test } from "vitest"
import {
  acceptMasks,
  asRecorded,
  EMPTY_MASKS,
  openReplay,
  parseMasksFile,
  proposeMasks,
  type Tape,
} from "../src/index.js"
import { anthropicAnswer, messages, post, recordRun, withUpstream } from "./recorded.js"

/** One agent whose prompt holds the date, a session and a folder. */
const runOn = (date: string, session: string, folder: string, extra = ""): Promise<Tape> =>
  withUpstream(
    (_request, response) => {
      response.writeHead(200, { "content-type": "application/json" })
      response.end(anthropicAnswer("ok"))
    },
    async (url) => {
      const { tape } = await recordRun(async (run) => {
        const system = `You are an agent.\nToday's date: ${date}\nBe kind.`
        await post(run.fetch, url, messages([`session ${session} in ${folder}`], { system }))
        await post(run.fetch, url, messages([`session ${session} in ${folder}`, "ok", `go on${extra}`], { system }))
        await run.tool({ name: "log", args: { at: `${date}T10:00:00Z` } }, () => 1)
      })
      return {
        ...tape,
        calls: tape.calls.map((call) => ({
          ...call,
          request: { ...call.request, url: call.request.url && "http://model/v1/messages" },
        })),
      }
    },
  )

const MONDAY = ["2026-03-02", "3f2504e0-4f89-41d3-9a0c-0305e82c3301", "/home/ann/work"] as const
const TUESDAY = ["2026-03-03", "00000000-0000-4000-8000-000000000000", "/home/bob/other"] as const

test("[P-03] two runs of one agent propose the typed masks under which their requests are equal", async () => {
  const [first, second] = [await runOn(...MONDAY), await runOn(...TUESDAY)]
  const { proposals, unmasked, compared, unpaired } = proposeMasks(first, second)
  expect(unmasked).toEqual([])
  expect([compared, unpaired]).toEqual([3, 0])
  expect(proposals.map(({ id, steps }) => [id, steps.length])).toEqual([
    ["uuid@/messages/*/content", 2],
    ["abs_path@/messages/*/content", 2],
    ["harness_line@/system", 2],
    ["iso_date@/at", 1],
  ])
  expect(proposals[3]!.examples).toEqual([{ recorded: "2026-03-02T10:00:00Z", now: "2026-03-03T10:00:00Z" }])

  const masks = parseMasksFile(
    acceptMasks(EMPTY_MASKS, proposals, { acceptedBy: "ann", acceptedAt: "2026-03-04T00:00:00Z" }),
  ).masks
  const session = openReplay(first, { masks })
  for (const call of second.calls)
    expect(session.ask(asRecorded(call, second))).toMatchObject({ outcome: "served", mode: "exact", tier: "masked" })
  expect(session.report({ isOver: true })).toMatchObject({ fidelity: "exact", counts: { masked: 3, unconsumed: 0 } })
})

test("[P-03] what no mask covers is shown as it is, and never proposed away", async () => {
  const [first, second] = [await runOn(...MONDAY), await runOn(...MONDAY, " please")]
  const { proposals, unmasked } = proposeMasks(first, second)
  expect(proposals).toEqual([])
  expect(unmasked).toEqual([
    { step: first.calls[1]!.stepId, pointer: "/messages/2/content", recorded: '"go on"', now: '"go on please"' },
  ])
})

test("[P-03] [P-11] numbers and durations are proposed for too, lanes that began in another order are compared with their own, and all of it is used", async () => {
  const runAt = (seconds: string, took: string, isTitleFirst: boolean): Promise<Tape> =>
    withUpstream(
      (_request, response) => {
        response.writeHead(200, { "content-type": "application/json" })
        response.end(anthropicAnswer("ok"))
      },
      async (url) => {
        const { tape } = await recordRun(async (run) => {
          const title = () => post(run.fetch, url, messages([`a title for ${took}`], { model: "claude-small" }))
          const work = () =>
            post(
              run.fetch,
              url,
              messages([`the tests took ${took}`], { at: Number(seconds), system: "You are an agent." }),
            )
          for (const ask of isTitleFirst ? [title, work] : [work, title]) await ask()
        })
        const calls = tape.calls.map((call) => ({
          ...call,
          request: { ...call.request, url: "http://model/v1/messages" },
        }))
        return { ...tape, calls }
      },
    )
  const first = await runAt("1794962324.5679", "0.34s", true)
  const second = await runAt("1794962399.1", "12.5 s", false)
  const { proposals, unmasked, unpaired } = proposeMasks(first, second)
  expect([unmasked, unpaired]).toEqual([[], 0])
  expect(proposals.map(({ id }) => id).sort()).toEqual(["duration@/messages/*/content", "epoch_s@/at"])
  const session = openReplay(first, { masks: [...proposals].reverse() })
  for (const call of second.calls)
    expect(session.ask(asRecorded(call, second))).toMatchObject({ outcome: "served", mode: "exact", tier: "masked" })
})

test("[P-03] masks of another canonical form, or a wrong file, are refused", () => {
  expect(() => parseMasksFile({ ...EMPTY_MASKS, canon_version: 99 })).toThrow(/canonical form 99/)
  expect(() => parseMasksFile({ v: 1, canon_version: 1, masks: [{ id: "x", type: "anything", at: "/a" }] })).toThrow(
    /masks\.0/,
  )
  const masks = [{ id: "uuid@/system", type: "uuid", at: "/system" }] as const
  const twice = acceptMasks(acceptMasks(EMPTY_MASKS, masks, { acceptedBy: "a", acceptedAt: "t" }), masks, {
    acceptedBy: "b",
    acceptedAt: "u",
  })
  expect(twice.masks.map(({ accepted_by }) => accepted_by)).toEqual(["a"])
})

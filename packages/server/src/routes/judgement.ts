import { asRecord, countIn, textIn } from "@orangebox/contract"
import { answerDecisions, answerDiagnosis, answerHandoff, answerReport, openCourt } from "@orangebox/reader"
import { ADDRESS } from "../address-param.js"
import { EVERYTHING } from "../everything.js"
import { route } from "../route.js"

export const findings = route({
  path: "/runs/{address}/findings",
  summary: "What recorded facts of a run are broken, the most telling first",
  params: { address: ADDRESS },
  answer: "Findings",
  async handle({ address }, desk) {
    return (await answerDiagnosis(await desk.whole(address), {}, EVERYTHING)).json()
  },
})

export const decisions = route({
  path: "/runs/{address}/decisions",
  summary: "What the agent did, action by action, with verdicts",
  params: { address: ADDRESS },
  answer: "Decisions",
  async handle({ address }, desk) {
    return (await answerDecisions(await desk.whole(address), openCourt({ data: desk.data }), {})).json()
  },
})

export const report = route({
  path: "/runs/{address}/report",
  summary: "What a run did, and whether that was what was asked",
  params: { address: ADDRESS },
  answer: "Report",
  async handle({ address }, desk) {
    return (await answerReport(await desk.whole(address), openCourt({ data: desk.data }), {})).json()
  },
})

export const verdict = route({
  path: "/runs/{address}/verdict",
  summary: "The report and the cost of a run in a line of a list",
  params: { address: ADDRESS },
  answer: "RunVerdict",
  async handle({ address }, desk) {
    const { row, view } = await desk.run(address)
    const judged = (await answerReport(await desk.whole(address), openCourt({ data: desk.data }), {})).json()
    const summary = asRecord(asRecord(judged)?.["summary"]) ?? {}
    return {
      run_id: row.runId,
      verdict: textIn(summary, "verdict") ?? "unknown",
      violations: countIn(asRecord(summary["violations"]) ?? {}, "fail") ?? 0,
      usd: view.money.usd,
      unpriced_calls: view.money.unpricedCalls,
      ...desk.freshness,
    }
  },
})

export const handoff = route({
  path: "/runs/{address}/handoff",
  summary: "A run for a debugging agent: text to paste, recorded words fenced",
  params: { address: ADDRESS, question: { is: "text", about: "what the agent is to find out" } },
  answer: "Handoff",
  async handle({ address, question }, desk) {
    const place = await desk.whole(address)
    const answer = await answerHandoff(place, question === undefined ? {} : { question })
    return { run_id: place.address, text: answer.text(), ...desk.freshness }
  },
})

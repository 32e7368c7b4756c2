import { bodiesOf } from "@orangebox/query"
import { answerStep, stepAsked } from "@orangebox/reader"
import { snakeJson } from "@orangebox/text"
import { ADDRESS, STEP_NUMBER } from "../address-param.js"
import { EVERYTHING } from "../everything.js"
import { route } from "../route.js"

export const step = route({
  path: "/runs/{address}/steps/{n}",
  summary: "Everything about one step, row by row, with its bodies and the steps before and behind it",
  params: { address: ADDRESS, n: STEP_NUMBER },
  answer: "Step",
  async handle({ address, n = 0 }, desk) {
    const asked = await stepAsked(await desk.step(address, n))
    const { view } = asked
    const { events, links, partials, id, linkedFrom } = view.steps[asked.n - 1]!
    const numberOf = (stepId: string | undefined): number[] =>
      view.steps.flatMap((other) => (other.id !== undefined && other.id === stepId ? [other.n] : []))
    return {
      run_id: view.runId ?? null,
      ...(await answerStep(asked, EVERYTHING)).json(),
      bodies: bodiesOf(events).map((body) => snakeJson(body)),
      partials: snakeJson(partials),
      follows: links.flatMap(({ kind, step_id }) => (kind === "follows" ? numberOf(step_id) : [])),
      followed_by: view.steps.flatMap((other) =>
        other.links.some(({ kind, step_id }) => kind === "follows" && step_id === id) ? [other.n] : [],
      ),
      linked_from: linkedFrom.map(({ link, runId, no }) => snakeJson({ kind: link.kind, runId, no })),
    }
  },
})

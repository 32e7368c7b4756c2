import { stepWordsJson } from "@orangebox/query"
import { ADDRESS, STEP_NUMBER } from "../address-param.js"
import { route } from "../route.js"

export const words = route({
  path: "/runs/{address}/words",
  summary: "The words of some steps, as the skeleton says them: what went wrong first",
  params: {
    address: ADDRESS,
    from: { ...STEP_NUMBER, about: "the step to begin with" },
    limit: { is: "count", least: 1, most: 500, about: "how many" },
  },
  answer: "StepWords",
  async handle({ address, from = 1, limit = 500 }, desk) {
    const { row, view } = await desk.run(address)
    const rows = stepWordsJson(view, from, from + limit - 1)
    return { run_id: row.runId, from, total: view.steps.length, words: rows, ...desk.freshness }
  },
})

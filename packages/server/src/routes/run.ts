import { runJson } from "@orangebox/query"
import { snakeJson } from "@orangebox/text"
import { ADDRESS } from "../address-param.js"
import { route } from "../route.js"

export const run = route({
  path: "/runs/{address}",
  summary: "A run without its steps, by any recorded id, the beginning of one, last or last~1",
  params: { address: ADDRESS },
  answer: "Run",
  async handle({ address }, desk) {
    const { row, view, declaredLost } = await desk.run(address)
    const { events, annotations, status } = row
    return {
      run: runJson(view),
      status,
      ...{ events, annotations, declared_lost: declaredLost },
      gaps: snakeJson(view.gaps),
      ...desk.freshness,
    }
  },
})

import { runHeadJson, runJson } from "@orangebox/query"
import { snakeJson } from "@orangebox/text"
import { ADDRESS } from "../address-param.js"
import { route } from "../route.js"

export const run = route({
  path: "/runs/{address}",
  summary: "A run without its steps, by any recorded id, the beginning of one, last or last~1",
  params: {
    address: ADDRESS,
    digest: {
      is: "flag",
      about: "with the digest of its events, which is null otherwise: it takes reading all of them",
    },
  },
  answer: "Run",
  async handle({ address, digest }, desk) {
    const { row, view, declaredLost } = await desk.run(address)
    const { events, annotations, status } = row
    return {
      run: digest ? runJson(view) : runHeadJson(view),
      status,
      ...{ events, annotations, declared_lost: declaredLost },
      gaps: snakeJson(view.gaps),
      ...desk.freshness,
    }
  },
})

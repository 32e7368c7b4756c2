import { given } from "@orangebox/contract"
import { answerStats, STATS_BY } from "@orangebox/reader"
import { momentOf, SINCE, UNTIL } from "../moment-param.js"
import { route } from "../route.js"

export const analytics = route({
  path: "/analytics",
  summary: "What runs add up to: money, tokens, times, use",
  params: {
    by: { is: "word", words: STATS_BY, about: "by model, tool and day where nothing is said" },
    since: SINCE,
    until: UNTIL,
    app: { is: "text", about: "only of this application" },
    model: { is: "text", about: "only of this model" },
  },
  answer: "Analytics",
  async handle({ by, since, until, app, model }, desk) {
    const moments = given({ since: momentOf("since", since), until: momentOf("until", until) })
    return (await answerStats(desk.reading, { ...given({ by, app, model }), ...moments }, {}, desk.named)).json()
  },
})

import { given } from "@orangebox/contract"
import { answerRuns, RUN_STATUSES } from "@orangebox/reader"
import { momentOf, SINCE, UNTIL } from "../moment-param.js"
import { route } from "../route.js"

export const runs = route({
  path: "/runs",
  summary: "Recorded runs, newest first",
  params: {
    status: { is: "word", words: RUN_STATUSES, about: "only those that stand so" },
    app: { is: "text", about: "only those of this application" },
    model: { is: "text", about: "only those that called this model" },
    text: { is: "text", about: "only those whose input, entry point or id holds this" },
    conversation: { is: "text", about: "only those of this conversation" },
    trace: { is: "text", about: "only those of this trace" },
    since: SINCE,
    until: UNTIL,
    all: { is: "flag", about: "also those that another run started" },
    limit: { is: "count", least: 1, most: 200, about: "how many; 60 where nothing is said" },
    cursor: { is: "text", about: "where the page before ended" },
    offset: { is: "count", about: "so many of the newest are left out: for who jumps; a cursor is steadier" },
  },
  answer: "RunList",
  isHeavy: false,
  async handle({ since, until, limit = 60, ...asked }, desk) {
    const moments = given({ since: momentOf("since", since), until: momentOf("until", until) })
    return (await answerRuns(desk.reading, { ...given(asked), ...moments, limit }, {})).json()
  },
})

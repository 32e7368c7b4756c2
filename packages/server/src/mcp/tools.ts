import { EVENT_TYPES, given, InputError } from "@orangebox/contract"
import {
  MIN_HANDOFF_BUDGET,
  MIN_SKELETON_BUDGET,
  MIN_STEP_BUDGET,
  saidFindingsJson,
  saidFindingsText,
} from "@orangebox/query"
import {
  type Answer,
  addFindings,
  answerBody,
  answerBrief,
  answerCache,
  answerContext,
  answerDecisions,
  answerDiagnosis,
  answerDiff,
  answerHandoff,
  answerRuns,
  answerSearch,
  answerShow,
  answerSql,
  answerStats,
  answerStep,
  answerWhy,
  checkSql,
  contextsAsked,
  openCourt,
  RUN_STATUSES,
  STATS_BY,
  stepAsked,
} from "@orangebox/reader"
import { MIN_DIFF_BUDGET } from "@orangebox/replay"
import { momentIn } from "@orangebox/text"
import { FRAME_TOKENS } from "./answer-page.js"
import { type Asked, askAt, askStore } from "./asking.js"

/** The arguments of a call, as its schema lets them through. */
export type ToolArgs = Readonly<Record<string, unknown>>

export interface Tool {
  readonly name: string
  readonly description: string
  readonly properties: Readonly<Record<string, object>>
  readonly required?: readonly string[]
  /** @param budget what the answer may take; one that comes in pages is asked for whole */
  ask(asked: Asked, args: ToolArgs, budget: number): Promise<Answer>
  readonly writes?: true
  /** Where less would leave out what it is for. */
  readonly usualBudget?: number
  /** Its answer is folded to the budget, and cannot be told in less than this. */
  readonly leastBudget?: number
  /** Its text has a fence of its own around all that was recorded. */
  readonly isFenced?: true
}

/** For lists that come in pages here: what one page holds is decided by the budget of the call. */
const WHOLE = { budget: 1_000_000 }
const MOST_ROWS = 200

const text = (description?: string): object => ({
  type: "string",
  ...(description === undefined ? {} : { description }),
})
const count = (description?: string): object => ({
  ...{ type: "integer", minimum: 0 },
  ...(description === undefined ? {} : { description }),
})
const id = text()

const idIn = (args: ToolArgs, name = "id"): string => textOf(args, name) ?? "last"
const textOf = (args: ToolArgs, name: string): string | undefined => args[name] as string | undefined
const countOf = (args: ToolArgs, name: string): number | undefined => args[name] as number | undefined

/** The verbs of the command line that only read. */
export const READING_TOOLS: readonly Tool[] = [
  {
    name: "handoff",
    description: "Start here: what happened in a run, what is broken, what to ask next.",
    properties: { id },
    usualBudget: 1600,
    leastBudget: MIN_HANDOFF_BUDGET,
    isFenced: true,
    ask: (asked, args, budget) => askAt(asked, [idIn(args)], (reading) => answerHandoff(reading!, { budget })),
  },
  {
    name: "diagnose",
    description: "Broken rules in a run, worst first, each with the steps that prove it.",
    properties: { id, source: text("with the rules of this source") },
    ask: (asked, args) =>
      askAt(asked, [idIn(args)], (reading) =>
        answerDiagnosis(reading!, given({ source: textOf(args, "source") }), WHOLE),
      ),
  },
  {
    name: "runs",
    description: "Recorded runs, newest first.",
    properties: { status: { enum: RUN_STATUSES }, app: text(), since: text("2h, 3d or a date") },
    ask(asked, args) {
      const status = args["status"] as (typeof RUN_STATUSES)[number] | undefined
      const query = { limit: MOST_ROWS, ...given({ status, app: textOf(args, "app"), since: momentOf(args, "since") }) }
      return askStore(asked, (reading) => answerRuns(reading, query, {}))
    },
  },
  {
    name: "show",
    description: "A run or conversation, one line per step (#n), folded to the budget.",
    properties: { id, at: count("unfold from step #at") },
    leastBudget: MIN_SKELETON_BUDGET,
    ask: (asked, args, budget) =>
      askAt(asked, [idIn(args)], (reading) => answerShow(reading!, given({ at: countOf(args, "at") }), { budget })),
  },
  {
    name: "step",
    description: "One step (run#n or any id in it): what it was asked, what changed, what was said. all: every row.",
    properties: { id, all: { type: "boolean" } },
    required: ["id"],
    leastBudget: MIN_STEP_BUDGET,
    ask: (asked, args, budget) =>
      askAt(asked, [idIn(args)], async (reading) => {
        const step = await stepAsked(reading!)
        return args["all"] === true ? answerStep(step, { ...WHOLE, all: true }) : answerBrief(step, { budget })
      }),
  },
  {
    name: "body",
    description: "Bytes of a step's body. name: request, response, args, result, error … or sha256:…",
    properties: { id, name: text(), from: count(), bytes: count() },
    required: ["id", "name"],
    leastBudget: MIN_STEP_BUDGET,
    ask(asked, args, budget) {
      const piece = given({ from: countOf(args, "from"), bytes: countOf(args, "bytes") })
      return askAt(asked, [idIn(args)], async (reading) =>
        answerBody(await stepAsked(reading!), { name: textOf(args, "name")!, ...piece }, { budget }),
      )
    },
  },
  {
    name: "context",
    description: "What a step saw and why, what was left out, what changed. why: follow one item through a run.",
    properties: { id, why: text() },
    ask: (asked, args) =>
      askAt(asked, [idIn(args)], async (reading) => {
        const why = textOf(args, "why")
        const contexts = await contextsAsked(reading!, why !== undefined)
        return why === undefined ? answerContext(contexts, WHOLE) : answerWhy(contexts, why, WHOLE)
      }),
  },
  {
    name: "cache",
    description: "Expected against reported cache reads per call, and what broke the prefix.",
    properties: { id },
    ask: (asked, args) => askAt(asked, [idIn(args)], (reading) => answerCache(reading!, WHOLE)),
  },
  {
    name: "search",
    description: 'Full text of everything recorded; "quoted" is exact. run: only there.',
    properties: { text: text(), run: text(), kind: text("event type") },
    required: ["text"],
    ask(asked, args) {
      const kind = choiceOf(args, "kind", EVENT_TYPES)
      const query = { text: textOf(args, "text")!, limit: MOST_ROWS, ...given({ run: textOf(args, "run"), kind }) }
      return askStore(asked, (reading) => answerSearch(reading, query, {}))
    },
  },
  {
    name: "diff",
    description: "Two runs, or two steps, or two bodies: what differs and where it began.",
    properties: { id, with: text("default: last") },
    required: ["id"],
    leastBudget: MIN_DIFF_BUDGET,
    ask: (asked, args, budget) =>
      askAt(asked, [idIn(args), idIn(args, "with")], (a, b) => answerDiff(a!, b!, {}, { budget })),
  },
  {
    name: "decisions",
    description: "What the agent did, action by action, with verdicts.",
    properties: { id },
    async ask(asked, args) {
      const court = openCourt(given({ data: asked.data }))
      const answer = await askAt(asked, [idIn(args)], (reading) => answerDecisions(reading!, court, {}))
      return { ...answer, remarks: [...court.warnings, ...(answer.remarks ?? [])] }
    },
  },
  {
    name: "stats",
    description: "What runs add up to. by: model, tool, kind, day, app, contributor …",
    properties: { by: text(), since: text() },
    ask(asked, args) {
      const question = given({ by: choiceOf(args, "by", STATS_BY), since: momentOf(args, "since") })
      return askStore(asked, (reading) => answerStats(reading, question, {}, asked.data))
    },
  },
  {
    name: "resolve",
    description: "Every place where an id stands: message, tool call, conversation, body.",
    properties: { id },
    required: ["id"],
    ask: (asked, args) => askAt(asked, [idIn(args)], (reading) => answerShow(reading!, { places: true }, WHOLE)),
  },
  {
    name: "sql",
    description: "One read-only SELECT on views runs, steps, events, model_calls, tool_calls, bodies.",
    properties: { query: text() },
    required: ["query"],
    async ask(asked, args) {
      const query = textOf(args, "query")!
      checkSql(query)
      return askStore(asked, (reading) => answerSql(reading, { query, limit: MOST_ROWS }, {}))
    },
  },
]

function momentOf(args: ToolArgs, name: string): number | undefined {
  const said = textOf(args, name)
  const at = said === undefined ? undefined : momentIn(said, Date.now())
  if (said === undefined || at !== undefined) return at
  throw badArgument(name, "a date such as 2026-01-31, or how long ago: 2h, 3d")
}

function choiceOf<T extends string>(args: ToolArgs, name: string, choices: readonly T[]): T | undefined {
  const said = textOf(args, name)
  const choice = choices.find((one) => one === said)
  if (said === undefined || choice !== undefined) return choice
  throw badArgument(name, `one of ${choices.join(", ")}`)
}

const badArgument = (name: string, wanted: string): InputError =>
  new InputError("USAGE", { what: `${name} must be ${wanted}`, next: "Call it again with that" })

/** Offered only where the server was started to let agents add to the record. */
export const RECORD_FINDINGS: Tool = {
  name: "record_findings",
  description:
    "Keep your report (orangebox.findings/1) beside the run. Pointers must resolve and quotes must stand in the body they name.",
  properties: {
    id,
    report: {
      type: "object",
      description:
        "{author, author_kind: agent, verdict: found|not_found|unsure, findings: [{claim, cause_step, confidence: proven|likely|possible, evidence: [{step, body?, from?, to?, quote?}], disproof_tried}]}",
    },
  },
  required: ["id", "report"],
  async ask({ data, version }, args) {
    const door = { source: "orangebox.mcp", version }
    const { runId, said } = await addFindings({ data }, door, idIn(args), JSON.stringify(args["report"]))
    return {
      text: () => `${saidFindingsText(runId, [said], runId)}\nkept beside ${runId}`,
      json: () => ({ run_id: runId, ...saidFindingsJson([said]) }),
    }
  },
  writes: true,
}

const LEAST_BUDGET = 200
export const MOST_BUDGET = 8000
export const USUAL_BUDGET = 800

/** What a call of a tool has to allow at least: its answer, and the fence around it. */
export const leastBudgetOf = ({ leastBudget }: Tool): number =>
  leastBudget === undefined ? LEAST_BUDGET : leastBudget + FRAME_TOKENS

/** As the protocol lists it. */
export const listed = (tool: Tool) => ({
  name: tool.name,
  description: tool.description,
  inputSchema: {
    type: "object" as const,
    properties: {
      ...tool.properties,
      ...(tool.writes
        ? {}
        : {
            budget: { type: "integer", minimum: leastBudgetOf(tool), maximum: MOST_BUDGET },
            cursor: { type: "string" },
            format: { enum: ["text", "json"] },
          }),
    },
    ...(tool.required === undefined ? {} : { required: [...tool.required] }),
  },
  annotations: tool.writes ? { readOnlyHint: false, destructiveHint: false } : { readOnlyHint: true },
})

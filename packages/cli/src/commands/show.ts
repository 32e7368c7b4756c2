import { given } from "@orangebox/contract"
import { conversationJson, conversationText, MIN_SKELETON_BUDGET, skeletonJson, skeletonText } from "@orangebox/query"
import { findTarget, loadConversation, runOf } from "@orangebox/reader"
import { safeJson } from "@orangebox/text"
import type { Command } from "commander"
import { parsePositive } from "../option-values.js"
import { withRunAt } from "../reading.js"
import { bindShell, type GlobalOptions, type Session } from "../session.js"
import { viewOptions } from "../view-options.js"

interface ShowOptions {
  readonly budget?: number
  readonly at?: number
  readonly all?: boolean
  readonly markdown?: boolean
}

export function define(command: Command, session: Session): void {
  command
    .description("Show a run, one line per step, or a conversation, and the run's digest.")
    .argument("[address]", "a run, a step to read on from, a conversation, or an exported file", "last")
    .option(
      "--budget <tokens>",
      `at most so many tokens, at least ${MIN_SKELETON_BUDGET}; the rest is folded`,
      parsePositive,
    )
    .option("--at <n>", "read on from step #n: it, what is below it and what follows come first", parsePositive)
    .option("--all", "every line, whatever it costs")
    .option("--markdown", "as a fenced Markdown block")
  bindShell<ShowOptions>(command, session, show, [
    ["orangebox show", "the last run"],
    ["orangebox show run_01JT9", "a run by the beginning of its id"],
    ["orangebox show last --at 6", "unfold step #6"],
    ["orangebox show ./run.obxrun", "a run that was exported, here or elsewhere"],
    ["orangebox show conversation:thread-7 --budget 1000", "a whole conversation, for an agent with little room"],
  ])
}

function show(session: Session, options: ShowOptions & GlobalOptions, address = "last"): Promise<number | undefined> {
  return withRunAt(session, options, address, async (reading) => {
    const { reader, store, freshness } = reading
    const { terminal } = session
    const view = viewOptions(session, options)
    const target = await findTarget(reader, reading.address)
    if (store && target.kind === "conversation") {
      const runs = await loadConversation(store, target.id)
      terminal.out(
        options.json ? safeJson({ ...conversationJson(runs, view), ...freshness }, 2) : conversationText(runs, view),
      )
      return undefined
    }
    const run = await runOf(reader, target)
    const at = options.at ?? run.view.steps.find(({ id }) => id === target.stepId)?.n
    const skeleton = { ...view, address: reading.place(run.row.runId), ...given({ at }) }
    terminal.out(
      options.json
        ? safeJson({ ...skeletonJson(run.view, skeleton), ...freshness }, 2)
        : skeletonText(run.view, skeleton),
    )
    return undefined
  })
}

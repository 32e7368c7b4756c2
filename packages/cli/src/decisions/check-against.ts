import { diffRunsAt } from "@orangebox/reader"
import { behaviourChange, DEFAULT_DIFF_BUDGET, diffText, type RunDiff } from "@orangebox/replay"
import { plural, safeJson } from "@orangebox/text"
import { EXIT } from "../exit-code.js"
import { withRunsAt } from "../reading.js"
import type { GlobalOptions, Session } from "../session.js"

/** A run against one that was kept: other decisions or another outcome close the gate, other words do not. */
export function checkAgainst(
  session: Session,
  options: GlobalOptions,
  address: string,
  kept: string,
): Promise<number | undefined> {
  return withRunsAt(session, options, [kept, address], async (a, b) => {
    const diff = await diffRunsAt(a!, b!, {})
    const { decisions, outcome } = behaviourChange(diff)
    const isOk = decisions.length === 0 && outcome.length === 0
    session.terminal.out(
      options.json
        ? safeJson(
            { ok: isOk, against: kept, decisions: decisions.map((index) => diff.items[index]), outcome, diff },
            2,
          )
        : isOk
          ? `pass  ${runName(diff.b)} decides and ends as ${kept} does${wordsOf(diff)}`
          : `fail  ${runName(diff.b)} does not do what ${kept} shows: ${changeWords(decisions.length, outcome)}\n${diffText(diff, { budget: DEFAULT_DIFF_BUDGET })}`,
    )
    return isOk ? EXIT.fine : EXIT.findings
  })
}

const runName = ({ run_id }: RunDiff["b"]): string => run_id ?? "the run"

const wordsOf = ({ stats: { changed } }: RunDiff): string =>
  changed === 0 ? "" : `; ${plural(changed, "step")} in other words`

const changeWords = (decisions: number, outcome: readonly string[]): string =>
  [
    ...(decisions > 0 ? [plural(decisions, "decision")] : []),
    ...(outcome.length > 0 ? [`outcome (${outcome.join(", ")})`] : []),
  ].join(", ")

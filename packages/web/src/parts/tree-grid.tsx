import { formatCount, formatDuration, formatPercent } from "@orangebox/text"
import type { ShownRow } from "../model/fold.js"
import { rowName, statusWord } from "../model/row-name.js"
import { isTrouble, LANE, type RunRow } from "../model/run-rows.js"
import type { TimeScale } from "../model/time-scale.js"
import { Line } from "./recorded.js"
import { Bars, TickLines, TimeHead } from "./waterfall.js"
import { WindowedRows } from "./windowed-rows.js"

/** What is said right of a step's name; what failed stands first, so that cutting never hides it. */
export interface RowWords {
  readonly trouble: string | null
  readonly words: string
}

/** What failed, without the sign that the row has already. */
export const troubleWords = (said: RowWords | null | undefined): string | null =>
  said?.trouble?.replace(/^✗ /, "") ?? null

/** A name does not push out of its row what went wrong there. */
const LONGEST_NAME = 32

export const ROW_HEIGHT = 22

interface Props {
  readonly rows: readonly ShownRow[]
  readonly selected: number | null
  readonly words: ReadonlyMap<number, RowWords>
  /** The rule a step broke. */
  readonly broken: ReadonlyMap<number, string>
  readonly hits: ReadonlySet<number>
  readonly scale: TimeScale
  readonly endMicros: number
  readonly now: number | null
  readonly onSelect: (n: number) => void
  readonly onOpen: (n: number) => void
  readonly onFold: (n: number) => void
  readonly onWindow: (from: number, to: number) => void
  readonly onScrolled: (isAtEnd: boolean) => void
  readonly onZoom: (by: number, at: number) => void
  readonly more: preact.ComponentChildren
}

/** The skeleton of a run: one row a step, its place in the tree, its words, its tokens, its time. */
export function TreeGrid(props: Props) {
  const { rows, selected, words, broken, hits, scale, endMicros, now } = props
  const active = rows.findIndex(({ row }) => row.n === selected)
  return (
    <WindowedRows
      role="treegrid"
      numberWidth={Math.max(30, 8 + 7.3 * String(rows.length).length)}
      label="steps"
      columns={6}
      total={rows.length}
      rowHeight={ROW_HEIGHT}
      active={active}
      onWindow={props.onWindow}
      onScrolled={props.onScrolled}
      more={props.more}
      behind={<TickLines scale={scale} />}
      head={
        <div class="tree-head" role="row" aria-rowindex={1}>
          <span class="num" role="columnheader">
            #
          </span>
          <span role="columnheader">step</span>
          <span class="num" role="columnheader">
            in → out
          </span>
          <span class="num" role="columnheader">
            cache
          </span>
          <span class="num" role="columnheader">
            time
          </span>
          <TimeHead scale={scale} endMicros={endMicros} onZoom={props.onZoom} />
        </div>
      }
    >
      {(index, top, key) => {
        const shown = rows[index]!
        const { row } = shown
        const said = words.get(row.n) ?? null
        return (
          <div
            key={key}
            class="row"
            role="row"
            id={row.kind === LANE ? `lane-${-row.n}` : `step-${row.n}`}
            style={{ top: `${top}px` }}
            tabIndex={index === Math.max(0, active) ? 0 : -1}
            aria-rowindex={index + 2}
            aria-level={row.depth + 1}
            aria-selected={row.n === selected}
            aria-expanded={row.below > 0 ? !shown.isFolded : undefined}
            aria-label={rowName(
              shown,
              [broken.get(row.n), troubleWords(said), said?.words].filter(Boolean).join(", ") || null,
            )}
            onClick={() => (row.kind === LANE ? props.onFold(row.n) : props.onSelect(row.n))}
            onDblClick={() => row.kind !== LANE && (row.below > 0 ? props.onFold(row.n) : props.onOpen(row.n))}
          >
            <span class="n" role="gridcell">
              {row.kind !== LANE && `#${row.n}`}
            </span>
            <StepCell
              shown={shown}
              said={said}
              broken={broken.get(row.n) ?? null}
              isHit={hits.has(row.n)}
              onFold={props.onFold}
            />
            <span class="num second" role="gridcell">
              {row.kind === "model" ? `${formatCount(row.tokensIn)} → ${formatCount(row.tokensOut)}` : ""}
            </span>
            <span class={`num ${row.cacheRead ? "cache" : "second"}`} role="gridcell">
              {row.kind === "model" && row.cacheRead !== null && row.tokensIn
                ? formatPercent(row.cacheRead, row.tokensIn)
                : ""}
            </span>
            <span class="num second" role="gridcell">
              {row.durationMicros !== null
                ? formatDuration(row.durationMicros)
                : row.status === "open" || row.status === "running"
                  ? "open"
                  : "?"}
            </span>
            <Bars row={row} scale={scale} now={now ?? endMicros} />
          </div>
        )
      }}
    </WindowedRows>
  )
}

function StepCell({
  shown: { row, isFolded, hidden, worst },
  said,
  broken,
  isHit,
  onFold,
}: {
  shown: ShownRow
  said: RowWords | null
  broken: string | null
  isHit: boolean
  onFold: (n: number) => void
}) {
  const unfold = (event: Event) => {
    event.stopPropagation()
    onFold(row.n)
  }
  const trouble =
    troubleWords(said) ?? broken ?? (isTrouble(row.status) ? (statusWord(row.status) ?? row.status) : null)
  return (
    <span role="gridcell">
      <span class="guide">{guideText(row)}</span>
      {row.below > 0 && row.depth > 0 && (isFolded || row.kind === LANE) && (
        <button type="button" class="plain" tabIndex={-1} aria-hidden="true" onClick={unfold}>
          {isFolded ? "▸" : "▾"}
        </button>
      )}
      <span class={kindClass(row)}>
        {row.kind === "model" ? (
          "model"
        ) : row.kind === "run" || row.kind === LANE ? (
          row.kind
        ) : (
          <Line
            text={
              row.name === ""
                ? row.kind
                : row.name.length > LONGEST_NAME
                  ? `${row.name.slice(0, LONGEST_NAME)}…`
                  : row.name
            }
          />
        )}
      </span>{" "}
      {isHit && <span class="hit">◆ </span>}
      {row.mode !== null && row.mode !== "live" && <span class="warn">{row.mode} </span>}
      {trouble !== null && (
        <span class="bad">
          ✗ <Line text={trouble} />{" "}
        </span>
      )}
      {(row.kind === "run" || row.kind === LANE) && (
        <span class="words">
          <Line text={row.name} />{" "}
        </span>
      )}
      {said && (
        <span class={row.kind === "run" ? "quiet" : "words"}>
          <Line text={said.words} />
        </span>
      )}
      {isFolded && (
        <span class={isTrouble(worst) ? "bad" : "quiet"}>
          {" "}
          {isTrouble(worst) ? "✗ " : ""}
          {hidden} folded
        </span>
      )}
    </span>
  )
}

function guideText(row: RunRow): string {
  if (row.depth === 0) return ""
  const above = row.guides.slice(0, -1).map((goesOn) => (goesOn ? "│ " : "  "))
  const deeper = row.depth > row.guides.length ? "… " : ""
  return `${deeper}${above.join("")}${row.guides.at(-1) ? "├ " : "└ "}`
}

export function kindClass({ kind }: { kind: string }): string {
  return `k-${["run", "step", "model", "tool", LANE].includes(kind) ? kind : "other"}`
}

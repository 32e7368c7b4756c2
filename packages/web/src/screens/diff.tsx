import { formatDuration } from "@orangebox/text"
import { useMemo, useState } from "preact/hooks"
import type { Place } from "../address-bar.js"
import { useAnswer } from "../api/memory-cache.js"
import type { Meta } from "../api/shapes.js"
import { waiting } from "../parts/pane-state.js"
import { Block, Line } from "../parts/recorded.js"
import { mostTokensOf, Strata, type StrataAnswer, strataPicture } from "../parts/strata.js"
import { Link, shortId, TopBar } from "../parts/top-bar.js"
import { change } from "../state.js"
import { useKeys } from "../use-keys.js"

type DiffPlace = Extract<Place, { screen: "diff" }>

interface Side {
  readonly run_id: string
  readonly app: string
  readonly entrypoint: string | null
  readonly status: string
  readonly steps: number
  readonly tokens_in: number | null
  readonly tokens_out: number | null
  readonly duration_us: number | null
}

interface SideStep {
  readonly n: number
  readonly name: string | null
  readonly status: string
  readonly duration_us: number | null
}

interface DiffItem {
  readonly kind: string
  readonly change: string
  readonly fields: readonly string[]
  readonly cause: string | null
  readonly incidental: boolean
  readonly a: SideStep | null
  readonly b: SideStep | null
}

interface Diff {
  readonly verdict: string
  readonly regime: string
  readonly a: Side
  readonly b: Side
  readonly stats: Readonly<Record<string, number>>
  readonly root: number | null
  readonly root_absent: string | null
  readonly first: number | null
  readonly outcome: { readonly differs: boolean; readonly a: Outcome; readonly b: Outcome }
  readonly items: readonly DiffItem[]
}

interface Outcome {
  readonly status: string
  readonly error: string | null
  readonly text: string | null
}

interface Payload {
  readonly what: string
  readonly absent: string | null
  readonly more: number
  readonly ops: readonly {
    readonly op: string
    readonly ptr: string
    readonly a?: unknown
    readonly b?: unknown
    readonly text?: {
      readonly hunks: readonly TextHunk[]
    } | null
  }[]
}

/** `at` is where `a` begins in the text of the left side. */
interface TextHunk {
  readonly at: number
  readonly before: string
  readonly a: string
  readonly b: string
}

const isQuiet = (item: DiffItem): boolean => item.change === "same" || item.change === "noise" || item.incidental

export function DiffScreen({ at, meta }: { at: DiffPlace; meta: Meta }) {
  const query = `a=${encodeURIComponent(at.a)}&b=${encodeURIComponent(at.b)}`
  const asked = useAnswer<Diff>(`/diff?${query}`)
  const diff = asked.value
  const [isOpen, setOpen] = useState(false)
  const rows = useMemo(() => (diff ? foldSame(diff.items, isOpen) : []), [diff, isOpen])
  const differences = diff ? diff.items.flatMap((item, index) => (isQuiet(item) ? [] : [index])) : []
  const select = (index: number | undefined) => {
    if (index === undefined) return false
    change({ item: index })
    requestAnimationFrame(() => document.getElementById(`item-${index}`)?.scrollIntoView({ block: "nearest" }))
    return true
  }
  useKeys((key) => {
    const shown = rows.flatMap((row) => ("index" in row ? [row.index] : []))
    const here = at.item ?? -1
    switch (key) {
      case "j":
      case "ArrowDown":
        return select(shown.find((index) => index > here))
      case "k":
      case "ArrowUp":
        return select(shown.findLast((index) => index < here))
      case "n":
        return select(differences.find((index) => index > here) ?? differences[0])
      case "N":
        return select(
          differences.findLast((index) => index < (at.item ?? Number.POSITIVE_INFINITY)) ?? differences.at(-1),
        )
      case "o":
        return select(diff?.root ?? undefined)
      case "Escape":
        return at.item === undefined ? false : change({ item: undefined })
      default:
        return false
    }
  })
  return (
    <>
      <TopBar found={null} />
      {diff === null ? (
        <main class="page">{waiting(asked)}</main>
      ) : (
        <main class="pane grow" style={{ overflow: "auto" }}>
          <section class="head" aria-label="verdict">
            <div class="what">
              <h1>{sentence(diff)}</h1>
            </div>
            <div class="acts">
              {diff.root !== null && (
                <button type="button" onClick={() => select(diff.root!)}>
                  Go to the root <kbd>o</kbd>
                </button>
              )}
              <button type="button" aria-pressed={isOpen} onClick={() => setOpen(!isOpen)}>
                {isOpen ? "Fold" : "Unfold"} what is the same
              </button>
            </div>
            <div class="second">
              {diff.root !== null ? (
                <>
                  root: <RootWords item={diff.items[diff.root]!} />
                </>
              ) : (
                diff.root_absent && `no root can be named: ${diff.root_absent.replaceAll("_", " ")}`
              )}
            </div>
            <div class="facts">
              {Object.entries(diff.stats)
                .filter(
                  ([name, count]) =>
                    ["same", "noise", "changed", "inserted", "removed", "moved"].includes(name) && count > 0,
                )
                .map(([name, count]) => (
                  <span key={name}>
                    <b>{count}</b> {name}
                  </span>
                ))}
            </div>
          </section>
          {meta.features.includes("strata") && <BothStrata a={diff.a.run_id} b={diff.b.run_id} />}
          <div class="pair quiet" role="presentation">
            <span />
            <SideHead side={diff.a} letter="a" />
            <SideHead side={diff.b} letter="b" />
            <span>what differs</span>
          </div>
          <OutcomeRow diff={diff} />
          {rows.map((row) =>
            "index" in row ? (
              <ItemRow
                key={row.index}
                item={row.item}
                index={row.index}
                isRoot={row.index === diff.root}
                isSelected={row.index === at.item}
                query={query}
                onSelect={() => change({ item: row.index === at.item ? undefined : row.index })}
              />
            ) : (
              <button key={`same-${row.from}`} type="button" class="plain pair muted" onClick={() => setOpen(true)}>
                <span>▸</span> <span>{row.count} the same</span>
              </button>
            ),
          )}
        </main>
      )}
    </>
  )
}

function sentence(diff: Diff): string {
  if (diff.verdict === "same") return "The two runs are the same."
  if (diff.verdict === "noise") return "The two runs differ only in what says nothing: ids, times, wording."
  const outcome = diff.outcome.differs ? "and came out differently" : "and came out the same"
  return `The two runs differ in ${diff.items.filter((item) => !isQuiet(item)).length} steps ${outcome}.`
}

const RootWords = ({ item }: { item: DiffItem }) => (
  <>
    {item.kind} <Line text={(item.b ?? item.a)?.name ?? ""} /> {item.a && `#${item.a.n}`}
    {item.b && ` / #${item.b.n}`}, {item.fields.join(", ") || item.change}
  </>
)

function SideHead({ side, letter }: { side: Side; letter: string }) {
  return (
    <span>
      <b>{letter}</b>{" "}
      <Link to={{ screen: "run", run: side.run_id }}>
        <Line text={side.entrypoint ?? side.app} /> {shortId(side.run_id)}
      </Link>{" "}
      {side.status} {side.duration_us !== null && formatDuration(side.duration_us)}
    </span>
  )
}

function OutcomeRow({ diff: { outcome } }: { diff: Diff }) {
  const words = ({ status, error, text }: Outcome) => [status, error, text && `“${text}”`].filter(Boolean).join(" · ")
  return (
    <div class={`pair ${outcome.differs ? "" : "muted"}`}>
      <span class={outcome.differs ? "bad" : ""}>{outcome.differs ? "≠" : "="}</span>
      <span>
        <Line text={words(outcome.a)} />
      </span>
      <span>
        <Line text={words(outcome.b)} />
      </span>
      <span>outcome</span>
    </div>
  )
}

type Row = { readonly index: number; readonly item: DiffItem } | { readonly from: number; readonly count: number }

/** Rows of same steps become one, unless they are asked for. */
function foldSame(items: readonly DiffItem[], isOpen: boolean): Row[] {
  const rows: Row[] = []
  for (let at = 0; at < items.length; at += 1) {
    let end = at
    while (!isOpen && end < items.length && items[end]!.change === "same") end += 1
    if (end - at > 2) {
      rows.push({ from: at, count: end - at })
      at = end - 1
    } else rows.push({ index: at, item: items[at]! })
  }
  return rows
}

const SIGNS: Readonly<Record<string, string>> = {
  same: "=",
  noise: "≈",
  changed: "≠",
  inserted: "+",
  removed: "−",
  moved: "↕",
  reordered: "↕",
}

function ItemRow({
  item,
  index,
  isRoot,
  isSelected,
  query,
  onSelect,
}: {
  item: DiffItem
  index: number
  isRoot: boolean
  isSelected: boolean
  query: string
  onSelect: () => void
}) {
  const side = (step: SideStep | null) =>
    step === null ? (
      <span class="quiet">–</span>
    ) : (
      <>
        #{step.n} <span class={`k-${item.kind}`}>{item.kind}</span> <Line text={step.name ?? ""} />
        {step.status !== "success" && step.status !== "completed" && <span class="bad"> ✗ {step.status}</span>}
      </>
    )
  return (
    <>
      <button
        type="button"
        id={`item-${index}`}
        class={`plain pair ${isQuiet(item) ? "muted" : ""}`}
        aria-expanded={isSelected}
        aria-current={isSelected}
        aria-selected={undefined}
        onClick={onSelect}
      >
        <span class={isQuiet(item) ? "" : "warn"}>{SIGNS[item.change] ?? "≠"}</span>
        <span>{side(item.a)}</span>
        <span>{side(item.b)}</span>
        <span>
          {isRoot && <b class="here">root </b>}
          {item.fields.join(", ") || item.change}
          {item.cause && item.cause !== "origin" && <span class="quiet"> {item.cause}</span>}
        </span>
      </button>
      {isSelected && <Hunks query={query} index={index} />}
    </>
  )
}

function Hunks({ query, index }: { query: string; index: number }) {
  const asked = useAnswer<{ payloads?: readonly Payload[] | null; item?: { payloads: readonly Payload[] | null } }>(
    `/diff/${index}?${query}`,
  )
  if (asked.value === null) return waiting(asked)
  const payloads = asked.value.payloads ?? asked.value.item?.payloads ?? null
  if (payloads === null || payloads.length === 0)
    return <p class="hunks quiet">No bytes of it differ, or they were not compared.</p>
  return (
    <div class="hunks">
      {payloads.map((payload) => (
        <section key={payload.what}>
          <h2>{payload.what}</h2>
          {payload.absent && <p class="warn">not compared: {payload.absent.replaceAll("_", " ")}</p>}
          {payload.ops.map((op, at) => (
            <div key={at}>
              <p class="mono quiet">
                {op.op} <Line text={op.ptr} />
              </p>
              <div class="hunk">
                <pre class="removed" tabIndex={0} aria-label="in a">
                  {op.text ? (
                    joinedHunks(op.text.hunks).map(({ a, ...hunk }, one) => <Hunk key={one} {...hunk} text={a} />)
                  ) : (
                    <Block text={shown(op.a)} />
                  )}
                </pre>
                <pre class="added" tabIndex={0} aria-label="in b">
                  {op.text ? (
                    joinedHunks(op.text.hunks).map(({ b, ...hunk }, one) => <Hunk key={one} {...hunk} text={b} />)
                  ) : (
                    <Block text={shown(op.b)} />
                  )}
                </pre>
              </div>
            </div>
          ))}
          {payload.more > 0 && <p class="quiet">{payload.more} more</p>}
        </section>
      ))}
    </div>
  )
}

/** What stands between two hunks, once: the words before a hunk may be those that the one before it ended with. */
function joinedHunks(hunks: readonly TextHunk[]): (TextHunk & { readonly isApart: boolean })[] {
  return hunks.map((hunk, at) => {
    const last = hunks[at - 1]
    const between = last === undefined ? hunk.at : hunk.at - last.at - last.a.length
    const isApart = between > hunk.before.length
    return {
      ...hunk,
      before: isApart || between < 0 ? hunk.before : hunk.before.slice(hunk.before.length - between),
      isApart,
    }
  })
}

const Hunk = ({ before, text, isApart }: { before: string; text: string; isApart: boolean }) => (
  <>
    <span class="second">
      {isApart && "\n… "}
      <Block text={before} />
    </span>
    <Block text={text} />
  </>
)

const shown = (value: unknown): string =>
  value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value, null, 1)

/** Both pictures on one scale, so that heights can be compared. */
function BothStrata({ a, b }: { a: string; b: string }) {
  const left = useAnswer<StrataAnswer>(`/runs/${a}/strata`)
  const right = useAnswer<StrataAnswer>(`/runs/${b}/strata`)
  const most = Math.max(1, ...[left.value, right.value].map((data) => (data ? mostTokensOf(data) : 1)))
  if (left.value?.calls.length === 0 && right.value?.calls.length === 0) return null
  return (
    <section class="diff-strata" aria-label="what the model saw in both runs">
      {(
        [
          ["a", left],
          ["b", right],
        ] as const
      ).map(([letter, asked]) => (
        <div key={letter}>
          <p class="strata-head">
            <b>{letter}</b> <span class="quiet">what the model saw, on one scale</span>
          </p>
          {asked.value === null ? (
            waiting(asked)
          ) : asked.value.calls.length === 0 ? (
            <p class="quiet error-pane">no model call says what it was sent</p>
          ) : (
            <OneStrata
              data={asked.value}
              most={most}
              label={`run ${letter}: what the model saw in ${asked.value.calls.length} calls`}
            />
          )}
        </div>
      ))}
    </section>
  )
}

function OneStrata({ data, most, label }: { data: StrataAnswer; most: number; label: string }) {
  const picture = useMemo(() => strataPicture(data), [data])
  return <Strata picture={picture} selected={null} most={most} label={label} onSelect={() => {}} />
}

import { formatPercent } from "@orangebox/text"
import { about, type StrataData } from "../model/strata-cells.js"
import { hueOf } from "../tokens.js"
import { KIND_NAMES, kindWord, type StrataPicture } from "./draw-strata.js"

/** One or two calls have no strata to compare: each is a bar of its pieces, filled by what was paid. */
export function StrataBars({
  picture: { data, cells },
  selected,
  onSelect,
}: {
  picture: StrataPicture
  selected: number | null
  onSelect: (call: number) => void
}) {
  const most = Math.max(1, ...data.calls.map(({ tokens }) => tokens))
  return (
    <div class="strata-bars">
      {data.calls.map((call, at) => (
        <button
          key={call.n}
          type="button"
          class="plain"
          aria-current={at === selected ? "true" : undefined}
          onClick={() => onSelect(at)}
        >
          <span class={`mono ${at === selected ? "here" : ""}`}>#{call.n}</span>
          <span class="mono num">{Math.round(call.tokens).toLocaleString("en")}</span>
          <span class="stack" aria-hidden="true" style={{ width: `${(100 * call.tokens) / most}%` }}>
            {cells
              .filter(({ from, to }) => from <= at && at <= to)
              .sort((one, other) => one.top - other.top)
              .map(({ piece, state, top, bottom }) => (
                <i
                  key={`${piece} ${top}`}
                  class={`h-${hueOf(data.pieces[piece]!.kind)} fill ${state}`}
                  style={{ flex: `${bottom - top} 0 2px` }}
                />
              ))}
          </span>
          <span class="mono cache">
            {call.cache_read === null || !call.tokens ? "?" : about(call) + formatPercent(call.cache_read, call.tokens)}{" "}
            cached
          </span>
        </button>
      ))}
      <p class="bar-line second">
        {kindsIn(data).map((kind) => (
          <span key={kind} class="bar-line">
            <i class={`swatch b-${hueOf(kind)}`} /> {KIND_NAMES[kind] ?? kindWord(kind, 2)}
          </span>
        ))}
      </p>
    </div>
  )
}

const kindsIn = ({ pieces }: StrataData): string[] => [...new Set(pieces.map(({ kind }) => kind))]

import { formatPercent } from "@orangebox/text"
import { bandsOfCall } from "../model/strata-cells.js"
import { hueOf } from "../tokens.js"
import { KIND_NAMES, kindWord, type StrataPicture } from "./draw-strata.js"

/** The selected call in numbers: what it saw by kind, and what was paid for it. Also the legend of the picture. */
export function StrataReadout({ picture: { data }, call }: { picture: StrataPicture; call: number }) {
  const { n, tokens, cached, again, fresh, token_budget, excluded } = data.calls[call]!
  const bands = bandsOfCall(data, call)
  const kinds = new Map<string, number>()
  for (const [piece, , , , size] of bands) {
    const { kind } = data.pieces[piece]!
    kinds.set(kind, (kinds.get(kind) ?? 0) + size)
  }
  return (
    <section class="readout" aria-label={`what #${n} saw`} tabIndex={0}>
      <div class="bar-line">
        <span class="mono here">#{n}</span>
        <b>saw {Math.round(tokens).toLocaleString("en")} tokens</b>
        <span class="quiet">
          in {bands.length} {bands.length === 1 ? "piece" : "pieces"}
        </span>
      </div>
      <div class="stack" aria-hidden="true">
        {[...kinds].map(([kind, size]) => (
          <i key={kind} class={`b-${hueOf(kind)}`} style={{ flex: `${size} 0 0` }} />
        ))}
      </div>
      <div class="shares">
        {[...kinds].map(([kind, size]) => (
          <ShareRow
            key={kind}
            swatch={`swatch b-${hueOf(kind)}`}
            words={KIND_NAMES[kind] ?? kindWord(kind, 2)}
            size={size}
            whole={tokens}
          />
        ))}
      </div>
      <div class="rule" />
      <div class="shares">
        {cached !== null ? (
          <>
            <ShareRow swatch="swatch cached" words="read from the cache" size={cached} whole={tokens} />
            <ShareRow swatch="swatch again" words="sent before, paid again" size={again ?? 0} whole={tokens} />
          </>
        ) : (
          <ShareRow swatch="swatch held" words="sent before; cache unknown" size={tokens - fresh} whole={tokens} />
        )}
        <ShareRow swatch="swatch new" words="new in this call" size={fresh} whole={tokens} />
      </div>
      <div class="signs">
        <i class="swatch line" /> where the provider’s cache ended
        <i class="swatch answer" /> its answer, a band of the next call
        {data.pieces.some(({ is_error }) => is_error) && (
          <>
            <i class="swatch failed" /> a tool said it failed
          </>
        )}
        {data.calls.some(({ broke }) => broke) && (
          <>
            <i class="swatch broke" /> what changed, and broke the cache
          </>
        )}
      </div>
      <div class="quiet">
        Left out: {excluded === null ? "nobody recorded it (no manifest)." : `${excluded}.`}
        {token_budget !== null && ` Budget: ${token_budget.toLocaleString("en")} tokens.`}
      </div>
    </section>
  )
}

function ShareRow({ swatch, words, size, whole }: { swatch: string; words: string; size: number; whole: number }) {
  return (
    <>
      <i class={swatch} />
      <span>{words}</span>
      <span class="mono num">{Math.round(size).toLocaleString("en")}</span>
      <span class="mono num quiet">{whole > 0 ? formatPercent(size, whole) : ""}</span>
    </>
  )
}

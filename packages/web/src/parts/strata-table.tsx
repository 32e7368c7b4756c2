import { about, breakWords } from "../model/strata-cells.js"
import type { StrataPicture } from "./draw-strata.js"
import { Line } from "./recorded.js"

const count = (tokens: number | null): string => (tokens === null ? "?" : Math.round(tokens).toLocaleString("en"))

/** The numbers behind the picture: for screen readers, for paper, and for who would rather read. */
export function StrataTable({
  picture: { data },
  selected,
  onSelect,
}: {
  picture: StrataPicture
  selected: number | null
  onSelect: (call: number) => void
}) {
  return (
    <section class="strata-table" aria-label="what each call sent, in tokens" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">call</th>
            <th scope="col" class="num">
              tokens
            </th>
            <th scope="col" class="num">
              cached
            </th>
            <th scope="col" class="num">
              again
            </th>
            <th scope="col" class="num">
              new
            </th>
            <th scope="col">what broke</th>
          </tr>
        </thead>
        <tbody>
          {data.calls.map((call, at) => (
            <tr key={call.n}>
              <td>
                <button
                  type="button"
                  class={`plain mono ${at === selected ? "here" : ""}`}
                  onClick={() => onSelect(at)}
                >
                  #{call.n}
                </button>
              </td>
              <td class="num mono">{count(call.tokens)}</td>
              <td class="num mono">
                {about(call)}
                {count(call.cached)}
              </td>
              <td class="num mono">{count(call.again)}</td>
              <td class="num mono">{count(call.fresh)}</td>
              <td>
                {call.broke && (
                  <span class="warn">
                    <Line text={breakWords(call.broke, data.pieces)} />
                  </span>
                )}
                {call.dropped && (
                  <span class="inferred">
                    {" "}
                    −{count(call.dropped.tokens)}: {call.dropped.why.replaceAll("_", " ")}
                  </span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

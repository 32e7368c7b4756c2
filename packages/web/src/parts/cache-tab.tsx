import { formatPercent } from "@orangebox/text"
import { useAnswer } from "../api/memory-cache.js"
import { change, go } from "../state.js"
import { waiting } from "./pane-state.js"
import { Block, Line } from "./recorded.js"

interface CacheCall {
  readonly step_no: number
  readonly model: string | null
  readonly verdict: string | null
  readonly expected_tokens: number | null
  readonly is_exact: boolean
  readonly prompt_tokens: number | null
  readonly read_tokens: number | null
  readonly written_tokens: number | null
  readonly lost_tokens: number | null
  readonly lost_usd: number | null
  readonly why: string | null
  readonly reference: { readonly run_id: string; readonly step_no: number } | null
  readonly cause: string | null
  readonly confidence: string | null
  readonly detail: string | null
  readonly segment: { readonly index: number; readonly contributor: string | null; readonly kind: string } | null
  readonly bytes: {
    readonly at: number
    readonly before: string
    readonly now: string
    readonly introduced_by: string | null
  } | null
  readonly provider_said: string | null
}

const count = (tokens: number | null): string => (tokens === null ? "?" : tokens.toLocaleString("en"))
const COLOURS: Readonly<Record<string, string>> = { hit: "ok", short: "warn", miss: "bad", unknown: "second" }

/** What the provider's cache could have served of this call, what it did, and what broke it. */
export function CacheTab({ run, n, version }: { run: string; n: number; version: number }) {
  const asked = useAnswer<{ calls: readonly CacheCall[] }>(`/runs/${run}/cache`, version)
  if (asked.value === null) return waiting(asked)
  const call = asked.value.calls.find(({ step_no }) => step_no === n)
  if (!call) return <p class="quiet">Nothing is known of what the provider’s cache did for this call.</p>
  const { reference, bytes } = call
  return (
    <>
      <div class="tiles">
        <Tile
          name="could have been read"
          value={`${call.is_exact || call.expected_tokens === null ? "" : "≈"}${count(call.expected_tokens)}`}
        />
        <Tile
          name="was read"
          value={`${count(call.read_tokens)}${call.read_tokens !== null && call.prompt_tokens ? ` (${formatPercent(call.read_tokens, call.prompt_tokens)})` : ""}`}
        />
        <Tile name="was written" value={count(call.written_tokens)} />
        <Tile name="lost" value={count(call.lost_tokens)} />
        <Tile name="cost of the loss" value={call.lost_usd === null ? "?" : `$${call.lost_usd.toPrecision(2)}`} />
      </div>
      <p>
        <span class={`pill ${COLOURS[call.verdict ?? ""] ?? "second"}`}>{call.verdict ?? "nothing to read"}</span>{" "}
        {call.why && (
          <span class="second">
            <Line text={call.why} />
          </span>
        )}
      </p>
      {reference && (
        <p>
          its prefix was sent before by{" "}
          <button
            type="button"
            class="plain mono"
            onClick={() =>
              reference.run_id === run
                ? change({ step: reference.step_no }, "push")
                : go({ screen: "run", run: reference.run_id, step: reference.step_no })
            }
          >
            {reference.run_id === run ? "" : `${reference.run_id} `}#{reference.step_no}
          </button>
        </p>
      )}
      {call.cause && (
        <table class="facts-table">
          <tbody>
            <tr>
              <th scope="row">cause</th>
              <td>
                <b class="warn">{call.cause.replaceAll("_", " ")}</b>{" "}
                {call.confidence && <span class="second">{call.confidence}</span>}{" "}
                {call.detail && <Line text={call.detail} />}
              </td>
            </tr>
            {call.segment && (
              <tr>
                <th scope="row">first piece that changed</th>
                <td>
                  {call.segment.index + 1}. <Line text={call.segment.contributor ?? call.segment.kind} />
                </td>
              </tr>
            )}
            {bytes && (
              <>
                <tr>
                  <th scope="row">from its byte {bytes.at}</th>
                  <td class="mono">
                    <span class="removed">
                      − <Block text={bytes.before} />
                    </span>
                    <br />
                    <span class="added">
                      + <Block text={bytes.now} />
                    </span>
                  </td>
                </tr>
                <tr>
                  <th scope="row">put there by</th>
                  <td>{bytes.introduced_by ?? "not on record"}</td>
                </tr>
              </>
            )}
            {call.provider_said && (
              <tr>
                <th scope="row">the provider said</th>
                <td>
                  <Line text={call.provider_said} />
                </td>
              </tr>
            )}
          </tbody>
        </table>
      )}
    </>
  )
}

export function Tile({ name, value }: { name: string; value: string }) {
  return (
    <div class="tile">
      <b>{value}</b>
      <span>{name}</span>
    </div>
  )
}

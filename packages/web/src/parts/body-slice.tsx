import { formatBytes } from "@orangebox/text"
import { isExported } from "../api/client.js"
import { useAnswer } from "../api/memory-cache.js"
import { safeWords } from "../model/visible-text.js"
import { change, copy } from "../state.js"
import type { StepBody } from "./events-tab.js"
import { JsonText } from "./json-text.js"
import { waiting } from "./pane-state.js"
import { Block, Line } from "./recorded.js"

interface Slice {
  readonly hash: string | null
  readonly mime: string | null
  readonly form: "text" | "pretty" | "folded" | "hex"
  readonly from: number
  readonly to: number
  readonly total: number
  readonly byte_size: number
  readonly next_from: number | null
  readonly text: string
  readonly is_partial?: boolean
}

export const SLICE = 32_768
const FORMS = ["text", "pretty", "folded", "hex"] as const
/** A stream is folded into the message it makes; anything else is indented where it is JSON. */
const isFor = (form: (typeof FORMS)[number], mime: string | null): boolean =>
  form === "folded" ? isStream(mime) : form !== "pretty" || !isStream(mime)
const isStream = (mime: string | null): boolean => mime?.startsWith("text/event-stream") === true

interface Props {
  readonly body: StepBody | null
  /** Where the bytes of an answer lie that was torn off. */
  readonly partial: string | null
  readonly form: string | undefined
  readonly from: number | undefined
  readonly find: string | undefined
  readonly version: number
}

/** Some bytes of a body as they are on record, with the way to the rest. */
export function BodySlice({ body, partial, form, from, find, version }: Props) {
  const start = from ?? 0
  const asks = `${form === undefined ? "" : `form=${form}&`}from=${start}&to=${start + SLICE}`
  const asked = useAnswer<Slice>(
    partial ? `${partial}?${asks}` : body === null || body.absent !== null ? null : `/bodies/${body.hash}?${asks}`,
    version,
  )
  const isTorn = partial !== null
  if (body !== null && body.absent !== null)
    return (
      <p>
        Its bytes are not here: <Line text={body.absent} />. They were {formatBytes(body.byte_size)},{" "}
        <span class="mono">{body.hash}</span>
      </p>
    )
  const slice = asked.value
  if (slice === null) return waiting(asked)
  const isWhole = slice.from === 0 && slice.to >= slice.total
  return (
    <>
      <div class="bar-line">
        {!isExported() && (
          <span class="choice" role="group" aria-label="how it is shown">
            {FORMS.filter((one) => isFor(one, slice.mime)).map((one) => (
              <button
                key={one}
                type="button"
                aria-pressed={slice.form === one}
                onClick={() => change({ form: one, from: undefined })}
              >
                {one}
              </button>
            ))}
          </span>
        )}
        <span>
          {isWhole
            ? formatBytes(slice.total)
            : `bytes ${slice.from.toLocaleString("en")}–${slice.to.toLocaleString("en")} of ${slice.total.toLocaleString("en")}`}
          {slice.mime && ` · ${safeWords(slice.mime, 60)}`}
        </span>
        {!isWhole && (
          <span class="choice">
            <button
              type="button"
              disabled={slice.from === 0}
              onClick={() => change({ from: Math.max(0, slice.from - SLICE) || undefined })}
            >
              ← before
            </button>
            <button
              type="button"
              disabled={slice.next_from === null}
              onClick={() => change({ from: slice.next_from ?? undefined })}
            >
              next →
            </button>
          </span>
        )}
        <button type="button" onClick={() => copy(slice.text, "what is shown")}>
          Copy
        </button>
        {body && <span class="quiet mono cut">{body.hash}</span>}
      </div>
      <pre
        class={`slice ${slice.form === "hex" ? "hex" : ""} ${isTorn && slice.next_from === null ? "torn-edge" : ""}`}
        tabIndex={0}
        aria-label="bytes of the body"
      >
        {slice.form === "pretty" || slice.form === "folded" ? (
          <JsonText text={slice.text} find={find} />
        ) : (
          <Block text={slice.text} find={find} />
        )}
      </pre>
      {isTorn && slice.next_from === null && <p class="bad">✗ torn off here: no more of it had come</p>}
    </>
  )
}

import { formatBytes } from "@orangebox/text"
import { useEffect, useState } from "preact/hooks"
import { askBytes } from "../api/client.js"
import { asProblem } from "../api/memory-cache.js"
import { imageKind, MOST_IMAGE_BYTES } from "../model/image-bytes.js"
import { change } from "../state.js"
import { JsonText } from "./json-text.js"
import { Block, Line } from "./recorded.js"

/** A text, or its two ends with how long it is. */
export interface CutText {
  readonly text: string
  readonly tail: string | null
  readonly chars: number
}

/** A piece of a conversation, as the dialect reads it. Text is text: no Markdown, no links, no tags. */
export type Part =
  | ({ readonly type: "text" | "thinking" | "other" | "image" | "document" } & CutText)
  | {
      readonly type: "call"
      readonly name: string
      readonly step: number | null
      readonly arguments: CutText
      readonly edits: readonly { readonly path: string | null; readonly diff: CutText }[]
    }

/** Where the bytes of a piece lie in a request. */
export interface PieceBytes {
  readonly hash: string
  readonly from: number
  readonly to: number
}

export interface PlacedPart {
  readonly part: Part
  readonly body: PieceBytes | null
}

export function Parts({
  parts,
  find,
  isTorn = false,
}: {
  parts: readonly PlacedPart[]
  find: string | undefined
  isTorn?: boolean
}) {
  return (
    <>
      {parts.map((placed, at) => (
        <PartView key={at} {...placed} find={find} isTorn={isTorn && at === parts.length - 1} />
      ))}
    </>
  )
}

function PartView({ part, body, find, isTorn }: PlacedPart & { find: string | undefined; isTorn: boolean }) {
  const torn = isTorn ? "torn" : ""
  if (part.type === "image") return <ImageCard body={body} />
  if (part.type === "call")
    return (
      <pre class={torn}>
        <span class="quiet">
          <Line text={part.name} />
          {"  "}
          <ShortArguments part={part} find={find} />
        </span>
        {part.step !== null && (
          <button type="button" class="plain second" onClick={() => change({ step: part.step! }, "push")}>
            → #{part.step}
          </button>
        )}
        {"\n"}
        {part.edits.length > 0
          ? part.edits.map((edit, at) => <EditLines key={at} diff={edit.diff} find={find} />)
          : shortArguments(part.arguments) === null && (
              <Cut cut={part.arguments} body={body} find={find} isJson={true} />
            )}
      </pre>
    )
  return (
    <pre class={`${torn} ${part.type === "thinking" ? "second" : ""}`}>
      {part.type === "thinking" && <span class="quiet">{"thinking\n"}</span>}
      <Cut cut={part} body={body} find={find} isJson={part.type === "other"} />
    </pre>
  )
}

const FOLDED_LINES = 8

/** Both ends of a long text, and the way to the bytes between them. */
function Cut({
  cut,
  body,
  find,
  isJson,
}: {
  cut: CutText
  body: PieceBytes | null
  find: string | undefined
  isJson: boolean
}) {
  const [isOpen, setOpen] = useState(false)
  const show = (text: string) => (isJson ? <JsonText text={text} find={find} /> : <Block text={text} find={find} />)
  const lines = cut.text.split("\n")
  // What is long is folded, so that the answer below it is in sight; what was looked for is not.
  if (!isOpen && lines.length > FOLDED_LINES + 4 && !(find && cut.text.toLowerCase().includes(find.toLowerCase())))
    return (
      <>
        {show(lines.slice(0, FOLDED_LINES).join("\n"))}
        {"\n"}
        <button type="button" class="plain second" onClick={() => setOpen(true)}>
          … {lines.length - FOLDED_LINES} lines more
        </button>
      </>
    )
  if (cut.tail === null) return show(cut.text)
  const left = formatBytes(cut.chars - cut.text.length - cut.tail.length)
  return (
    <>
      {show(cut.text)}
      {"\n"}
      {body === null ? (
        <span class="quiet">… {left} more</span>
      ) : (
        <button
          type="button"
          class="plain second"
          onClick={() => change({ tab: "request", form: "text", from: body.from }, "push")}
        >
          … {left} more
        </button>
      )}
      {"\n"}
      {show(cut.tail)}
    </>
  )
}

/** The lines of a diff that changed, without its headers. */
function EditLines({ diff, find }: { diff: CutText; find: string | undefined }) {
  const lines = diff.text.split("\n").filter((line) => !/^(?:---|\+\+\+|@@)/.test(line))
  return (
    <>
      {lines.map((line, at) => (
        <span key={at} class={line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : ""}>
          {line.slice(0, 1)} <Block text={line.slice(1)} find={find} />
          {at < lines.length - 1 && "\n"}
        </span>
      ))}
      {diff.tail !== null && <span class="quiet">{`… ${formatBytes(diff.chars)} in all\n`}</span>}
    </>
  )
}

function ShortArguments({ part, find }: { part: Extract<Part, { type: "call" }>; find: string | undefined }) {
  const paths = [...new Set(part.edits.flatMap(({ path }) => path ?? []))]
  const words = paths.length > 0 ? paths.join(", ") : (shortArguments(part.arguments) ?? "")
  return <Line text={words} find={find} />
}

/** Arguments that are one short value are that value; null for all others. */
function shortArguments({ text, tail }: CutText): string | null {
  if (tail !== null || text.length > 200) return null
  try {
    const values = Object.values(JSON.parse(text) as object)
    if (values.length === 0) return ""
    return values.length === 1 && typeof values[0] === "string" && !values[0].includes("\n") ? values[0] : null
  } catch {
    return null
  }
}

/** An image is drawn when somebody asks for it, and only if its bytes are of a kind that cannot run anything. */
function ImageCard({ body }: { body: PieceBytes | null }) {
  const [shown, setShown] = useState<{ url: string } | { why: string } | null>(null)
  useEffect(() => () => (shown && "url" in shown ? URL.revokeObjectURL(shown.url) : undefined), [shown])
  const load = async ({ hash, from, to }: PieceBytes) => {
    try {
      const bytes = await askBytes(`/bodies/${hash}/picture?from=${from}&to=${to}`)
      const kind = imageKind(bytes)
      if (kind === null) setShown({ why: "its bytes are not a PNG, JPEG, GIF or WebP image, so they are not drawn" })
      else setShown({ url: URL.createObjectURL(new Blob([bytes], { type: kind })) })
    } catch (cause) {
      setShown({ why: asProblem(cause).what })
    }
  }
  return (
    <div class="card">
      <span>image{body && ` · ${formatBytes(body.to - body.from)} of the request`}</span>
      {shown && "url" in shown ? (
        <img src={shown.url} alt="from the recording" />
      ) : shown ? (
        <span class="warn">{shown.why}</span>
      ) : body === null ? (
        <span class="quiet">its bytes are not on record</span>
      ) : body.to - body.from > MOST_IMAGE_BYTES * 1.4 ? (
        <span class="quiet">too large to be drawn here</span>
      ) : (
        <button type="button" onClick={() => void load(body)}>
          Show
        </button>
      )}
    </div>
  )
}

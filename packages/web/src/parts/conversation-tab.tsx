import { formatBytes } from "@orangebox/text"
import { useEffect, useRef, useState } from "preact/hooks"
import { useAnswer } from "../api/memory-cache.js"
import { safeWords } from "../model/visible-text.js"
import { change } from "../state.js"
import { hueOf } from "../tokens.js"
import { kindWord } from "./draw-strata.js"
import { type Part, Parts, type PieceBytes } from "./message.js"
import { waiting } from "./pane-state.js"
import { Line } from "./recorded.js"

interface Piece {
  readonly state: "again" | "new"
  readonly kind: string
  /** Of the request, counted from 0; what stands before the first message has none. */
  readonly message: number | null
  readonly tool: string | null
  readonly tokens: number | null
  readonly is_estimated: boolean
  readonly is_error: boolean
  readonly from_step: number | null
  readonly body: PieceBytes | null
  readonly part: Part
}

interface Conversation {
  readonly n: number
  readonly request: { readonly absent: string } | null
  readonly since: {
    readonly n: number
    readonly prompt_tokens: number | null
    readonly pieces: number
    readonly tokens: number | null
    readonly kinds: readonly { readonly kind: string; readonly count: number }[]
  } | null
  readonly pieces: readonly Piece[] | null
  readonly answer: {
    readonly tokens: number | null
    readonly is_torn: boolean
    readonly byte_size: number | null
    readonly withheld_bytes: number
    readonly error: unknown
    readonly parts: readonly Part[] | null
  } | null
}

/** Neighbouring pieces of one message and kind are read as one. */
export function messagesOf(pieces: readonly Piece[]): Piece[][] {
  const messages: Piece[][] = []
  for (const piece of pieces) {
    const last = messages.at(-1)?.[0]
    const goesOn =
      last &&
      piece.message !== null &&
      last.message === piece.message &&
      last.kind === piece.kind &&
      last.kind === "assistant"
    if (goesOn) messages.at(-1)!.push(piece)
    else messages.push([piece])
  }
  return messages
}

/** What is new since the call before, and the answer; what it had before is one fold. */
export function ConversationTab({
  run,
  n,
  version,
  find,
}: {
  run: string
  n: number
  version: number
  find: string | undefined
}) {
  const [isOpen, setOpen] = useState(false)
  const asked = useAnswer<Conversation>(`/runs/${run}/steps/${n}/conversation`, version)
  const conversation = asked.value
  const torn = useRef<HTMLElement>(null)
  // Of a call that was cut off, what had come of the answer is what one came for.
  useEffect(() => torn.current?.scrollIntoView({ block: "end" }), [conversation?.answer?.is_torn, n])
  if (conversation === null) return waiting(asked)
  const { since, answer } = conversation
  const pieces = conversation.pieces ?? []
  const again = messagesOf(pieces.filter(({ state }) => state === "again"))
  const fresh = messagesOf(pieces.filter(({ state }) => state === "new"))
  const tools = fresh.flat().filter(({ kind }) => kind === "tool-def")
  const shown = tools.length > 1 ? fresh.filter(([first]) => first!.kind !== "tool-def") : fresh
  return (
    <>
      {since && since.pieces > 0 && (
        <button type="button" class="plain fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? "▾" : "▸"} {since.pieces} {since.pieces === 1 ? "piece" : "pieces"} as in #{since.n}
          {since.prompt_tokens !== null && ` (${since.prompt_tokens.toLocaleString("en")} tokens)`}:{" "}
          {since.kinds.map(kindCount).join(", ")}
        </button>
      )}
      {!isOpen && tools.length > 1 && (
        <button type="button" class="plain fold" aria-expanded={false} onClick={() => setOpen(true)}>
          ▸ {tools.length} tools, new:{" "}
          {tools
            .map(({ tool }) => (tool === null ? "?" : safeWords(tool, 40)))
            .join(", ")
            .slice(0, 120)}
        </button>
      )}
      {(isOpen ? [...again, ...fresh] : shown).map((message, at) => (
        <MessageView key={at} pieces={message} find={find} />
      ))}
      {pieces.length === 0 && (
        <p class="quiet">
          {conversation.request ? (
            <>
              What it was sent is not here: <Line text={conversation.request.absent} />
            </>
          ) : (
            "What this call was sent is not on record."
          )}
        </p>
      )}
      {answer ? (
        <>
          <div class="between">
            {answer.is_torn
              ? `${answer.byte_size === null ? "some" : formatBytes(answer.byte_size)} of the answer had come`
              : `answered ${answer.tokens === null ? "? tokens" : `${answer.tokens.toLocaleString("en")} tokens`}`}
          </div>
          <article class="msg h-model" ref={answer.is_torn ? torn : null}>
            <div class="msg-head">
              <b>assistant</b>
              <span>{asksOf(answer.parts ?? [])}</span>
              {answer.is_torn && <span class="bad">✗ torn off here</span>}
              {answer.withheld_bytes > 0 && (
                <span class="warn">
                  {formatBytes(answer.withheld_bytes)} had not been searched for secrets and were not written
                </span>
              )}
            </div>
            {answer.parts === null ? (
              <p class="quiet card">No dialect reads it; the Response tab has its bytes.</p>
            ) : (
              <Parts parts={answer.parts.map((part) => ({ part, body: null }))} find={find} isTorn={answer.is_torn} />
            )}
          </article>
        </>
      ) : (
        <div class="between">no answer is on record</div>
      )}
    </>
  )
}

const kindCount = ({ kind, count }: { kind: string; count: number }): string =>
  `${count > 1 ? `${count} ` : ""}${kindWord(kind, count)}`

const KIND_NAMES: Readonly<Record<string, string>> = {
  "tool-def": "tool",
  "tool-result": "tool result",
  system: "system prompt",
}

function MessageView({ pieces, find }: { pieces: readonly Piece[]; find: string | undefined }) {
  const { kind, tool, is_error, from_step, state } = pieces[0]!
  const tokens = pieces.reduce((sum, piece) => sum + (piece.tokens ?? 0), 0)
  const isEstimated = pieces.some(({ is_estimated }) => is_estimated)
  const facts = [
    state === "new" ? "new" : "as before",
    `${isEstimated ? "≈" : ""}${Math.round(tokens).toLocaleString("en")} tokens`,
    is_error ? "is_error" : null,
    asksOf(pieces.map(({ part }) => part)) || null,
  ].filter((fact) => fact !== null)
  return (
    <article class={`msg h-${is_error ? "error" : hueOf(kind)}`}>
      <div class="msg-head">
        <b>
          {KIND_NAMES[kind] ?? kind}
          {tool !== null && kind !== "assistant" && (
            <>
              {" "}
              <Line text={tool} />
            </>
          )}
        </b>
        <span>{facts.join(" · ")}</span>
        {from_step !== null && (
          <span>
            from{" "}
            <button type="button" class="plain mono" onClick={() => change({ step: from_step }, "push")}>
              #{from_step}
            </button>
          </span>
        )}
      </div>
      <Parts parts={pieces} find={find} />
    </article>
  )
}

function asksOf(parts: readonly Part[]): string {
  const names = parts.flatMap((part) => (part.type === "call" ? [safeWords(part.name, 60)] : []))
  return names.length === 0 ? "" : `asks ${names.join(", ")}`
}

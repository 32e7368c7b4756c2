import { formatBytes, prettyJsonText } from "@orangebox/text"
import { useAnswer } from "../api/memory-cache.js"
import { safeWords } from "../model/visible-text.js"
import { SLICE } from "./body-slice.js"
import type { StepAnswer, StepBody } from "./events-tab.js"
import { JsonText } from "./json-text.js"
import { waiting } from "./pane-state.js"
import { Block, Line } from "./recorded.js"

/** The bodies below say these whole. */
const SAID_ELSEWHERE = ["name", "args", "result", "result_bytes"]

/** What a tool was called with, what it gave back, what it did. */
export function ToolTab({ answer, version, find }: { answer: StepAnswer; version: number; find: string | undefined }) {
  const facts = Object.entries(answer.step.tool ?? {}).filter(
    ([name, value]) => !SAID_ELSEWHERE.includes(name) && value !== null && typeof value !== "object",
  )
  const error = answer.step.error
  return (
    <>
      {error && (
        <p class="bad">
          ✗ <Line text={[error.error_class, error.line].filter(Boolean).join(": ")} />
        </p>
      )}
      {facts.length > 0 && (
        <table class="facts-table">
          <tbody>
            {facts.map(([name, value]) => (
              <tr key={name}>
                <th scope="row">{name.replaceAll("_", " ")}</th>
                <td class="mono">
                  <Line text={String(value)} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {answer.bodies.map((body) => (
        <BodyCard
          key={body.role + body.hash}
          body={body}
          isBad={answer.step.status === "error"}
          version={version}
          find={find}
        />
      ))}
      {answer.bodies.length === 0 && <p class="quiet">No body of this step was kept.</p>}
    </>
  )
}

const SHOWN = 4000

function BodyCard({
  body: { role, hash, byte_size, mime_type, absent },
  isBad,
  version,
  find,
}: {
  body: StepBody
  isBad: boolean
  version: number
  find: string | undefined
}) {
  const asked = useAnswer<{ text: string; to: number; total: number; next_from: number | null }>(
    absent === null ? `/bodies/${hash}?from=0&to=${SLICE}` : null,
    version,
  )
  // What is not whole is no JSON, and stays as it came.
  const text =
    asked.value === null
      ? ""
      : asked.value.next_from === null && mime_type?.includes("json")
        ? prettyJsonText(asked.value.text)
        : asked.value.text
  const shown = text.slice(0, SHOWN)
  const isResult = /result|output|error/.test(role)
  return (
    <article class={`msg ${isBad && isResult ? "h-error" : "h-tool"}`}>
      <div class="msg-head">
        <b>{role}</b>
        <span>
          {formatBytes(byte_size)}
          {mime_type && ` · ${safeWords(mime_type, 60)}`}
        </span>
      </div>
      {absent !== null ? (
        <p class="card">
          Its bytes are not here: <Line text={absent} /> <span class="quiet mono">{hash}</span>
        </p>
      ) : asked.value === null ? (
        waiting(asked)
      ) : (
        <pre>
          {mime_type?.includes("json") ? <JsonText text={shown} find={find} /> : <Block text={shown} find={find} />}
          {shown.length < text.length && (
            <span class="quiet">{`\n… ${formatBytes(asked.value.total - shown.length)} more: ${hash}`}</span>
          )}
        </pre>
      )}
    </article>
  )
}

import { change } from "../state.js"
import { Line } from "./recorded.js"

export interface StepAnswer {
  readonly step: {
    readonly n: number
    readonly kind: string
    readonly name: string | null
    readonly status: string
    readonly events: number
    readonly body_bytes: number
    readonly error: {
      readonly error_class?: string | null
      readonly line?: string | null
      readonly exit_code?: number | null
    } | null
    readonly model: {
      readonly model_id: string | null
      readonly first_byte_ms: number | null
      readonly finish_reason: string | null
    } | null
    readonly tool: Readonly<Record<string, unknown>> | null
  }
  readonly rows: readonly {
    readonly section: string
    readonly name: string
    readonly value: unknown
    readonly detail?: string
  }[]
  readonly total: number
  readonly bodies: readonly StepBody[]
  readonly partials: readonly { readonly role: string; readonly byte_size: number; readonly withheld_bytes?: number }[]
  readonly follows: readonly number[]
  readonly followed_by: readonly number[]
}

export interface StepBody {
  readonly role: string
  readonly hash: string
  readonly byte_size: number | null
  readonly mime_type: string | null
  /** Why its bytes are not there, else null. */
  readonly absent: string | null
}

/** Every fact about the step, section by section. */
export function EventsTab({ answer }: { answer: StepAnswer }) {
  const sections = new Map<string, StepAnswer["rows"][number][]>()
  for (const row of answer.rows) {
    const known = sections.get(row.section)
    if (known) known.push(row)
    else sections.set(row.section, [row])
  }
  return (
    <>
      {[...sections].map(([section, rows]) => (
        <section key={section}>
          <h3>{section}</h3>
          <table class="facts-table">
            <tbody>
              {rows.map(({ name, value, detail }, at) => (
                <tr key={at}>
                  <th scope="row">
                    <Fact value={name} />
                  </th>
                  <td class="mono">
                    <Fact value={value} />
                    {detail && (
                      <span class="second">
                        {" "}
                        <Line text={detail} />
                      </span>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      ))}
      {answer.rows.length < answer.total && (
        <p class="quiet">
          {answer.rows.length} of {answer.total} facts; the rest: orangebox step
        </p>
      )}
    </>
  )
}

function Fact({ value }: { value: unknown }) {
  if (value === null || value === undefined) return <span class="quiet">?</span>
  const text = typeof value === "string" ? value : JSON.stringify(value)
  const step = /^#(\d+)\b/.exec(text)?.[1]
  if (step !== undefined)
    return (
      <button type="button" class="plain" onClick={() => change({ step: Number(step) }, "push")}>
        <Line text={text} />
      </button>
    )
  return <Line text={text} />
}

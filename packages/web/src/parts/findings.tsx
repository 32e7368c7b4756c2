import { useEffect, useRef } from "preact/hooks"
import { type Finding, findingWords, type LookHere, type Violation } from "../model/look-here.js"
import { safeWords } from "../model/visible-text.js"
import { change } from "../state.js"
import { Line } from "./recorded.js"

export interface Findings {
  readonly findings: readonly Finding[]
  readonly not_run: readonly { readonly detector: string; readonly why: string }[]
  readonly is_unexplained: boolean
  readonly suspects: readonly { readonly step_no: number; readonly why: readonly string[] }[]
}

const stepOfFinding = ({ fails_step, cause_step }: Finding): number | null => cause_step ?? fails_step

const GLYPHS: Readonly<Record<string, readonly [string, string]>> = {
  fatal: ["✗", "bad"],
  harm: ["✗", "bad"],
  waste: ["≋", "cache"],
  notice: ["·", "quiet"],
}

/** What to look at first; `at` is the one the reader is at. */
export function FindingsStrip({
  list,
  suspects,
  at,
  selected,
  onSelect,
}: {
  list: readonly LookHere[]
  suspects: Findings["suspects"]
  at: number | null
  selected: number | null
  onSelect: (index: number) => void
}) {
  const items = useRef<HTMLUListElement>(null)
  useEffect(() => {
    if (at !== null) items.current?.children[at]?.scrollIntoView({ block: "nearest", inline: "nearest" })
  }, [at])
  if (list.length === 0 && suspects.length === 0) return null
  return (
    <section class="finds" aria-label="findings" tabIndex={0}>
      <h2>{list.length > 0 ? "Look here first" : "Nothing explains how it ended; begin with"}</h2>
      <kbd>n</kbd>
      <ul ref={items}>
        {list.map(({ severity, step, toStep, words }, index) => {
          const [glyph, colour] = GLYPHS[severity]!
          const isHere =
            at === null ? index === list.findIndex((one) => one.step !== null && one.step === selected) : index === at
          return (
            // Who says much gives way first, so that what is said shortly is read whole.
            <li key={index} style={{ flexShrink: (words.length / 40) ** 3 }}>
              <button
                type="button"
                title={safeWords(words, 400)}
                aria-current={isHere ? "true" : undefined}
                onClick={() => onSelect(index)}
              >
                <span class={colour}>{glyph}</span>
                {step !== null && (
                  <span class="mono">
                    #{step}
                    {toStep !== null && toStep !== step && ` … #${toStep}`}
                  </span>
                )}
                <span class="cut">
                  <Line text={words} />
                </span>
              </button>
            </li>
          )
        })}
        {list.length === 0 &&
          suspects.map(({ step_no, why }) => (
            <li key={step_no}>
              <button type="button" onClick={() => change({ step: step_no })}>
                <span class="mono">#{step_no}</span> <Line text={why.join(", ")} />
              </button>
            </li>
          ))}
      </ul>
      <button type="button" onClick={() => change({ panel: "findings" })}>
        All <kbd>f</kbd>
      </button>
    </section>
  )
}

/** Every finding with its words, its evidence and what could not be looked for. */
export function FindingsPanel({
  findings,
  violations,
  onSelect,
}: {
  findings: Findings
  violations: readonly Violation[]
  onSelect: (n: number) => void
}) {
  const close = () => change({ panel: undefined })
  return (
    <aside class="side" aria-label="what is broken">
      <div class="dialog-head">
        <h2>What is broken</h2>
        <button type="button" onClick={close} aria-label="close">
          ✕
        </button>
      </div>
      {findings.findings.length === 0 && <p>No detector found anything broken. That is no proof that nothing is.</p>}
      {findings.findings.map((finding) => (
        <article key={finding.finding_id} class={`finding s-${finding.severity}`}>
          <p>
            <b class={GLYPHS[finding.severity]?.[1] ?? ""}>{finding.severity}</b> {finding.confidence} ·{" "}
            {finding.detector.replaceAll("_", " ")}
            {finding.kind && ` · ${finding.kind.replaceAll("_", " ")}`}
          </p>
          <p>
            <Line text={findingWords(finding, violations)} />
          </p>
          <p class="bar-line">
            {stepOfFinding(finding) !== null && (
              <button type="button" onClick={() => onSelect(stepOfFinding(finding)!)}>
                open #{stepOfFinding(finding)}
              </button>
            )}
            {finding.evidence.map((place, at) =>
              place.step_no !== null && place.run_id === null ? (
                <button
                  key={at}
                  type="button"
                  class="plain mono"
                  onClick={() =>
                    change({
                      step: place.step_no!,
                      tab: place.role === "request" || place.role === "response" ? place.role : undefined,
                      from: place.from ?? undefined,
                      panel: undefined,
                    })
                  }
                >
                  #{place.step_no}
                  {place.role ? ` ${place.role}` : ""}
                </button>
              ) : null,
            )}
          </p>
        </article>
      ))}
      {findings.suspects.length > 0 && (
        <section>
          <h3>Begin reading with</h3>
          {findings.suspects.map(({ step_no, why }) => (
            <p key={step_no}>
              <button type="button" class="plain mono" onClick={() => change({ step: step_no })}>
                #{step_no}
              </button>{" "}
              <Line text={why.join(", ")} />
            </p>
          ))}
        </section>
      )}
      {findings.not_run.length > 0 && (
        <section class="second">
          <h3>Could not be looked for</h3>
          {findings.not_run.map(({ detector, why }) => (
            <p key={detector}>
              {detector.replaceAll("_", " ")}: <Line text={why} />
            </p>
          ))}
        </section>
      )}
    </aside>
  )
}

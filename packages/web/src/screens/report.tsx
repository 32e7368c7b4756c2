import { formatDuration } from "@orangebox/text"
import { useAnswer } from "../api/memory-cache.js"
import { Tile } from "../parts/cache-tab.js"
import { waiting } from "../parts/pane-state.js"
import { Line } from "../parts/recorded.js"
import { change } from "../state.js"

interface Report {
  readonly summary: Readonly<Record<string, unknown>> & {
    readonly verdict: string
    readonly alignment: string
    readonly quality: string
    readonly policy: string
    readonly decisions: number
    readonly files_changed: number
    readonly lines_added: number
    readonly lines_removed: number
    readonly commands: number
    readonly failed_commands: number
    readonly test_runs: number
    readonly last_test_outcome: string | null
  }
  readonly violations: readonly {
    readonly id: string
    readonly severity: string
    readonly message: string
    readonly evidence: string | null
    readonly rule: string | null
    readonly count: number
    readonly steps: readonly { readonly step_no: number }[]
    readonly pointers: readonly { readonly ref: string | null; readonly start?: number }[]
  }[]
  readonly timeline: readonly {
    readonly event_id: string
    readonly offset_ms: number | null
    readonly step_no: number | null
    readonly action_type: string
    readonly summary: string
    readonly status: string
    readonly verdict: string
    readonly is_inferred: boolean
  }[]
  readonly artifacts: readonly Readonly<Record<string, unknown>>[]
  readonly observability: {
    readonly failures: readonly {
      readonly failure: string
      readonly step_no: number | null
      readonly detail: string | null
    }[]
    readonly bypasses: readonly {
      readonly bypass: string
      readonly step_no: number | null
      readonly detail: string | null
      readonly certainty: string
    }[]
  }
  readonly overrides: readonly {
    readonly author: string
    readonly verdict: string
    readonly reason: string | null
    readonly at: string
    readonly step_no: number | null
  }[]
  readonly recorded_evaluations: readonly {
    readonly event_id: string
    readonly evaluator: string
    readonly timestamp: string
    readonly verdict: string
    readonly differs: boolean
  }[]
}

const COLOURS: Readonly<Record<string, string>> = { pass: "ok", fail: "bad", warn: "warn", unknown: "second" }

/** What the run did, which rules it broke, and what its trail does not tell. */
export function ReportScreen({ run, version }: { run: string; version: number }) {
  const asked = useAnswer<Report>(`/runs/${run}/report`, version)
  const report = asked.value
  if (report === null) return <main class="page">{waiting(asked)}</main>
  const { summary } = report
  return (
    <main class="page">
      <section class="panel" aria-label="verdicts">
        <h2>Verdict</h2>
        <p class="bar-line">
          <span class={`pill ${COLOURS[summary.verdict] ?? "second"}`}>{summary.verdict}</span>
          {(["alignment", "quality", "policy"] as const).map((name) => (
            <span key={name}>
              {name} <b class={COLOURS[summary[name]] ?? "second"}>{summary[name]}</b>
            </span>
          ))}
        </p>
        <div class="tiles">
          <Tile name="decisions" value={String(summary.decisions)} />
          <Tile
            name="files changed"
            value={`${summary.files_changed}  +${summary.lines_added} −${summary.lines_removed}`}
          />
          <Tile
            name="commands"
            value={`${summary.commands}${summary.failed_commands > 0 ? `, ${summary.failed_commands} failed` : ""}`}
          />
          <Tile
            name="test runs"
            value={`${summary.test_runs}${summary.last_test_outcome ? `, last ${summary.last_test_outcome}` : ""}`}
          />
        </div>
      </section>
      <section class="panel" aria-label="broken rules">
        <h2>Broken rules</h2>
        {report.violations.length === 0 && <p class="second">None that could be checked.</p>}
        {report.violations.map((violation) => (
          <article
            key={violation.id + violation.message}
            class={`finding s-${violation.severity === "fail" ? "harm" : "waste"}`}
          >
            <p>
              <b class={violation.severity === "fail" ? "bad" : "warn"}>
                {violation.severity === "fail" ? "✗" : "!"} {violation.severity}
              </b>{" "}
              <Line text={violation.message} />
              {violation.count > 1 && ` (${violation.count}×)`}
            </p>
            <p class="bar-line second">
              {violation.rule && (
                <span class="mono">
                  <Line text={violation.rule} />
                </span>
              )}
              {violation.steps.map(({ step_no }) => (
                <Step key={step_no} n={step_no} />
              ))}
            </p>
          </article>
        ))}
      </section>
      <section class="panel wide" aria-label="actions">
        <h2>Actions</h2>
        <table>
          <thead>
            <tr>
              <th scope="col">step</th>
              <th scope="col" class="num">
                after
              </th>
              <th scope="col">what</th>
              <th scope="col">action</th>
              <th scope="col">status</th>
              <th scope="col">verdict</th>
            </tr>
          </thead>
          <tbody>
            {report.timeline.map((action) => (
              <tr key={action.event_id}>
                <td>{action.step_no !== null && <Step n={action.step_no} />}</td>
                <td class="num mono">{action.offset_ms === null ? "?" : formatDuration(action.offset_ms * 1000)}</td>
                <td>{action.action_type}</td>
                <td class={`mono ${action.is_inferred ? "inferred" : ""}`}>
                  <Line text={action.summary} />
                </td>
                <td class={action.status === "success" ? "" : "bad"}>{action.status}</td>
                <td class={COLOURS[action.verdict] ?? ""}>{action.verdict}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {report.artifacts.length > 0 && (
        <section class="panel wide" aria-label="artifacts">
          <h2>Artifacts</h2>
          <table>
            <tbody>
              {report.artifacts.map((artifact, at) => (
                <tr key={at}>
                  <td>{typeof artifact["step_no"] === "number" && <Step n={artifact["step_no"]} />}</td>
                  <td>
                    <Line text={String(artifact["artifact_type"] ?? artifact["kind"] ?? artifact["type"] ?? "")} />
                  </td>
                  <td class="mono">
                    <Line text={String(artifact["path"] ?? artifact["summary"] ?? artifact["name"] ?? "")} />
                  </td>
                  <td class="num mono">{lineChange(artifact)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      <section class="panel" aria-label="holes in the trail">
        <h2>Holes in the trail</h2>
        {report.observability.failures.length + report.observability.bypasses.length === 0 && (
          <p class="second">None.</p>
        )}
        {report.observability.failures.map(({ failure, step_no, detail }, at) => (
          <p key={at}>
            <span class="bad">✗</span> {failure.replaceAll("_", " ")} {step_no !== null && <Step n={step_no} />}{" "}
            {detail && <Line text={detail} />}
          </p>
        ))}
        {report.observability.bypasses.map(({ bypass, step_no, detail, certainty }, at) => (
          <p key={at}>
            <span class="warn">!</span> {bypass.replaceAll("_", " ")} ({certainty}){" "}
            {step_no !== null && <Step n={step_no} />} {detail && <Line text={detail} />}
          </p>
        ))}
      </section>
      {(report.overrides.length > 0 || report.recorded_evaluations.length > 0) && (
        <section class="panel" aria-label="what others said">
          <h2>What was said later</h2>
          {report.overrides.map(({ author, verdict, reason, at, step_no }) => (
            <p key={at}>
              <Line text={author} /> said <b class={COLOURS[verdict] ?? ""}>{verdict}</b>{" "}
              {step_no !== null && <Step n={step_no} />} {reason && <Line text={reason} />}
            </p>
          ))}
          {report.recorded_evaluations.map(({ event_id, evaluator, timestamp, verdict, differs }) => (
            <p key={event_id}>
              <Line text={evaluator} /> {timestamp.slice(0, 16).replace("T", " ")}:{" "}
              <b class={COLOURS[verdict] ?? ""}>{verdict}</b>
              {differs && <span class="warn"> · differs from what is computed now</span>}
            </p>
          ))}
        </section>
      )}
    </main>
  )
}

const Step = ({ n }: { n: number }) => (
  <button type="button" class="plain mono" onClick={() => change({ step: n, view: undefined }, "push")}>
    #{n}
  </button>
)

function lineChange(artifact: Readonly<Record<string, unknown>>): string {
  const added = artifact["lines_added"]
  const removed = artifact["lines_removed"]
  return typeof added === "number" && typeof removed === "number" ? `+${added} −${removed}` : ""
}

import type { ApiProblem } from "../api/client.js"
import type { Asked } from "../api/memory-cache.js"
import { Line } from "./recorded.js"

/** A sentence where the answer would be: what happened, and what to do. The rest of the page stays alive. */
export function ProblemPane({ problem, retry }: { problem: ApiProblem; retry?: () => void }) {
  return (
    <div class="error-pane" role="alert">
      <p>
        <span class="bad">✗</span> <Line text={problem.what} />
      </p>
      {problem.next && (
        <p class="second">
          <Line text={problem.next} />
        </p>
      )}
      <p class="quiet mono">
        {problem.code}
        {problem.where !== null && (
          <>
            {" · "}
            <Line text={problem.where} />
          </>
        )}
      </p>
      {retry && (
        <button type="button" onClick={retry}>
          Retry
        </button>
      )}
    </div>
  )
}

/** What stands in a pane until its answer is there; null once it is. */
export function waiting<Answer>(asked: Asked<Answer>) {
  if (asked.value !== null) return null
  if (asked.problem) return <ProblemPane problem={asked.problem} retry={asked.retry} />
  return <p class="loading">loading…</p>
}

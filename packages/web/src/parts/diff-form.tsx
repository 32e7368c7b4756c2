import { formatMoment } from "@orangebox/text"
import { useAnswer } from "../api/memory-cache.js"
import type { RunList } from "../api/shapes.js"
import { dialog, go } from "../state.js"
import { Dialog } from "./dialog.js"
import { waiting } from "./pane-state.js"
import { Line } from "./recorded.js"
import { shortId } from "./top-bar.js"

/** Which run to compare with. */
export function DiffForm({ run }: { run: string }) {
  const asked = useAnswer<RunList>("/runs?limit=50")
  const others = asked.value?.runs.filter(({ run_id }) => run_id !== run)
  return (
    <Dialog title="Diff with…">
      {waiting(asked)}
      {others?.length === 0 && <p>There is no other run on record.</p>}
      <ul class="form">
        {others?.map((other) => (
          <li key={other.run_id}>
            <button
              type="button"
              class="plain"
              onClick={() => {
                dialog.value = null
                // The older run is the left one, as in `orangebox diff`.
                go({ screen: "diff", a: other.run_id, b: run })
              }}
            >
              <span class="mono">{shortId(other.run_id)}</span> <Line text={other.entrypoint ?? other.app} />{" "}
              <span class="second">{other.status}</span> <span class="quiet">{formatMoment(other.started_at)}</span>
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  )
}

import { useState } from "preact/hooks"
import { forkCommand, replayCommand } from "../model/run-commands.js"
import { copy } from "../state.js"
import { Dialog } from "./dialog.js"

/** Writes the command that runs a run again, and says what of it is real. Nothing is started from here. */
export function ForkForm({
  run,
  step,
  isModelCall,
  model,
  data,
}: {
  run: string
  step: number | null
  isModelCall: boolean
  model: string | null
  data: string | null
}) {
  const [what, setWhat] = useState<"fork" | "replay">(isModelCall ? "fork" : "replay")
  const [set, setSet] = useState("model=…")
  const [agent, setAgent] = useState("")
  const [samples, setSamples] = useState(1)
  const [hasControl, setControl] = useState(false)
  const command =
    what === "fork"
      ? forkCommand({ run, step, set, agent, samples, hasControl, data })
      : replayCommand({ run, agent, data })
  return (
    <Dialog title="Replay or fork">
      <form class="form" onSubmit={(event) => event.preventDefault()}>
        <span class="choice" role="group" aria-label="what">
          <button type="button" aria-pressed={what === "replay"} onClick={() => setWhat("replay")}>
            Replay: the same again, offline
          </button>
          <button type="button" aria-pressed={what === "fork"} disabled={!isModelCall} onClick={() => setWhat("fork")}>
            Fork {isModelCall ? `at #${step}` : "(select a model call)"}
          </button>
        </span>
        {what === "fork" && (
          <>
            <label>
              change{" "}
              <input
                value={set}
                onInput={(event) => setSet(event.currentTarget.value)}
                placeholder={model === null ? "model=…" : `model=${model}`}
              />
            </label>
            <label>
              how often{" "}
              <input
                type="number"
                min={1}
                max={50}
                value={samples}
                onInput={(event) => setSamples(Number(event.currentTarget.value) || 1)}
              />
            </label>
            <label>
              unchanged too{" "}
              <span>
                <input
                  type="checkbox"
                  checked={hasControl}
                  onChange={(event) => setControl(event.currentTarget.checked)}
                />{" "}
                and say whether the change made a difference
              </span>
            </label>
          </>
        )}
        <label>
          start the agent with{" "}
          <input
            value={agent}
            onInput={(event) => setAgent(event.currentTarget.value)}
            placeholder="node agent.js (nothing: no agent is started)"
          />
        </label>
        <pre tabIndex={0}>{command}</pre>
        <p class="second">{whatRuns(what, step, agent)}</p>
        <p>
          <button type="button" onClick={() => copy(command, "the command")}>
            Copy
          </button>
        </p>
      </form>
    </Dialog>
  )
}

function whatRuns(what: "fork" | "replay", step: number | null, agent: string): string {
  if (what === "replay")
    return agent.trim() === ""
      ? "Checks every recorded call by itself. Nothing is started, nothing leaves this machine."
      : "Starts the agent; its model calls are answered from the recording. What it does besides calling models, it really does."
  return agent.trim() === ""
    ? `Sends the call of #${step} again with the change, with the keys of today. No agent and no tool runs.`
    : `Starts the agent. Calls before #${step} are answered from the recording; from there on models are asked live, with the keys of today, and tools really run.`
}

import type { Run, Step } from "@orangebox/recorder"
import { expect, test } from "vitest"
import { actionsOf, decisionsOf, evaluateRun, observabilityOf, readRun, runReport } from "../src/index.js"
import { recordInMemory } from "./recorded.js"

const DIFF = "--- a/infra/main.tf\n+++ b/infra/main.tf\n@@ -1 +1 @@\n-small\n+large\n"

const shell = async (run: Run, command: string): Promise<{ readonly id: string }> => {
  let id = ""
  await run.tool({ name: "Bash", args: { command } }, ({ step }) => {
    id = step.id
    return "done"
  })
  return { id }
}

/** A look at the work tree after some tools, as `orangebox run` records it. */
function look(run: Run, follows: readonly { readonly id: string }[], path = "infra/main.tf"): Step {
  const step = run.child("1 file changed", {}, { kind: "workspace", follows })
  step.artifact({
    id: "workspace/diff/1",
    type: "diff",
    summary: `change ${path}`,
    path,
    content: DIFF,
    linesAdded: 1,
    linesRemoved: 1,
  })
  step.end()
  return step
}

const SRC_ONLY = [{ id: "src", type: "scope", rule: "paths.only src/**" }] as const

test("[D-04] what a command changed in the work tree is its artifact, and what the checks hold it to", async () => {
  const { recorder, recorded } = recordInMemory()
  const run = recorder.startRun({ entrypoint: "agent", input: "make it large" })
  const command = await shell(run, "python3 scripts/grow.py")
  const seen = look(run, [command])
  run.complete()
  const reading = readRun(recorded())
  const decision = decisionsOf(recorded()).find(({ span_id }) => span_id === command.id)!
  expect(decision.agent_action.artifacts.map(({ type, metadata }) => [type, metadata.path])).toEqual([
    ["command", null],
    ["diff", "infra/main.tf"],
  ])
  const evaluation = evaluateRun(reading.run, SRC_ONLY)
  expect(evaluation.results[0]).toMatchObject({ status: "fail" })
  expect(evaluation.results[0]!.violations[0]!.pointers![0]).toMatchObject({ step_id: seen.id })
  expect(runReport(recorded(), { evaluation }).summary).toMatchObject({ files_changed: 1, lines_added: 1 })
})

test("[D-04] of two commands nobody can tell which changed a file, so neither is said to have", async () => {
  const { recorder, recorded } = recordInMemory()
  const run = recorder.startRun({ entrypoint: "agent", input: "make it large" })
  look(run, [await shell(run, "make a"), await shell(run, "make b")])
  run.complete()
  expect(actionsOf(recorded()).actions.flatMap(({ edits }) => edits)).toEqual([])
})

test("[D-04] a file that a tool was told to edit is that tool's, whatever ran beside it", async () => {
  const { recorder, recorded } = recordInMemory()
  const run = recorder.startRun({ entrypoint: "agent", input: "make it large" })
  let edit = ""
  await run.tool(
    { name: "Edit", args: { file_path: "/repo/infra/main.tf", old_string: "small", new_string: "large" } },
    ({ step }) => {
      edit = step.id
    },
  )
  look(run, [{ id: edit }, await shell(run, "make b")])
  run.complete()
  const changed = decisionsOf(recorded()).filter(({ agent_action }) =>
    agent_action.artifacts.some(({ type }) => type === "diff"),
  )
  expect(changed.map(({ span_id }) => span_id)).toEqual([edit])
})

test("[E-01] a file that a command names and the work tree shows is one violation with both places, the command's first", async () => {
  const { recorder, recorded } = recordInMemory()
  const run = recorder.startRun({ entrypoint: "agent", input: "make it large" })
  const command = await shell(run, "sed -i s/small/large/ infra/main.tf")
  const seen = look(run, [command])
  run.complete()
  const [result] = evaluateRun(readRun(recorded()).run, SRC_ONLY).results
  expect(result!.violations).toHaveLength(1)
  expect(result!.violations[0]!.pointers!.map(({ step_id }) => step_id)).toEqual([command.id, seen.id])
})

test("[D-07] what changed between two looks without a tool that could have changed it is a bypass, whatever ran before them", async () => {
  const { recorder, recorded } = recordInMemory()
  const run = recorder.startRun({ entrypoint: "agent", input: "make it large" })
  const snapshot = (id: string, files: object, follows: readonly { readonly id: string }[]): void => {
    const step = run.child("files", {}, { kind: "workspace", follows })
    step.artifact({ id, type: "workspace_snapshot", summary: "files", content: { files } })
    step.end()
  }
  snapshot("workspace/before", {}, [])
  // A look after this one found nothing different, so the next does not follow it.
  await shell(run, "ls")
  snapshot("workspace/1", { "infra/main.tf": "2" }, [])
  snapshot("workspace/2", { "infra/main.tf": "3" }, [await shell(run, "make")])
  run.complete()
  expect(observabilityOf(recorded()).bypasses).toMatchObject([
    { bypass: "workspace_change", detail: "infra/main.tf changed and no action changed it" },
  ])
})

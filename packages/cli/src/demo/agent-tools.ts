import { spawn } from "node:child_process"
import { readFile, writeFile } from "node:fs/promises"
import { relative, resolve, sep } from "node:path"
import type { Step } from "@orangebox/recorder"
import { editDiff } from "./edit-diff.js"
import type { ToolDefinition, ToolResultBlock, ToolUseBlock } from "./messages-api.js"

const path = { type: "string", description: "Relative to the project" }
const schema = (properties: Record<string, unknown>): Record<string, unknown> => ({
  type: "object",
  properties,
  required: Object.keys(properties),
})

export const TOOLS: readonly ToolDefinition[] = [
  { name: "read_file", description: "Read a text file of the project.", input_schema: schema({ path }) },
  {
    name: "edit_file",
    description: "Replace one passage of a file. The passage must occur exactly once.",
    input_schema: schema({ path, find: { type: "string" }, replace: { type: "string" } }),
  },
  { name: "run_tests", description: "Run a test file with node --test.", input_schema: schema({ path }) },
]

/** Does what the model asked for, records it, and says how it went in the form the model expects. */
export async function useTool(turn: Step, workspace: string, call: ToolUseBlock): Promise<ToolResultBlock> {
  try {
    const answer = await answerOf(turn, workspace, call)
    return { type: "tool_result", tool_use_id: call.id, ...answer }
  } catch (error) {
    const content = error instanceof Error ? error.message : String(error)
    return { type: "tool_result", tool_use_id: call.id, content, is_error: true }
  }
}

type ToolAnswer = Pick<ToolResultBlock, "content" | "is_error">

async function answerOf(turn: Step, workspace: string, call: ToolUseBlock): Promise<ToolAnswer> {
  const file = inside(workspace, textIn(call.input, "path"))
  const described = { name: call.name, args: call.input, callId: call.id }
  switch (call.name) {
    case "read_file":
      return { content: await turn.tool({ ...described, effect: "read" }, () => readFile(file, "utf8")) }
    case "edit_file":
      return {
        content: await turn.tool({ ...described, effect: "write" }, ({ step }) => edit(step, workspace, file, call)),
      }
    case "run_tests":
      return runTests(turn, workspace, file, call)
    default:
      throw new Error(`there is no tool ${call.name}`)
  }
}

async function edit(step: Step, workspace: string, file: string, call: ToolUseBlock): Promise<string> {
  const find = textIn(call.input, "find")
  const before = await readFile(file, "utf8")
  if (before.split(find).length !== 2) throw new Error(`the passage does not occur exactly once: ${find}`)
  const after = before.replace(find, () => textIn(call.input, "replace"))
  await writeFile(file, after)

  const path = relative(workspace, file)
  const { text, linesAdded, linesRemoved } = editDiff(path, before, after)
  const summary = `${path}: +${linesAdded} -${linesRemoved}`
  step.artifact({ id: call.id, type: "file_edit", summary, path, content: text, linesAdded, linesRemoved })
  return summary
}

/** A command that ends with a code other than 0 is an error with output: both are kept. */
async function runTests(turn: Step, workspace: string, file: string, call: ToolUseBlock): Promise<ToolAnswer> {
  const path = relative(workspace, file)
  const command = `node --test ${path}`
  const step = turn.startTool({ name: call.name, args: { command }, callId: call.id, effect: "write_idempotent" })
  const { output, exitCode } = await nodeTest(workspace, path)
  const failed = failedTests(output)
  const summary = exitCode === 0 ? "all tests pass" : `${failed.length} failed: ${failed.join(", ")}`
  step.artifact({ id: `${call.id}_test_run`, type: "test_run", summary, content: output, exitCode })
  step.endTool({ result: output, exitCode, ...(exitCode === 0 ? {} : { err: new TestsFailed(summary) }) })
  return { content: output, is_error: exitCode !== 0 }
}

class TestsFailed extends Error {
  override readonly name = "TestsFailed"
}

function nodeTest(workspace: string, path: string): Promise<{ output: string; exitCode: number }> {
  // Run inside another test runner, node --test would report to that one instead of printing.
  const { NODE_TEST_CONTEXT: _context, FORCE_COLOR: _color, ...env } = process.env
  return new Promise((done, failed) => {
    const child = spawn(process.execPath, ["--test", "--test-reporter=spec", path], {
      cwd: workspace,
      env: { ...env, NO_COLOR: "1" },
      stdio: ["ignore", "pipe", "pipe"],
    })
    let output = ""
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text
      })
    }
    child.on("error", failed)
    child.on("close", (code, signal) => done({ output, exitCode: code ?? (signal ? 128 : 1) }))
  })
}

const failedTests = (output: string): string[] => [
  ...new Set([...output.matchAll(/^✖ (.+) \([\d.]+ms\)$/gm)].map((match) => match[1]!)),
]

/** An agent that follows `..` out of its workspace is no example to anybody. */
function inside(workspace: string, path: string): string {
  const file = resolve(workspace, path)
  if (!file.startsWith(workspace + sep)) throw new Error(`${path} is outside the project`)
  return file
}

function textIn(input: Readonly<Record<string, unknown>>, name: string): string {
  const value = input[name]
  if (typeof value !== "string") throw new Error(`the argument ${name} is missing`)
  return value
}

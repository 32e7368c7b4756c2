import type { ToolMeaning } from "@orangebox/contract"
import { describe, expect, test } from "vitest"
import { type Action, actionsOf } from "../src/index.js"
import { recordInMemory } from "./recorded.js"

interface Call {
  readonly name: string
  readonly args: unknown
  readonly result?: unknown
  readonly tools?: { readonly [name: string]: ToolMeaning }
  readonly attributes?: { readonly [name: string]: string }
}

async function actionOf({ name, args, result = "ok", tools, attributes }: Call): Promise<Action> {
  const { recorder, recorded } = recordInMemory()
  const run = recorder.startRun({ entrypoint: "t" })
  await run.tool({ name, args, ...(attributes ? { attributes } : {}) }, async () => result)
  run.complete()
  return actionsOf(recorded(), { tools }).actions[0]!
}

const cases: [type: string, name: string, args: unknown][] = [
  // Claude Code
  ["edit", "Edit", { file_path: "a.ts", old_string: "a", new_string: "b" }],
  ["edit", "MultiEdit", { file_path: "a.ts", edits: [{ old_string: "a", new_string: "b" }] }],
  ["edit", "Write", { file_path: "a.ts", content: "x" }],
  ["edit", "NotebookEdit", { notebook_path: "a.ipynb", new_source: "x" }],
  ["other", "Read", { file_path: "a.ts" }],
  ["other", "Grep", { pattern: "x", path: "src" }],
  ["command", "Bash", { command: "ls -la" }],
  ["api_call", "WebFetch", { url: "https://example.com/a", prompt: "?" }],
  ["plan", "TodoWrite", { todos: [] }],
  ["plan", "ExitPlanMode", { plan: "do it" }],
  ["other", "Task", { description: "look", prompt: "…" }],
  // Codex
  ["command", "shell", { command: ["bash", "-lc", "ls"], workdir: "/repo" }],
  ["command", "exec_command", { cmd: "ls" }],
  ["edit", "apply_patch", { input: "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch" }],
  ["edit", "shell", { command: ["apply_patch", "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"] }],
  ["plan", "update_plan", { plan: [] }],
  ["other", "view_image", { path: "a.png" }],
  // Cursor, Cline, Roo Code, OpenHands, Gemini CLI, goose, opencode, pi, Copilot
  ["edit", "search_replace", { file_path: "a", old_string: "a", new_string: "b" }],
  ["command", "run_terminal_cmd", { command: "ls", is_background: false }],
  ["command", "execute_command", { command: "ls" }],
  ["edit", "write_to_file", { path: "a", content: "x" }],
  ["edit", "replace_in_file", { path: "a", diff: "------- SEARCH\na\n=======\nb\n+++++++ REPLACE" }],
  ["edit", "apply_diff", { path: "a", diff: "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE" }],
  ["message", "attempt_completion", { result: "done" }],
  ["command", "execute_bash", { command: "ls" }],
  ["edit", "str_replace_editor", { command: "str_replace", path: "a", old_str: "a", new_str: "b" }],
  ["other", "str_replace_editor", { command: "view", path: "a" }],
  ["command", "run_shell_command", { command: "ls", directory: "src" }],
  ["edit", "replace", { file_path: "a", old_string: "a", new_string: "b" }],
  ["other", "read_many_files", { paths: ["a", "b"] }],
  ["command", "developer__shell", { command: "ls" }],
  ["edit", "developer__text_editor", { command: "write", path: "a", file_text: "x" }],
  ["edit", "edit", { filePath: "a", oldString: "a", newString: "b" }],
  ["edit", "edit", { path: "a", oldText: "a", newText: "b" }],
  ["edit", "replace_string_in_file", { filePath: "a", oldString: "a", newString: "b" }],
  ["command", "run_in_terminal", { command: "ls" }],
  // MCP servers
  ["edit", "mcp__filesystem__edit_file", { path: "a", edits: [{ oldText: "a", newText: "b" }] }],
  ["edit", "mcp__github__push_files", { files: [{ path: "a", content: "x" }] }],
  ["open_pr", "mcp__github__create_pull_request", { title: "Fix", head: "x", base: "main" }],
  ["merge", "mcp__github__merge_pull_request", { pullNumber: 7 }],
  ["api_call", "mcp__weather__forecast", { city: "Bern" }],
  // What a command does names the action
  ["run_tests", "Bash", { command: "cd app && npm test -- --run" }],
  ["run_tests", "Bash", { command: "uv run pytest -q" }],
  ["run_tests", "Bash", { command: "bash -c 'go test ./...'" }],
  ["open_pr", "Bash", { command: 'git push && gh pr create --title "Fix" --body x' }],
  ["merge", "Bash", { command: "gh pr merge 7 --squash" }],
  ["deploy", "Bash", { command: "kubectl apply -f k8s/" }],
  ["api_call", "Bash", { command: "curl -s https://api.example.com/v1" }],
  ["command", "Bash", { command: "curl -s http://localhost:3000/health" }],
  ["command", "Bash", { command: "echo 'npm test' # no test" }],
  // Tools nobody knows show what they do, or do not
  ["edit", "my_editor", { path: "a", old_string: "a", new_string: "b" }],
  ["other", "frobnicate", { x: 1 }],
]

describe("[D-03] the action type is derived from the tool and from what it is told", () => {
  test.each(cases)("%s: %s %j", async (type, name, args) => {
    expect((await actionOf({ name, args })).type).toBe(type)
  })

  test("the configuration's word comes before everything that is derived", async () => {
    const tools = { ship: { action: "deploy", command: "script" }, Bash: { action: "other" } } as const
    expect(await actionOf({ name: "ship", args: { script: "make all" }, tools })).toMatchObject({
      type: "deploy",
      commands: [{ text: "make all" }],
    })
    expect((await actionOf({ name: "Bash", args: { command: "npm test" }, tools })).type).toBe("other")
    const writer = await actionOf({
      name: "emit",
      args: { where: "out/a.txt" },
      tools: { emit: { action: "edit", path: "where" } },
    })
    expect(writer).toMatchObject({ type: "edit", paths: [{ path: "out/a.txt", access: "write" }] })
  })

  test("an attribute on the call comes before what is derived from it", async () => {
    expect((await actionOf({ name: "go", args: {}, attributes: { action_type: "deploy" } })).type).toBe("deploy")
  })
})

test("[D-04] the files a tool is told to touch, with how, and where that stands in the arguments", async () => {
  const { paths, tool } = await actionOf({ name: "Read", args: { note: "ü", file_path: "src/a.ts" } })
  expect(paths).toMatchObject([{ path: "src/a.ts", access: "read" }])
  const { start, end } = paths[0]!.evidence
  expect(Buffer.from(tool!.argsText!).subarray(start, end).toString()).toBe("src/a.ts")
  const moved = await actionOf({ name: "mcp__filesystem__move_file", args: { source: "a", destination: "b" } })
  expect(moved.paths.map(({ path, access }) => [path, access])).toEqual([
    ["a", "delete"],
    ["b", "write"],
  ])
})

const exits: [name: string, result: unknown, code: number | null][] = [
  ["Bash", "Exit code 2\nls: cannot access 'x'", 2],
  ["shell", { output: "boom", metadata: { exit_code: 1, duration_seconds: 0.1 } }, 1],
  ["shell", "Exit code: 0\nWall time: 0.1 seconds\nOutput:\nok", 0],
  ["exec_command", "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 3\nOutput:\n", 3],
  [
    "run_shell_command",
    "Command: ls\nDirectory: (root)\nOutput: a\nError: (none)\nExit Code: 127\nSignal: (none)",
    127,
  ],
  ["execute_bash", "a\n[The command completed with exit code 0.]", 0],
  ["execute_command", "Command executed in terminal within working directory '/x'. Exit code: 4\nOutput:\n", 4],
  ["bash", "out\n\nCommand exited with code 5", 5],
  ["run_in_terminal", { stdout: "a", stderr: "", exitCode: 6 }, 6],
  ["Bash", "just output", null],
  ["run_in_terminal", { status: 200 }, null],
]

test.each(exits)("[D-04] the exit code in the words of %s %j", async (name, result, code) => {
  expect((await actionOf({ name, args: { command: "x" }, result })).commands).toMatchObject([
    { text: "x", exitCode: code },
  ])
})

test("[D-04] a commit and a pull request are read from what git and gh print", async () => {
  const action = await actionOf({
    name: "Bash",
    args: { command: 'git commit -qam "Fix leap years" && gh pr create --title "Leap years" --fill' },
    result: "[fix/leap 9f8e7d6] Fix leap years\n 1 file changed\nhttps://github.com/acme/dates/pull/41\n",
  })
  expect(action).toMatchObject({
    type: "open_pr",
    commits: [{ id: "9f8e7d6", message: "Fix leap years" }],
    pullRequests: [{ url: "https://github.com/acme/dates/pull/41", title: "Leap years" }],
  })
  const api = await actionOf({
    name: "mcp__github__create_pull_request",
    args: { title: "Leap years" },
    result: { content: [{ type: "text", text: '{"html_url":"https://github.com/acme/dates/pull/42"}' }] },
  })
  expect(api.pullRequests).toMatchObject([{ url: "https://github.com/acme/dates/pull/42", title: "Leap years" }])
})

test("[D-04] tests that failed have failed, whatever the exit code says", async () => {
  const action = await actionOf({
    name: "Bash",
    args: { command: "pytest -q || true" },
    result: { stdout: "1 failed, 2 passed in 0.1s\n", stderr: "", exitCode: 0 },
  })
  expect(action.testRuns).toMatchObject([{ runner: "pytest", outcome: "failed", failed: 1, passed: 2, exitCode: 0 }])
})

test("[D-04] a script is a test run when it prints one, and printing a log is none", async () => {
  const output = "\n Test Files  1 passed (1)\n      Tests  3 passed (3)\n"
  expect((await actionOf({ name: "Bash", args: { command: "make ci" }, result: output })).type).toBe("run_tests")
  expect((await actionOf({ name: "Bash", args: { command: "cat ci.log" }, result: output })).testRuns).toEqual([])
})

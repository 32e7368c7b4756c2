/** Transcripts as the programs write them, made here: those of the corpora may not be committed. */

export interface ClaudeOptions {
  readonly session?: string
  /** Of the first line; the others follow by the second. */
  readonly startMs?: number
  readonly cwd?: string
}

/** A Claude Code session: a prompt, a call with two blocks and a tool, a second call. Usage grows from line to line of one message. */
export function claudeLines({ session = "5f0c", startMs = T0, cwd = "/home/ann/fixer" }: ClaudeOptions = {}): string[] {
  let at = startMs
  let parent: string | null = null
  let count = 0
  const line = (type: string, rest: object): string => {
    const uuid = `${session}-${++count}`
    const common = {
      uuid,
      parentUuid: parent,
      sessionId: session,
      cwd,
      version: "2.1.300",
      gitBranch: "main",
      isSidechain: false,
    }
    parent = uuid
    const text = JSON.stringify({ type, timestamp: new Date(at).toISOString(), ...common, ...rest })
    at += 1000
    return text
  }
  const said = (id: string, block: object, usage: object, stop: string | null = null): string =>
    line("assistant", {
      requestId: `req_${id}`,
      message: {
        id,
        type: "message",
        role: "assistant",
        model: "claude-sonnet-4-5",
        content: [block],
        stop_reason: stop,
        usage,
      },
    })
  return [
    JSON.stringify({ type: "summary", summary: "Fix the date test", leafUuid: "x" }),
    line("user", { message: { role: "user", content: "Fix the failing date test" } }),
    said(
      "msg_1",
      { type: "text", text: "I read the test first." },
      { input_tokens: 10, cache_read_input_tokens: 90, cache_creation_input_tokens: 5, output_tokens: 1 },
    ),
    said(
      "msg_1",
      { type: "tool_use", id: "toolu_1", name: "Bash", input: { command: "npm test" } },
      { input_tokens: 10, cache_read_input_tokens: 90, cache_creation_input_tokens: 5, output_tokens: 37 },
      "tool_use",
    ),
    line("user", {
      message: {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "toolu_1", is_error: true, content: "Exit code 1\nexpected 29, got 1" },
        ],
      },
      toolUseResult: { stdout: "", stderr: "expected 29, got 1", interrupted: false },
    }),
    said(
      "msg_2",
      { type: "text", text: "The leap day is missing." },
      { input_tokens: 4, cache_read_input_tokens: 140, cache_creation_input_tokens: 0, output_tokens: 12 },
      "end_turn",
    ),
    line("user", { message: { role: "user", content: "Then fix it" } }),
    said(
      "msg_3",
      { type: "text", text: "Done." },
      { input_tokens: 3, cache_read_input_tokens: 160, cache_creation_input_tokens: 0, output_tokens: 2 },
      "end_turn",
    ),
  ]
}

export const T0 = Date.UTC(2026, 2, 1, 9)

/** A Codex rollout: a prompt, a call with a tool, a call; `token_count` comes once more than there are calls. */
export function codexLines({
  session = "0199-a",
  startMs = T0,
  meta = {},
}: {
  session?: string
  startMs?: number
  meta?: object
} = {}): string[] {
  let at = startMs
  const line = (type: string, payload: object): string => {
    const text = JSON.stringify({ timestamp: new Date(at).toISOString(), type, payload })
    at += 1000
    return text
  }
  const item = (payload: object): string => line("response_item", payload)
  const count = (total: number, last: object): string =>
    line("event_msg", {
      type: "token_count",
      info: { total_token_usage: { total_tokens: total }, last_token_usage: last },
    })
  const first = {
    input_tokens: 100,
    cached_input_tokens: 60,
    output_tokens: 20,
    reasoning_output_tokens: 5,
    total_tokens: 120,
  }
  const second = {
    input_tokens: 150,
    cached_input_tokens: 100,
    output_tokens: 10,
    reasoning_output_tokens: 0,
    total_tokens: 160,
  }
  return [
    line("session_meta", {
      id: session,
      timestamp: new Date(startMs).toISOString(),
      cwd: "/home/ann/fixer",
      cli_version: "0.104.0",
      model_provider: "openai",
      git: { branch: "main" },
      ...meta,
    }),
    item({
      type: "message",
      role: "user",
      content: [{ type: "input_text", text: "<environment_context>linux</environment_context>" }],
    }),
    line("turn_context", { model: "gpt-5-codex", effort: "high" }),
    item({ type: "message", role: "user", content: [{ type: "input_text", text: "List the files" }] }),
    line("event_msg", { type: "user_message", message: "List the files" }),
    item({ type: "reasoning", summary: [{ type: "summary_text", text: "listing" }] }),
    item({ type: "function_call", name: "shell", arguments: '{"command":["ls"]}', call_id: "call_1" }),
    count(120, first),
    item({
      type: "function_call_output",
      call_id: "call_1",
      output: JSON.stringify({ output: "README.md", metadata: { exit_code: 0 } }),
    }),
    count(120, first),
    item({ type: "message", role: "assistant", content: [{ type: "output_text", text: "One file: README.md" }] }),
    count(280, second),
    line("event_msg", { type: "task_complete" }),
  ]
}

/**
 * Long agent sessions as the wire sees them, for measuring what the body store makes of them: every call resends the history.
 * Generated sessions are seeded, so a figure can be had again; the trajectories are real ones where the corpus is on this machine.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { gunzipSync } from "node:zlib"
export function generatedSession(plan) {
  const writer = new TextSource(plan.seed)
  const tools = Array.from({ length: 12 }, (_, index) => ({
    name: `tool_${index}`,
    description: writer.prose(300),
    input_schema: {
      type: "object",
      properties: {
        path: {
          type: "string",
          description: writer.prose(60),
        },
      },
    },
  }))
  const system = writer.prose(6e3)
  const messages = [
    {
      role: "user",
      content: writer.prose(600),
    },
  ]
  const bodies = []
  for (let call = 0; call < plan.calls; call++) {
    bodies.push(requestOf(plan.style, system, tools, messages, call))
    const id = `toolu_${writer.token(24)}`
    const thought = writer.prose(plan.bytesPerCall * 0.15)
    const args = {
      path: writer.path(),
      query: writer.token(12),
    }
    const result = writer.code(plan.bytesPerCall * (0.3 + writer.chance() * 1.1))
    bodies.push(responseOf(plan.style, id, thought, args, writer.token(24)))
    bodies.push(Buffer.from(JSON.stringify(args)), Buffer.from(result))
    messages.push(
      {
        role: "assistant",
        content: [
          {
            type: "text",
            text: thought,
          },
          {
            type: "tool_use",
            id,
            name: "tool_3",
            input: args,
          },
        ],
      },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: id,
            content: [
              {
                type: "text",
                text: result,
              },
            ],
          },
        ],
      },
    )
  }
  return bodies
}
/** One session for each trajectory of the corpus, or nothing where the corpus is absent. Path relative to the repository. */
export function trajectorySessions(root) {
  if (!existsSync(root)) return []
  return readdirSync(root, {
    recursive: true,
    encoding: "utf8",
  })
    .filter((name) => name.endsWith(".gz"))
    .sort()
    .map((name) => ({
      name,
      session: trajectorySession(JSON.parse(gunzipSync(readFileSync(`${root}/${name}`)).toString())),
    }))
    .filter(({ session }) => session.length > 0)
}
function trajectorySession(trajectory) {
  const messages = (trajectory.messages ?? trajectory.history ?? []).map(
    ({ role, content, tool_calls, reasoning_content }) => ({
      role,
      content,
      ...(tool_calls ? { tool_calls } : {}),
      ...(reasoning_content ? { reasoning_content } : {}),
    }),
  )
  const bodies = []
  messages.forEach((message, index) => {
    if (message.role !== "assistant") {
      if (bodies.length > 0 && typeof message.content === "string") bodies.push(Buffer.from(message.content))
      return
    }
    bodies.push(
      json({
        model: "recorded",
        messages: messages.slice(0, index),
        temperature: 0,
        max_tokens: 8192,
      }),
    )
    bodies.push(
      json({
        id: `chatcmpl-${index}`,
        object: "chat.completion",
        choices: [
          {
            index: 0,
            message,
            finish_reason: "stop",
          },
        ],
      }),
    )
  })
  return bodies
}
function requestOf(style, system, tools, messages, call) {
  if (style === "openai") {
    return json({
      model: "gpt-x",
      messages: [
        {
          role: "system",
          content: system,
        },
        ...messages,
      ],
      tools,
      stream: true,
      user: "u1",
    })
  }
  if (style === "spaced") {
    const text = JSON.stringify(
      {
        messages: [
          {
            role: "system",
            content: system,
          },
          ...messages,
        ],
        model: "x",
        max_tokens: 4096,
        seed: call,
      },
      null,
      1,
    )
    return Buffer.from(text.replace(/\n +/g, " "))
  }
  // The cache mark moves to the last message of each request, as agents in the wild do it.
  const marked = messages.map((message, index) =>
    index === messages.length - 1
      ? {
          ...message,
          cache_control: { type: "ephemeral" },
        }
      : message,
  )
  return json({
    model: "claude-x",
    max_tokens: 8192,
    system: [
      {
        type: "text",
        text: system,
      },
    ],
    messages: marked,
    tools,
    stream: true,
  })
}
function responseOf(style, id, thought, args, message) {
  if (style === "spaced")
    return json({
      id: message,
      choices: [
        {
          message: {
            role: "assistant",
            content: thought,
            tool_calls: [
              {
                id,
                args,
              },
            ],
          },
        },
      ],
    })
  const frames = [
    frame("message_start", {
      type: "message_start",
      message: {
        id: message,
        usage: { input_tokens: 1234 },
      },
    }),
  ]
  for (let at = 0; at < thought.length; at += 18) {
    frames.push(
      frame("content_block_delta", {
        type: "content_block_delta",
        index: 0,
        delta: {
          type: "text_delta",
          text: thought.slice(at, at + 18),
        },
      }),
    )
  }
  frames.push(
    frame("content_block_start", {
      type: "content_block_start",
      index: 1,
      content_block: {
        type: "tool_use",
        id,
        name: "tool_3",
        input: {},
      },
    }),
  )
  const text = JSON.stringify(args)
  for (let at = 0; at < text.length; at += 12) {
    frames.push(
      frame("content_block_delta", {
        type: "content_block_delta",
        index: 1,
        delta: {
          type: "input_json_delta",
          partial_json: text.slice(at, at + 12),
        },
      }),
    )
  }
  frames.push(frame("message_stop", { type: "message_stop" }))
  return Buffer.from(frames.join(""))
}
function frame(event, data) {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}
function json(value) {
  return Buffer.from(JSON.stringify(value))
}
/** Seeded text that compresses about as real prose and code do: words of a small vocabulary with Zipf's frequencies. */
class TextSource {
  #state
  #words
  constructor(seed) {
    this.#state = (seed * 2654435761) >>> 0 || 1
    this.#words = Array.from({ length: 4e3 }, () => this.token(2 + Math.floor(this.chance() * 8)))
  }
  chance() {
    this.#state ^= this.#state << 13
    this.#state ^= this.#state >>> 17
    this.#state ^= this.#state << 5
    return (this.#state >>> 0) / 2 ** 32
  }
  token(length) {
    let text = ""
    while (text.length < length) text += "etaoinshrdlcumwfgypbvkjxqz0123456789"[Math.floor(this.chance() ** 1.5 * 36)]
    return text
  }
  word() {
    return this.#words[Math.floor(4e3 ** this.chance()) - 1]
  }
  path() {
    return `src/${this.word()}/${this.word()}.ts`
  }
  prose(length) {
    let text = ""
    while (text.length < length) text += `${this.word()}${this.chance() < 0.08 ? ". " : " "}`
    return text
  }
  code(length) {
    let text = ""
    for (let line = 1; text.length < length; line++) {
      text += `${line}\t${" ".repeat(2 * Math.floor(this.chance() * 4))}const ${this.word()} = ${this.word()}(${this.word()}, "${this.word()}")\n`
    }
    return text
  }
}

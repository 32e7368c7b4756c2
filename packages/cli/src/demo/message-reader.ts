import type { ContentBlock, MessagesUsage, StreamEvent, TextBlock, ToolUseBlock } from "./messages-api.js"

export interface ReadMessage {
  readonly model: string | undefined
  readonly content: readonly ContentBlock[]
  readonly stopReason: string | undefined
  /** Undefined until the provider has said it. */
  readonly usage: MessagesUsage | undefined
}

/** Puts a streamed message together, as an API client does: bytes in, blocks out. */
export class MessageReader {
  readonly #decoder = new TextDecoder()
  readonly #blocks: (TextBlock | ToolUseBlock)[] = []
  readonly #json: string[] = []
  #unread = ""
  #model: string | undefined
  #stopReason: string | undefined
  #usage: MessagesUsage | undefined
  #isComplete = false

  push(bytes: Uint8Array): void {
    this.#unread += this.#decoder.decode(bytes, { stream: true })
    for (;;) {
      const end = this.#unread.indexOf("\n\n")
      if (end === -1) return
      const frame = this.#unread.slice(0, end)
      this.#unread = this.#unread.slice(end + 2)
      const data = frame.split("\n").find((line) => line.startsWith("data: "))
      if (data !== undefined) this.#take(JSON.parse(data.slice("data: ".length)) as StreamEvent)
    }
  }

  finish(): ReadMessage {
    if (!this.#isComplete) throw new Error("the answer broke off before message_stop")
    const content = this.#blocks.map((block, index) =>
      block.type === "tool_use"
        ? { ...block, input: JSON.parse(this.#json[index] || "{}") as Record<string, unknown> }
        : block,
    )
    return { model: this.#model, content, stopReason: this.#stopReason, usage: this.#usage }
  }

  #take(event: StreamEvent): void {
    switch (event.type) {
      case "message_start":
        this.#model = event.message.model
        this.#usage = event.message.usage
        break
      case "content_block_start":
        this.#blocks[event.index] = event.content_block
        break
      case "content_block_delta":
        this.#append(event.index, event.delta)
        break
      case "message_delta":
        this.#stopReason = event.delta.stop_reason
        if (this.#usage) this.#usage = { ...this.#usage, ...event.usage }
        break
      case "message_stop":
        this.#isComplete = true
        break
      case "error":
        throw new Error(`${event.error.type}: ${event.error.message}`)
    }
  }

  #append(index: number, delta: Extract<StreamEvent, { type: "content_block_delta" }>["delta"]): void {
    if (delta.type === "input_json_delta") {
      this.#json[index] = (this.#json[index] ?? "") + delta.partial_json
      return
    }
    const block = this.#blocks[index]
    if (block?.type === "text") this.#blocks[index] = { ...block, text: block.text + delta.text }
  }
}

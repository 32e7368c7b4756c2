// An agent that tidies a folder: asks a model what to do with notes.txt, does it, and says what it did. Its instructions are in prompt.txt.
import { readFileSync, rmSync, writeFileSync } from "node:fs"

const tools = [
  {
    name: "read_file",
    description: "Reads a file",
    input_schema: { type: "object", properties: { path: { type: "string" } } },
  },
  {
    name: "delete_file",
    description: "Deletes a file",
    input_schema: { type: "object", properties: { path: { type: "string" } } },
  },
]
const DO = {
  read_file: (path) => readFileSync(path, "utf8"),
  delete_file: (path) => {
    rmSync(path)
    return "deleted"
  },
}

/** @param baseUrl of a server that speaks the Anthropic Messages API */
export async function tidy(baseUrl, system = readFileSync("prompt.txt", "utf8")) {
  const messages = [{ role: "user", content: "Look after notes.txt" }]
  for (;;) {
    const response = await fetch(`${baseUrl}/v1/messages`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-api-key": process.env.ANTHROPIC_API_KEY ?? "none",
        "anthropic-version": "2023-06-01",
      },
      body: JSON.stringify({ model: "claude-x", max_tokens: 200, system, tools, messages }),
    })
    const { content } = await response.json()
    messages.push({ role: "assistant", content })
    const asked = content.filter(({ type }) => type === "tool_use")
    if (asked.length === 0) return content.map(({ text }) => text).join("")
    messages.push({
      role: "user",
      content: asked.map(({ id, name, input }) => ({
        type: "tool_result",
        tool_use_id: id,
        content: DO[name](input.path),
      })),
    })
  }
}

if (process.argv[1] === import.meta.filename) {
  writeFileSync("notes.txt", "buy milk\n")
  console.log(await tidy(process.env.ANTHROPIC_BASE_URL))
}

// An agent nobody instrumented: asks once, by the variable it was given, and repeats after a failure as clients do.
const [mode = "ask", ...rest] = process.argv.slice(2)
const ask = async () => {
  const response = await fetch(`${process.env.ANTHROPIC_BASE_URL}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": "sk-ant-0123456789abcdef" },
    body: JSON.stringify({
      model: "claude-opus-4-5",
      max_tokens: 10,
      stream: true,
      messages: [{ role: "user", content: "Hi" }],
    }),
  })
  return `${response.status} ${(await response.text()).length}`
}
if (mode === "ask") process.stdout.write(await ask())
if (mode === "insist") {
  for (;;) {
    try {
      process.stdout.write(await ask())
      break
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}
if (mode === "echo") process.stdin.pipe(process.stdout)
if (mode === "wait") {
  process.on("SIGTERM", () => process.exit(42))
  process.stdout.write("waiting")
  setInterval(() => {}, 1000)
}
if (mode === "exit") process.exitCode = Number(rest[0])

/** The n-th request of a session: the same 5 KB each time, and a question of its own. */
export function requestOf(n) {
  const messages = [
    { role: "system", content: "You are a careful engineer. ".repeat(180) },
    { role: "user", content: `question ${n}` },
  ]
  return Buffer.from(JSON.stringify({ model: "gpt-5", messages }))
}

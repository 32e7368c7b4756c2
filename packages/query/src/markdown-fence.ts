/** Text as a Markdown code block that nothing inside can close: recorded text must not become headings, links or images. */
export function fenced(text: string): string {
  let longest = 2
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  const fence = "`".repeat(longest + 1)
  return `${fence}text\n${text}\n${fence}`
}

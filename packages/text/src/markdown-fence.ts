/**
 * Text as a Markdown code block that nothing inside can close: recorded text must not become headings, links or images.
 * Only a line that begins with a fence can close one, so only those decide how long ours must be.
 */
export function fenced(text: string): string {
  let longest = 2
  for (const [, run] of text.matchAll(/^ {0,3}(`+)/gm)) longest = Math.max(longest, run!.length)
  const fence = "`".repeat(longest + 1)
  return `${fence}text\n${text}\n${fence}`
}

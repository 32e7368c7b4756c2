import { Block } from "./recorded.js"

const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** JSON, or what looks like it, with keys, texts and words told apart. Also of a slice that begins or ends in the middle. */
export function JsonText({ text, find }: { text: string; find?: string | undefined }) {
  const parts: preact.JSX.Element[] = []
  let from = 0
  for (const match of text.matchAll(TOKEN)) {
    // A hundred thousand coloured words make a page slow; the rest of such a text is plain.
    if (parts.length > 6000) break
    if (match.index > from) parts.push(<Block key={from} text={text.slice(from, match.index)} find={find} />)
    const [whole, quoted, colon] = match
    const name = quoted === undefined ? "json-word" : colon === undefined ? "json-text" : "json-key"
    parts.push(
      <span key={match.index} class={name}>
        <Block text={quoted ?? whole} find={find} />
      </span>,
    )
    if (colon !== undefined) parts.push(<span key={`${match.index}:`}>{colon}</span>)
    from = match.index + whole.length
  }
  parts.push(<Block key="end" text={text.slice(from)} find={find} />)
  return <>{parts}</>
}

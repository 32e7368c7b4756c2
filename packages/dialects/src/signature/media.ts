const DATA_URL = /^data:([^;,]*)((?:;[^;,]*)*?);base64,/

/** A plain URL is an address, not content. */
export const IS_ADDRESS = /^[a-z][a-z0-9+.-]*:\/\//i

/** The bytes that base64 or a data URL spells; undefined for what is neither. */
export function decodedMedia(
  text: string,
  isExact = false,
): { readonly type: string; readonly bytes: Uint8Array } | undefined {
  const head = DATA_URL.exec(text)
  const data = head ? text.slice(head[0].length) : text
  if (!head && IS_ADDRESS.test(text)) return undefined
  const bytes = Buffer.from(data, "base64")
  const spelled = bytes.toString("base64").replace(/=+$/, "")
  // What does not decode cleanly is not base64; hashing what is left of it would make different texts equal.
  return spelled === (isExact ? data.replace(/=+$/, "") : plain(data)) ? { type: head?.[1] ?? "", bytes } : undefined
}

/** Line breaks, padding and the alphabet for URLs are other spellings of the same bytes. */
const plain = (data: string): string =>
  data.replace(/\s+/g, "").replace(/=+$/, "").replaceAll("-", "+").replaceAll("_", "/")

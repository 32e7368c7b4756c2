// Bodies that a writer writes and a checker can make again: no two alike, and not to be compressed away.

/** @param {number} i */
export function sampleBody(i) {
  const bytes = Buffer.allocUnsafe(i % 39 === 0 ? 120_000 : 1 + ((i * 977) % 4000))
  let state = i * 2_654_435_761 + 1
  for (let at = 0; at < bytes.length; at++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    bytes[at] = state
  }
  return bytes
}

/** Messages as another program's record tells them, put together here in JSON: no wire ever carried these bytes. */
export const TOLD_MESSAGES = "application/vnd.orangebox.told+json"

/** A whole request or answer that another program wrote down as JSON: all of its content, but not its bytes. */
export const SERIALISED_BODY = "application/vnd.orangebox.serialised+json"

/** Why a call cannot be held to its bytes; undefined for what was recorded. */
export function whyNotWire(mimeType: string | undefined): string | undefined {
  if (mimeType === TOLD_MESSAGES)
    return "it was told by another program's record, which holds neither the whole request nor its bytes"
  if (mimeType === SERIALISED_BODY)
    return "its request was written down by the client as JSON, not in the bytes that were sent"
  return undefined
}

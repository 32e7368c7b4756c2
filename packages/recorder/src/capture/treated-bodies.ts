import type { RecordBody } from "../event-record.js"

/**
 * Bodies that went through the capture mode. Whatever else is handed to an event as a body has been looked at by nobody and is not written,
 * unless everything is kept.
 */
const treated = new WeakSet<RecordBody>()

export function asTreated<T extends RecordBody>(body: T): T {
  treated.add(body)
  return body
}

export const isTreated = (body: RecordBody): boolean => treated.has(body)

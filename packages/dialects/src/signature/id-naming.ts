/** Names for ids that are new in every run, so that two runs asking the same question ask it in the same words. */
export interface IdNaming {
  /** A tool call's id becomes `#k`, in order of first appearance in this request: which result answers which call survives. */
  call(id: string): string
  /** An id the provider made (a stored response, a file) becomes the step that produced it; unknown ones stay as they are. */
  producer(id: string): string
}

/** @param producerOf the signature of the call an id came from, where the recorder knows it */
export function idNaming(producerOf: (id: string) => string | undefined = () => undefined): IdNaming {
  const calls = new Map<string, string>()
  return {
    call(id) {
      const known = calls.get(id)
      if (known !== undefined) return known
      const name = `#${calls.size + 1}`
      calls.set(id, name)
      return name
    },
    producer(id) {
      const producer = producerOf(id)
      return producer === undefined ? id : `@step:${producer}`
    },
  }
}

/**
 * Remembers at least the `size` latest entries and at most twice as many. Two generations rather than one map that drops its oldest
 * key: finding that key walks past deleted ones (3.6 µs for each new entry of a full map of 1024, against 0.7 µs this way).
 */
export class RecentMap<K, V> {
  readonly #size: number
  #young = new Map<K, V>()
  #old = new Map<K, V>()

  constructor(size: number) {
    this.#size = size
  }

  get(key: K): V | undefined {
    return this.#young.get(key) ?? this.#old.get(key)
  }

  set(key: K, value: V): void {
    if (this.#young.size >= this.#size && !this.#young.has(key)) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, value)
  }

  delete(key: K): void {
    this.#young.delete(key)
    this.#old.delete(key)
  }
}

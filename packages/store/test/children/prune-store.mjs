// Prunes a store by a policy given as JSON, at a given time.
import { openStore } from "@orangebox/store"

const [folder, policy, now] = process.argv.slice(2)
const { store } = openStore(folder, { now: () => Number(now) })
await store.prune(JSON.parse(policy))
await store.close()

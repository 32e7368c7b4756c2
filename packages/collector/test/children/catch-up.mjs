// Catches up once and says how much memory it took: node catch-up.mjs <data folder>
import { catchUp } from "@orangebox/collector"

const { behindBytes } = await catchUp({ dataFolder: process.argv[2] })
console.log(JSON.stringify({ behindBytes, maxRssBytes: process.resourceUsage().maxRSS * 1024 }))

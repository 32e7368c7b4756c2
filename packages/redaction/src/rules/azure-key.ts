import type { Rule } from "../rule.js"
import { charactersBefore, shape } from "./shape.js"

/**
 * Keys that Azure gives out since 2022 carry the name of their service at a fixed place, and a checksum behind it, so that they can be told
 * from any other base64. One row a service: its signature, what stands before it, what behind.
 */
const SIGNED: readonly (readonly [id: string, about: string, signature: string, before: number, after: RegExp])[] = [
  ["azure-storage-key", "Azure Storage keys", "+ASt", 76, /[A-Za-z0-9+/]{5}[AQgw]==/],
  ["azure-batch-key", "Azure Batch keys", "+ABa", 76, /[A-Za-z0-9+/]{5}[AQgw]==/],
  ["azure-ml-key", "Azure Machine Learning keys", "+AMC", 76, /[A-Za-z0-9+/]{5}[AQgw]==/],
  ["azure-cosmos-key", "Azure Cosmos DB keys", "ACDb", 76, /[A-Za-z0-9+/]{5}[AQgw]==/],
  ["azure-iot-key", "Azure IoT keys", "AIoT", 33, /[A-Za-z0-9+/]{5}[AEIMQUYcgkosw048]=/],
  ["azure-event-hub-key", "Azure Event Hubs keys", "+AEh", 33, /[A-Za-z0-9+/]{5}[AEIMQUYcgkosw048]=/],
  ["azure-service-bus-key", "Azure Service Bus keys", "+ASb", 33, /[A-Za-z0-9+/]{5}[AEIMQUYcgkosw048]=/],
  ["azure-relay-key", "Azure Relay keys", "+ARm", 33, /[A-Za-z0-9+/]{5}[AEIMQUYcgkosw048]=/],
  ["azure-redis-key", "Azure Cache for Redis keys", "AzCa", 33, /[A-Za-z0-9+/]{5}[AEIMQUYcgkosw048]=/],
  ["azure-function-key", "Azure Functions keys", "AzFu", 44, /[\w-]{5}[AQgw]==/],
  ["azure-search-key", "Azure AI Search keys", "AzSe", 42, /[A-D][A-Za-z0-9]{5}/],
  ["azure-registry-key", "Azure Container Registry passwords", "+ACR", 42, /[A-D][A-Za-z0-9+/]{5}/],
  ["azure-devops-token", "Azure DevOps tokens of the newer form", "AZDO", 76, /[A-Za-z0-9]{4}/],
]

export const AZURE_KEY_RULES: readonly Rule[] = SIGNED.map(([id, about, signature, before, after]) =>
  shape(id, {
    about,
    keywords: [signature],
    begin: charactersBefore(before),
    pattern: new RegExp(`[\\w+/-]{${before}}${signature.replace("+", "\\+")}${after.source}`),
  }),
)

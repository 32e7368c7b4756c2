import { countLetterPairs } from "./letter-pairs.js"
import { charactersBefore, hasBothCases, hasDigit, looksDrawn, shape } from "./shape.js"

const digitsBefore = (suffix: string): string[] => Array.from({ length: 10 }, (_, digit) => `${digit}${suffix}`)

/** Keys of clouds and of what runs in them. */
export const CLOUD_RULES = [
  shape("aws-access-key-id", {
    about: "AWS access key ids",
    keywords: ["AKIA", "ASIA", "ABIA", "ACCA", "A3T"],
    pattern: /(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}/,
    // A run of capital letters may be a word in a headline; keys have digits, or are drawn with one letter over and over.
    accepts: (secret) =>
      /\d/.test(secret.slice(4)) || /([A-Z])\1{5}/.test(secret) || !/[AEIOU][A-Z][AEIOU]/.test(secret.slice(4)),
  }),
  shape("aws-session-token", {
    about: "AWS session tokens",
    keywords: ["IQoJb3JpZ2lu", "FwoGZXIvYXdz", "FQoGZXIvYXdz", "FQoDYXdz", "AQoDYXdz"],
    pattern: /(?:IQoJb3JpZ2lu|F[wQ]oGZXIvYXdz|[FA]QoDYXdz)[A-Za-z0-9+/%]{100,2500}={0,2}/,
  }),
  shape("aws-bedrock-key", {
    about: "Amazon Bedrock API keys",
    keywords: ["ABSK", "bedrock-api-key-"],
    pattern: /ABSK[A-Za-z0-9+/]{109,269}={0,2}|bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t[A-Za-z0-9+/=]{0,2000}/,
  }),
  shape("aws-appsync-key", { about: "AWS AppSync keys", keywords: ["da2-"], pattern: /da2-[a-z0-9]{26}/ }),
  shape("azure-client-secret", {
    about: "Azure AD client secrets",
    keywords: digitsBefore("Q~"),
    begin: (text, at) => (/[_~.-]/.test(text.charAt(at - 4)) ? -1 : at - 3),
    pattern: /[\w~.]{3}\dQ~[\w~.-]{31,34}(?![\w~.-])/,
  }),
  shape("azure-key", {
    about: "Azure keys with their fixed signature",
    keywords: ["JQQJ99"],
    pattern: /JQQJ99[A-Za-z0-9]{40,80}/,
  }),
  shape("google-oauth", {
    about: "Google OAuth secrets and tokens",
    keywords: ["GOCSPX-", "ya29.", "1//0"],
    pattern: /GOCSPX-[\w-]{28}|ya29\.(?:[a-zA-Z]\.)?[\w-]{20,1000}|1\/\/0[\w-]{30,200}/,
  }),
  shape("google-hmac-key-id", {
    about: "Google Cloud Storage HMAC key ids",
    keywords: ["GOOG"],
    pattern: /GOOG(?:1E[A-Z0-9]{55}|[A-Z0-9]{20})/,
    accepts: hasDigit,
  }),
  shape("digitalocean-token", {
    about: "DigitalOcean tokens",
    keywords: ["dop_v1_", "doo_v1_", "dor_v1_"],
    pattern: /do[opr]_v1_[0-9a-f]{64}/,
  }),
  shape("cloudflare-token", {
    about: "Cloudflare tokens of the newer form and origin CA keys",
    keywords: ["cfat_", "cfut_", "cfk_", "cfoc_", "v1.0-"],
    pattern: /cf(?:at|ut|k|oc)_[A-Za-z0-9]{48}|v1\.0-[0-9a-f]{24}-[0-9a-f]{146}/,
  }),
  shape("heroku-key", {
    about: "Heroku keys",
    keywords: ["HRKU-"],
    pattern: /HRKU-(?:AA[\w-]{58}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})/,
  }),
  shape("vault-token", {
    about: "HashiCorp Vault tokens",
    keywords: ["hvs.", "hvb.", "hvr."],
    pattern: /hv[sbr]\.[\w-]{24,300}/,
  }),
  shape("vault-token-old", {
    about: "HashiCorp Vault tokens of the older form",
    keywords: [..."abcdefghijklmnopqrstuvwxyz0123456789"].map((character) => `s.${character}`),
    pattern: /s\.[A-Za-z0-9]{24}/,
    accepts: (secret) => {
      const { pairs, familiar } = countLetterPairs(secret)
      const digits = secret.match(/\d/g)?.length ?? 0
      return digits >= 3 || (digits > 0 && (hasBothCases(secret) || familiar * 2 <= pairs))
    },
  }),
  shape("terraform-token", {
    about: "Terraform Cloud tokens",
    keywords: [".atlasv1."],
    begin: charactersBefore(14),
    pattern: /[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,70}/,
  }),
  shape("databricks-token", { about: "Databricks tokens", keywords: ["dapi"], pattern: /dapi[0-9a-f]{32}(?:-\d)?/ }),
  shape("alibaba-key-id", { about: "Alibaba Cloud key ids", keywords: ["LTAI"], pattern: /LTAI[A-Za-z0-9]{12,26}/ }),
  shape("tencent-key-id", { about: "Tencent Cloud secret ids", keywords: ["AKID"], pattern: /AKID[A-Za-z0-9]{32}/ }),
  shape("yandex-key", {
    about: "Yandex Cloud keys and tokens",
    keywords: ["AQVN", "YCAJE", "y0_", "y1_", "t1."],
    pattern: /AQVN[\w-]{35,38}|YCAJE[\w-]{20}|y[01]_[\w-]{54,60}|t1\.[A-Z0-9a-z_-]{1,20}\.[\w-]{86}={0,2}/,
  }),
  shape("openshift-token", { about: "OpenShift tokens", keywords: ["sha256~"], pattern: /sha256~[\w-]{43}/ }),
  shape("fly-token", {
    about: "Fly.io tokens",
    keywords: ["fo1_", "fm1a_", "fm1r_", "fm2_"],
    pattern: /fo1_[\w-]{43}|fm1[ar]_[A-Za-z0-9+/]{100,700}={0,3}|fm2_[A-Za-z0-9+/]{100,700}={0,3}/,
  }),
  shape("scalingo-token", { about: "Scalingo tokens", keywords: ["tk-us-"], pattern: /tk-us-[\w-]{48}/ }),
  shape("pulumi-token", { about: "Pulumi tokens", keywords: ["pul-"], pattern: /pul-[0-9a-f]{40}/ }),
  shape("supabase-token", {
    about: "Supabase keys",
    keywords: ["sbp_", "sb_secret_"],
    pattern: /sbp_(?:v0_|oauth_)?[0-9a-f]{40}|sb_secret_[\w-]{22,50}/,
  }),
  shape("vercel-token", {
    about: "Vercel tokens of the newer form",
    keywords: ["vcp_", "vci_", "vca_", "vcr_", "vck_"],
    pattern: /vc[piark]_[A-Za-z0-9_-]{24,80}/,
  }),
  shape("netlify-token", { about: "Netlify tokens", keywords: ["nfp_", "nfc_"], pattern: /nf[pc]_[A-Za-z0-9]{36}/ }),
  shape("tailscale-key", {
    about: "Tailscale keys",
    keywords: ["tskey-"],
    pattern: /tskey-(?:[a-z]{3,10}-)?[A-Za-z0-9]{8,24}-[A-Za-z0-9]{16,60}/,
  }),
  shape("age-secret-key", {
    about: "age secret keys",
    keywords: ["AGE-SECRET-KEY-", "AGE-PLUGIN-"],
    pattern: /AGE-(?:SECRET-KEY-(?:PQ-)?|PLUGIN-[A-Z0-9]{1,24}-)1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58,400}/,
  }),
  shape("render-key", {
    about: "Render keys",
    keywords: ["rnd_"],
    pattern: /rnd_[A-Za-z0-9]{28,40}/,
    accepts: looksDrawn,
  }),
  shape("neon-key", { about: "Neon keys", keywords: ["napi_"], pattern: /napi_[a-z0-9]{60,70}/ }),
  shape("mongodb-atlas-secret", {
    about: "MongoDB Atlas service account secrets",
    keywords: ["mdb_sa_sk_"],
    pattern: /mdb_sa_sk_[\w-]{36,50}/,
  }),
  shape("confluent-secret", { about: "Confluent Cloud secrets", keywords: ["cflt"], pattern: /cflt[A-Za-z0-9+/]{60}/ }),
  shape("scaleway-key-id", {
    about: "Scaleway key ids",
    keywords: ["SCW"],
    pattern: /SCW[A-Z0-9]{17}/,
    accepts: hasDigit,
  }),
  shape("exoscale-key-id", { about: "Exoscale key ids", keywords: ["EXO"], pattern: /EXO[0-9a-f]{24}/ }),
  shape("volcengine-key-id", { about: "Volcengine key ids", keywords: ["AKLT"], pattern: /AKLT[\w-]{40,60}/ }),
  shape("akamai-token", { about: "Akamai tokens", keywords: ["akab-"], pattern: /akab-[a-z0-9]{16}-[a-z0-9]{16}/ }),
  shape("backblaze-key", {
    about: "Backblaze keys",
    keywords: ["K00"],
    pattern: /K00\d[A-Za-z0-9+/]{27}/,
    accepts: looksDrawn,
  }),
  shape("ngrok-key", {
    about: "ngrok tokens",
    keywords: ["ak_2", "cr_2"],
    pattern: /(?:ak|cr)_2[A-Za-z0-9]{26,30}/,
    accepts: looksDrawn,
  }),
  shape("docker-swarm-token", {
    about: "Docker Swarm join tokens and unlock keys",
    keywords: ["SWMTKN-1-", "SWMKEY-1-"],
    pattern: /SWMTKN-1-[a-z0-9]{50}-[a-z0-9]{25}|SWMKEY-1-[A-Za-z0-9+/]{43}/,
  }),
]

import { shape } from "./shape.js"

/** Stored password hashes: slow to break, but breakable, and nobody's business. Content hashes (`sha256:…`) are none of these. */
export const passwordHash = shape("password-hash", {
  about: "Password hashes (bcrypt, crypt, Cisco, Argon2)",
  keywords: ["$1$", "$2a$", "$2b$", "$2y$", "$5$", "$6$", "$8$", "$9$", "$y$", "$apr1$", "$argon2"],
  pattern:
    /\$(?:2[aby]\$\d{2}\$[./A-Za-z0-9]{53}|(?:1|apr1)\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}|5\$(?:rounds=\d{1,9}\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{43}|6\$(?:rounds=\d{1,9}\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{86}|[89]\$[./A-Za-z0-9]{14}\$[./A-Za-z0-9]{43}|y\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{1,80}\$[./A-Za-z0-9]{43}|argon2(?:id|i|d)\$v=\d{1,3}\$[\w=,]{5,60}\$[A-Za-z0-9+/]{8,90}\$[A-Za-z0-9+/]{16,200})/,
})

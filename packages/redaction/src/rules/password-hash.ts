import { shape } from "./shape.js"

/** Stored password hashes: slow to break, but breakable, and nobody's business. Content hashes (`sha256:…`) are none of these. */
export const passwordHash = shape("password-hash", {
  about: "Password hashes (crypt, bcrypt, Argon2, PBKDF2, scrypt, phpass, LDAP, Cisco, Kerberos)",
  keywords: [
    "$1$",
    "$2a$",
    "$2b$",
    "$2y$",
    "$5$",
    "$6$",
    "$8$",
    "$9$",
    "$y$",
    "$apr1$",
    "$argon2",
    "$P$",
    "$H$",
    "$S$",
    "$7$",
    "$krb5",
    "$pbkdf2",
  ],
  pattern:
    /\$(?:2[aby]\$\d{2}\$[./A-Za-z0-9]{53}|(?:1|apr1)\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}|5\$(?:rounds=\d{1,9}\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{43}|6\$(?:rounds=\d{1,9}\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{86}|[89]\$[./A-Za-z0-9]{14}\$[./A-Za-z0-9]{43}|y\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{1,80}\$[./A-Za-z0-9]{43}|[PH]\$[./A-Za-z0-9]{31}|S\$[./A-Za-z0-9]{52}|7\$[./A-Za-z0-9]{14,64}\$[./A-Za-z0-9]{43}|pbkdf2(?:-sha\d{1,3})?\$\d{1,8}\$[./A-Za-z0-9+]{8,64}\$[./A-Za-z0-9+]{20,90}|krb5(?:tgs|asrep|pa)\$\d{2}\$[\w*$.:/@-]{10,400}\$[0-9a-f]{32,4000}|argon2(?:id|i|d)\$v=\d{1,3}\$[\w=,]{5,60}\$[A-Za-z0-9+/]{8,90}\$[A-Za-z0-9+/]{16,200})/,
})

/** The same where the scheme is named in words, as in Django's databases. */
export const djangoPasswordHash = shape("password-hash-django", {
  about: "Password hashes of Django",
  keywords: ["pbkdf2_sha"],
  pattern: /pbkdf2_sha(?:1|256|512)\$\d{3,8}\$[A-Za-z0-9]{6,64}\$[A-Za-z0-9+/]{20,90}={0,2}/,
})

/** The same as directories store it, behind the scheme in braces. */
export const ldapPasswordHash = shape("password-hash-ldap", {
  about: "Password hashes in LDAP directories",
  keywords: ["{SSHA", "{SMD5}", "{PBKDF2", "{CRYPT}"],
  begin: (text, at) => text.slice(at, at + 20).indexOf("}") + at + 1,
  pattern: /[A-Za-z0-9+/.$]{20,140}={0,2}/,
})

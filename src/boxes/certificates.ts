// Certificates of the head's own broker: an authority made once, and a server certificate that it signs.
// They have one shape, so it is written here in DER (X.690, RFC 5280); others read and verify it.

import {
  X509Certificate,
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  type KeyObject,
} from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { timestamp } from '../domain/ids.ts'
import { DAY_MS } from '../domain/time.ts'
import type { Clock } from '../system/clock.ts'
import { writeFileAtomically } from '../system/files.ts'
import { isoTime } from '../system/iso-time.ts'
import type { Random } from '../system/random.ts'

/** Name in the broker's certificate. Clients verify it, and not the address that they dial. */
export const BROKER_NAME = 'hookline-broker'

export type CertificateFiles = { readonly ca: string; readonly cert: string; readonly key: string }

const CA_DAYS = 20 * 365
const SERVER_DAYS = 2 * 365
const RENEWED_BEFORE_MS = 180 * DAY_MS
/** Clocks of boxes may be behind. */
const VALID_SINCE_MS = 30 * DAY_MS
const SERIAL_BYTES = 16
const KEY_ID_BYTES = 8
const CA_NAME = 'Hookline CA'

/** Object identifiers, as DER has them. */
const OID = {
  ecdsaWithSha256: '06082a8648ce3d040302',
  commonName: '0603550403',
  basicConstraints: '0603551d13',
  keyUsage: '0603551d0f',
  extendedKeyUsage: '0603551d25',
  subjectAltName: '0603551d11',
  subjectKeyIdentifier: '0603551d0e',
  authorityKeyIdentifier: '0603551d23',
  serverAuth: '06082b06010505070301',
} as const

/**
 * Makes the authority and the server certificate in `folder` where they are missing, and the latter again
 * half a year before it ends. `isNew` where the broker has to read it again.
 */
export function keepCertificates(
  folder: string,
  tools: { readonly clock: Clock; readonly random: Random },
): { readonly files: CertificateFiles; readonly isNew: boolean } {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const path = (name: string) => join(folder, name)
  const files = { ca: path('ca.pem'), cert: path('server.pem'), key: path('server.key') }
  const caKey = path('ca.key')
  const isKept = existsSync(caKey) && existsSync(files.ca)
  if (!isKept) {
    const made = issue({ name: CA_NAME, days: CA_DAYS, issuer: null }, tools)
    writeFileAtomically(caKey, made.key)
    writeFileAtomically(files.ca, made.certificate)
  }
  if (isKept && isServerCertificateGood(files, tools.clock)) return { files, isNew: false }
  const made = issue(
    { name: BROKER_NAME, days: SERVER_DAYS, issuer: readFileSync(caKey, 'utf8') },
    tools,
  )
  writeFileAtomically(files.key, made.key)
  writeFileAtomically(files.cert, made.certificate)
  return { files, isNew: true }
}

/** False also where a crash left a certificate beside the key of another one. */
function isServerCertificateGood(files: CertificateFiles, clock: Clock): boolean {
  try {
    const [certificate, ca] = [files.cert, files.ca].map(
      (path) => new X509Certificate(readFileSync(path)),
    )
    if (certificate === undefined || ca === undefined || !certificate.verify(ca.publicKey)) {
      return false
    }
    const hasKey = certificate.checkPrivateKey(createPrivateKey(readFileSync(files.key)))
    return hasKey && certificate.validToDate.getTime() - clock.now() > RENEWED_BEFORE_MS
  } catch {
    return false
  }
}

type Order = {
  readonly name: string
  readonly days: number
  /** Private key of the authority (PEM); null for the authority itself. */
  readonly issuer: string | null
}

/** A certificate with its new key, both PEM. */
function issue(
  { name, days, issuer }: Order,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): { readonly certificate: string; readonly key: string } {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const keyId = keyIdOf(issuer === null ? pair.publicKey : createPublicKey(issuer))
  const algorithm = sequence(hex(OID.ecdsaWithSha256))
  // A serial number is positive, and its first byte no zero.
  const serial = random.bytes(SERIAL_BYTES).with(0, 0x4c)
  const tbs = sequence(
    der(0xa0, der(0x02, Uint8Array.of(2))),
    der(0x02, serial),
    algorithm,
    distinguishedName(CA_NAME),
    sequence(time(clock.now() - VALID_SINCE_MS), time(clock.now() + days * DAY_MS)),
    distinguishedName(name),
    pair.publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...(issuer === null ? authority(keyId) : server(name, keyId)))),
  )
  const signature = sign('sha256', tbs, issuer ?? pair.privateKey)
  const certificate = sequence(tbs, algorithm, bits(signature))
  return {
    certificate: pemOf(certificate),
    key: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }),
  }
}

function authority(keyId: Uint8Array): readonly Uint8Array[] {
  const isAuthority = sequence(der(0x01, Uint8Array.of(0xff)))
  return [
    criticalExtension(OID.basicConstraints, isAuthority),
    // Key usage 5, keyCertSign: one byte with two unused bits.
    criticalExtension(OID.keyUsage, der(0x03, Uint8Array.of(2, 0x04))),
    sequence(hex(OID.subjectKeyIdentifier), der(0x04, der(0x04, keyId))),
  ]
}

function server(name: string, keyId: Uint8Array): readonly Uint8Array[] {
  return [
    criticalExtension(OID.subjectAltName, sequence(der(0x82, ascii(name)))),
    criticalExtension(OID.extendedKeyUsage, sequence(hex(OID.serverAuth))),
    sequence(hex(OID.authorityKeyIdentifier), der(0x04, sequence(der(0x80, keyId)))),
  ]
}

function criticalExtension(oid: string, value: Uint8Array): Uint8Array {
  return sequence(hex(oid), der(0x01, Uint8Array.of(0xff)), der(0x04, value))
}

function keyIdOf(key: KeyObject): Uint8Array {
  const spki = key.export({ type: 'spki', format: 'der' })
  return createHash('sha256').update(spki).digest().subarray(0, KEY_ID_BYTES)
}

function distinguishedName(name: string): Uint8Array {
  return sequence(der(0x31, sequence(hex(OID.commonName), der(0x0c, ascii(name)))))
}

/** UTCTime, and GeneralizedTime from 2050 on. */
function time(ms: number): Uint8Array {
  const digits = isoTime(timestamp(ms)).replaceAll(/\D/g, '').slice(0, 14)
  return digits < '2050' ? der(0x17, ascii(`${digits.slice(2)}Z`)) : der(0x18, ascii(`${digits}Z`))
}

function bits(content: Uint8Array): Uint8Array {
  return der(0x03, Uint8Array.of(0), content)
}

function sequence(...parts: readonly Uint8Array[]): Uint8Array {
  return der(0x30, ...parts)
}

/** Tag, length and content; a length up to 65,535. */
function der(tag: number, ...parts: readonly Uint8Array[]): Uint8Array {
  const content = Buffer.concat(parts)
  const { length } = content
  if (length < 0x80) return Buffer.concat([Uint8Array.of(tag, length), content])
  const size = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Uint8Array.of(tag, ...size), content])
}

function hex(text: string): Uint8Array {
  return Uint8Array.fromHex(text)
}

function ascii(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

export function pemOf(certificate: Uint8Array): string {
  const lines = certificate.toBase64().replaceAll(/.{64}(?=.)/g, '$&\n')
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`
}

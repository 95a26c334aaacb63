// Certificates of the head's own broker: an authority made once, and a server certificate that it signs. Both have a
// fixed shape, so they are written here in DER (X.690, RFC 5280); node:crypto reads and verifies them, and makes none.
// @peculiar/x509 2.2.0 would save 49 lines, and brings 20 other packages and 1.4 MB into the executable.

import {
  X509Certificate,
  createHash,
  createPublicKey,
  generateKeyPairSync,
  sign,
} from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { timestamp } from '../domain/ids.ts'
import { DAY_MS } from '../domain/time.ts'
import type { Clock } from '../system/clock.ts'
import type { DataDirectory } from '../system/data-directory.ts'
import { readTextOrNull, writeFileAtomically } from '../system/files.ts'
import { isoTime } from '../system/iso-time.ts'
import type { Random } from '../system/random.ts'

/** Name in the broker's certificate. Clients verify this name instead of the address that they dial. */
export const BROKER_NAME = 'hookline-broker'

const CA_NAME = 'Hookline CA'
const CA_MS = 20 * 365 * DAY_MS
const SERVER_MS = 2 * 365 * DAY_MS
const RENEWED_BEFORE_MS = 180 * DAY_MS
/** Clocks of boxes may be behind. */
const VALID_SINCE_MS = 30 * DAY_MS
const SERIAL_BYTES = 16
const KEY_ID_BYTES = 8

const OID = {
  ecdsaWithSha256: '06082a8648ce3d040302',
  commonName: '0603550403',
  subjectKeyIdentifier: '0603551d0e',
  keyUsage: '0603551d0f',
  subjectAltName: '0603551d11',
  basicConstraints: '0603551d13',
  authorityKeyIdentifier: '0603551d23',
  extendedKeyUsage: '0603551d25',
  serverAuth: '06082b06010505070301',
} as const
const TRUE = der(0x01, Uint8Array.of(0xff))

type ClockAndRandom = { readonly clock: Clock; readonly random: Random }

/**
 * Makes the authority and the server certificate if they are missing, and the latter again
 * half a year before it ends. Each file has a certificate and its key.
 */
export function keepCertificates(
  { broker: folder, brokerAuthority }: Pick<DataDirectory, 'broker' | 'brokerAuthority'>,
  outside: ClockAndRandom,
): { readonly ca: string; readonly serverFile: string; readonly serial: string } {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const serverFile = join(folder, 'server.pem')
  const authority = readOrMake(
    brokerAuthority,
    () => true,
    () => issue(CA_NAME, null, outside),
  )
  const ca = new X509Certificate(authority)
  const isGood = (pem: string) => isValid(pem, ca, outside.clock)
  const server = readOrMake(serverFile, isGood, () => issue(BROKER_NAME, authority, outside))
  return { ca: ca.toString(), serverFile, serial: new X509Certificate(server).serialNumber }
}

function readOrMake(path: string, isGood: (pem: string) => boolean, make: () => string): string {
  const found = readTextOrNull(path)
  if (found !== null && isGood(found)) return found
  const made = make()
  writeFileAtomically(path, made)
  return made
}

function isValid(pem: string, ca: X509Certificate, clock: Clock): boolean {
  try {
    const certificate = new X509Certificate(pem)
    const leftMs = certificate.validToDate.getTime() - clock.now()
    return certificate.verify(ca.publicKey) && leftMs > RENEWED_BEFORE_MS
  } catch {
    return false
  }
}

/** A certificate and its new key (PEM), signed by the key of `authority`, or by its own if that is null. */
function issue(name: string, authority: string | null, { clock, random }: ClockAndRandom): string {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const spki = (authority === null ? publicKey : createPublicKey(authority)).export(SPKI)
  const issuerId = createHash('sha256').update(spki).digest().subarray(0, KEY_ID_BYTES)
  const algorithm = sequence(oid('ecdsaWithSha256'))
  const lifeMs = authority === null ? CA_MS : SERVER_MS
  const extensions = authority === null ? ofAuthority(issuerId) : ofServer(name, issuerId)
  const content = sequence(
    der(0xa0, der(0x02, Uint8Array.of(2))),
    // A serial number is positive, and its first byte isn't zero.
    der(0x02, random.bytes(SERIAL_BYTES).with(0, 0x4c)),
    algorithm,
    distinguishedName(CA_NAME),
    sequence(time(clock.now() - VALID_SINCE_MS), time(clock.now() + lifeMs)),
    distinguishedName(name),
    publicKey.export(SPKI),
    der(0xa3, sequence(...extensions)),
  )
  const signature = sign('sha256', content, authority ?? privateKey)
  const certificate = sequence(content, algorithm, der(0x03, Uint8Array.of(0), signature))
  return pemOf(certificate) + privateKey.export({ type: 'pkcs8', format: 'pem' })
}

const SPKI = { type: 'spki', format: 'der' } as const

function ofAuthority(keyId: Uint8Array): readonly Uint8Array[] {
  return [
    sequence(oid('basicConstraints'), TRUE, der(0x04, sequence(TRUE))),
    // Key usage 5, keyCertSign: one byte with two unused bits.
    sequence(oid('keyUsage'), TRUE, der(0x04, der(0x03, Uint8Array.of(2, 0x04)))),
    sequence(oid('subjectKeyIdentifier'), der(0x04, der(0x04, keyId))),
  ]
}

function ofServer(name: string, issuerId: Uint8Array): readonly Uint8Array[] {
  return [
    sequence(oid('subjectAltName'), TRUE, der(0x04, sequence(der(0x82, ascii(name))))),
    sequence(oid('extendedKeyUsage'), TRUE, der(0x04, sequence(oid('serverAuth')))),
    sequence(oid('authorityKeyIdentifier'), der(0x04, sequence(der(0x80, issuerId)))),
  ]
}

function distinguishedName(name: string): Uint8Array {
  return sequence(der(0x31, sequence(oid('commonName'), der(0x0c, ascii(name)))))
}

/** A UTCTime, or a GeneralizedTime from 2050 on. */
function time(ms: number): Uint8Array {
  const digits = isoTime(timestamp(ms)).replaceAll(/\D/g, '').slice(0, 14)
  return digits < '2050' ? der(0x17, ascii(`${digits.slice(2)}Z`)) : der(0x18, ascii(`${digits}Z`))
}

function oid(name: keyof typeof OID): Uint8Array {
  return Uint8Array.fromHex(OID[name])
}

function ascii(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

function sequence(...parts: readonly Uint8Array[]): Uint8Array {
  return der(0x30, ...parts)
}

/** Tag, length (up to 65,535) and content. */
function der(tag: number, ...parts: readonly Uint8Array[]): Uint8Array {
  const content = Buffer.concat(parts)
  const { length } = content
  if (length < 0x80) return Buffer.concat([Uint8Array.of(tag, length), content])
  const size = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Uint8Array.of(tag, ...size), content])
}

export function pemOf(certificate: Uint8Array): string {
  const lines = certificate.toBase64().replaceAll(/.{64}(?=.)/g, '$&\n')
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`
}

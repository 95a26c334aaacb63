// Signs the bundle on a Mac, with the owner's identity or one made on this Mac. macOS ties permissions to the
// certificate that signed the program, trusted or not: as long as the same certificate signs each version, Full
// Disk Access and Automation stay.

import { X509Certificate } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { NEVER } from '../system/clock.ts'
import { readTextOrNull, writeFileAtomically } from '../system/files.ts'
import type { RunProcess } from '../system/process.ts'
import type { Random } from '../system/random.ts'
import { BUNDLE_ID } from './property-lists.ts'
import { HostingError, tryTool, useTool } from './system-tool.ts'

/** An identity in the owner's keychains, such as a Developer ID, or one made on this Mac. */
export type Signer =
  | { readonly kind: 'given'; readonly name: string }
  | { readonly kind: 'local'; readonly identity: LocalIdentity }

/** `hash` is the SHA-1 of the certificate, in 40 hexadecimal digits. */
type LocalIdentity = {
  readonly hash: string
  readonly keychain: string
  readonly password: string
}

type Files = ReturnType<typeof filesIn>

const CODESIGN = '/usr/bin/codesign'
const SECURITY = '/usr/bin/security'
/** LibreSSL: `security import` may not read what another openssl on the PATH has packed. */
export const OPENSSL = '/usr/bin/openssl'

/** Hashing a hundred megabytes takes seconds; a dialog at an unattended screen would never end. */
const CODESIGN_MS_MAX = 120_000
/** Twenty years: the permissions would end with the certificate. */
const DAYS = '7300'
const NAME = 'Hookline on this Mac'
/** The alternative for an owner whose Mac can't make a certificate. */
const WITHOUT_CERTIFICATE = '(without a certificate: --codesign-identity -)'

const CERTIFICATE_REQUEST = `[req]
distinguished_name = name
x509_extensions = extensions
prompt = no
[name]
CN = ${NAME}
[extensions]
basicConstraints = critical, CA:false
keyUsage = critical, digitalSignature
extendedKeyUsage = critical, codeSigning
`

/** Signs a bundle with the hardened runtime, and verifies the signature. */
export async function signBundle(
  run: RunProcess,
  order: {
    readonly bundle: string
    /** The path of the property list with the entitlements. */
    readonly entitlements: string
    readonly signer: Signer
  },
  signal: AbortSignal,
): Promise<void> {
  const { bundle, entitlements, signer } = order
  const codesign = (purpose: string, args: readonly string[]) =>
    useTool(run, { path: CODESIGN, args, timeoutMs: CODESIGN_MS_MAX, purpose }, signal)
  // Our identity is named by its hash: a name can match several certificates, and codesign doesn't choose.
  const name = signer.kind === 'given' ? signer.name : signer.identity.hash
  const how = ['--options', 'runtime', '--entitlements', entitlements]
  const what = ['--identifier', BUNDLE_ID, '--timestamp=none', '--sign', name, bundle]
  const sign = () => codesign('sign the bundle', ['--force', ...how, ...what])
  if (signer.kind === 'given') await sign()
  else await withKeychain(run, signer.identity, signal, sign)
  const verify = ['--verify', '--strict', ...requirementOf(signer), bundle]
  await codesign('verify the signature', verify)
}

/** The first call makes the identity in `folder`. Its keychain needs no dialog and works over ssh. */
export async function localIdentity(
  tools: { readonly run: RunProcess; readonly random: Random },
  folder: string,
  signal: AbortSignal,
): Promise<LocalIdentity> {
  const files = filesIn(folder)
  const known = readIdentity(files)
  if (known !== null) return known
  // The hash is written last: if it is missing, an earlier attempt broke off.
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const password = Buffer.from(tools.random.bytes(24)).toString('hex')
  writeFileAtomically(files.password, password)
  try {
    const hash = await makeCertificate(tools.run, files, signal)
    const identity = { hash, keychain: files.keychain, password }
    await makeKeychain(tools.run, files, { identity, signal })
    writeFileAtomically(files.hash, hash)
    return identity
  } finally {
    for (const path of [files.key, files.certificate, files.package]) rmSync(path, { force: true })
  }
}

/** Makes codesign check for this certificate, as macOS does before it grants permissions to a new version. */
function requirementOf(signer: Signer): readonly string[] {
  if (signer.kind === 'given') return []
  return [`-R=identifier "${BUNDLE_ID}" and certificate leaf = H"${signer.identity.hash}"`]
}

/**
 * Runs `work` with the keychain unlocked and on the user's search list: codesign finds no identity elsewhere,
 * with or without `--keychain` (several projects saw this on macOS 14 to 26). Restores the list, because a
 * locked keychain on it makes other programs ask the owner for a password that only we know.
 */
async function withKeychain(
  run: RunProcess,
  { keychain, password }: LocalIdentity,
  signal: AbortSignal,
  work: () => Promise<unknown>,
): Promise<void> {
  const purpose = `use the keychain for signing ${WITHOUT_CERTIFICATE}`
  const security = (args: readonly string[]) =>
    useTool(run, { path: SECURITY, args, purpose }, signal)
  const words = ['unlock-keychain', '-p', password, keychain]
  await useSecurity(run, { words, purpose }, signal)
  const list = keychainsIn(await security(['list-keychains', '-d', 'user']))
  const others = list.filter((path) => path !== keychain)
  // Setting the list replaces it: a misread answer must not cost the owner the other keychains.
  if (others.length === 0) throw new HostingError("Cannot read this user's list of keychains.")
  const setList = ['list-keychains', '-d', 'user', '-s', ...others]
  try {
    await security([...setList, keychain])
    await work()
  } finally {
    // Even after an abort.
    await tryTool(run, { path: SECURITY, args: setList }, NEVER)
    await tryTool(run, { path: SECURITY, args: ['lock-keychain', keychain] }, NEVER)
  }
}

/** The list has one path per line, in quotes. */
function keychainsIn(list: string): readonly string[] {
  return [...list.matchAll(/^\s*"(.+)"\s*$/gm)].map((match) => match[1] ?? '')
}

function filesIn(folder: string) {
  return {
    keychain: join(folder, 'signing.keychain-db'),
    password: join(folder, 'keychain-password'),
    hash: join(folder, 'certificate-sha1'),
    request: join(folder, 'certificate-request.cnf'),
    key: join(folder, 'key.pem'),
    certificate: join(folder, 'certificate.pem'),
    package: join(folder, 'identity.p12'),
  }
}

function readIdentity(files: Files): LocalIdentity | null {
  const hash = readTextOrNull(files.hash)
  const password = readTextOrNull(files.password)
  if (hash === null || password === null || !existsSync(files.keychain)) return null
  return { hash, keychain: files.keychain, password }
}

/** Makes a key and a self-signed certificate, packed for `security import`; returns the certificate's hash. */
async function makeCertificate(
  run: RunProcess,
  files: Files,
  signal: AbortSignal,
): Promise<string> {
  const purpose = `make a certificate for signing ${WITHOUT_CERTIFICATE}`
  const openssl = (...args: readonly string[]) =>
    useTool(run, { path: OPENSSL, args, purpose }, signal)
  writeFileAtomically(files.request, CERTIFICATE_REQUEST)
  const selfSigned = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-sha256', '-days', DAYS]
  const made = ['-keyout', files.key, '-out', files.certificate]
  await openssl('req', ...selfSigned, '-config', files.request, ...made)
  const packed = ['-inkey', files.key, '-in', files.certificate, '-out', files.package]
  // `security import` knows only these old ciphers.
  const ciphers = ['-keypbe', 'PBE-SHA1-3DES', '-certpbe', 'PBE-SHA1-3DES', '-macalg', 'sha1']
  const password = ['-passout', `file:${files.password}`]
  await openssl('pkcs12', '-export', '-name', NAME, ...packed, ...ciphers, ...password)
  const certificate = new X509Certificate(readFileSync(files.certificate))
  return certificate.fingerprint.replaceAll(':', '')
}

async function makeKeychain(
  run: RunProcess,
  files: Files,
  order: { readonly identity: LocalIdentity; readonly signal: AbortSignal },
): Promise<void> {
  const { keychain, password } = order.identity
  const purpose = `make a keychain for signing ${WITHOUT_CERTIFICATE}`
  const security = (...words: readonly string[]) =>
    useSecurity(run, { words, purpose }, order.signal)
  await security('create-keychain', '-p', password, keychain)
  // Without options, the keychain doesn't lock itself while we work.
  await security('set-keychain-settings', keychain)
  await security('unlock-keychain', '-p', password, keychain)
  const from = [files.package, '-f', 'pkcs12', '-P', password]
  await security('import', ...from, '-k', keychain, '-T', CODESIGN)
  // Since macOS 10.12, using a key opens a dialog unless its partition list names Apple's tools.
  const list = 'apple-tool:,apple:,codesign:'
  await security('set-key-partition-list', '-S', list, '-s', '-k', password, keychain)
}

/**
 * Runs one command of security(1) in its interactive mode, `security -i`, which reads it from standard input:
 * every user of the machine could read a password in an argument. Words are in double quotes if they need them;
 * `\` escapes inside quotes, as public scripts do it.
 */
export function useSecurity(
  run: RunProcess,
  order: { readonly words: readonly string[]; readonly purpose: string },
  signal: AbortSignal,
): Promise<string> {
  const { words, purpose } = order
  const quoted = words.map((word) =>
    /^[\w.,:/-]+$/.test(word) ? word : `"${word.replaceAll(/["\\]/g, '\\$&')}"`,
  )
  const input = `${quoted.join(' ')}\n`
  return useTool(run, { path: SECURITY, args: ['-i'], input, purpose }, signal)
}

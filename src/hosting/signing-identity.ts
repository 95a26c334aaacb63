// A code-signing identity of this Mac's own, for owners without one from Apple. macOS ties what the
// owner permits to the certificate that signed the program, trusted or not: as long as the same one signs
// each version, Full Disk Access and Automation stay.
//
// It lies in a keychain of its own, whose password we know: codesign needs no dialog then, and works over
// ssh.

import { X509Certificate } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { readTextOrNull, writeFileAtomically } from '../system/files.ts'
import type { RunProcess } from '../system/process.ts'
import type { Random } from '../system/random.ts'
import { useSecurity } from './keychain-tool.ts'
import { useTool } from './system-tool.ts'

/** An identity in a keychain; `hash` is the SHA-1 of its certificate, 40 hexadecimal digits. */
export type LocalIdentity = {
  readonly hash: string
  readonly keychain: string
  readonly password: string
}

export type SigningTools = { readonly run: RunProcess; readonly random: Random }

/** LibreSSL. What another openssl on the PATH packs, `security import` may not be able to open. */
export const OPENSSL = '/usr/bin/openssl'
const CODESIGN = '/usr/bin/codesign'

/** For messages: an owner whose Mac cannot make one is not stuck. */
export const WITHOUT_CERTIFICATE = '(without one: --codesign-identity -)'

/** Twenty years: a certificate that ends would end the permissions with it. */
const DAYS = '7300'
const PASSWORD_BYTES = 24
const NAME = 'Hookline on this Mac'

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

/** The identity in `folder`, made at the first call. */
export async function localIdentity(
  tools: SigningTools,
  folder: string,
  signal: AbortSignal,
): Promise<LocalIdentity> {
  const files = filesIn(folder)
  const known = readIdentity(files)
  if (known !== null) return known
  // What an earlier try left half made is of no use: its hash is written last.
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const password = Buffer.from(tools.random.bytes(PASSWORD_BYTES)).toString('hex')
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

type Files = ReturnType<typeof filesIn>

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

/** A key and a self-signed certificate, packed as `security import` takes them; gives its hash. */
async function makeCertificate(
  run: RunProcess,
  files: Files,
  signal: AbortSignal,
): Promise<string> {
  const openssl = (...args: readonly string[]) =>
    useTool(
      run,
      { path: OPENSSL, args, purpose: `make a certificate for signing ${WITHOUT_CERTIFICATE}` },
      signal,
    )
  writeFileAtomically(files.request, CERTIFICATE_REQUEST)
  const selfSigned = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-sha256', '-days', DAYS]
  const made = ['-keyout', files.key, '-out', files.certificate]
  await openssl('req', ...selfSigned, '-config', files.request, ...made)
  const packed = ['-inkey', files.key, '-in', files.certificate, '-out', files.package]
  // The old ciphers: `security import` knows no newer ones.
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
  // Without further words: it does not lock itself while we work.
  await security('set-keychain-settings', keychain)
  await security('unlock-keychain', '-p', password, keychain)
  const from = [files.package, '-f', 'pkcs12', '-P', password]
  await security('import', ...from, '-k', keychain, '-T', CODESIGN)
  // Since macOS 10.12 a key asks in a dialog all the same unless its partition list names Apple's tools.
  const list = 'apple-tool:,apple:,codesign:'
  await security('set-key-partition-list', '-S', list, '-s', '-k', password, keychain)
}

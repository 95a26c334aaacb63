// Signs a release, so that `hookline upgrade` and the installer can verify its origin:
//
//   bun scripts/sign-release.ts --make-key FILE       a new key, once: FILE is the secret half
//   bun scripts/sign-release.ts FOLDER --key FILE --repository OWNER/NAME
//                                                     signs FOLDER/SHA256SUMS, and adds the installer
//
// The public half goes to `.release-key.pub`, which every build carries. SHA256SUMS is signed twice with
// the same Ed25519 key: as minisign does it, and as ssh-keygen does it, which each Mac has.

import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  type KeyObject,
} from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { VERSION } from '../src/system/version.ts'
import { nameReleases, repositoryUrl } from './release/repository.ts'

const ROOT = `${import.meta.dir}/..`
const SSH_ALGORITHM = 'ssh-ed25519'
const SSH_NAMESPACE = 'hookline'
const TEXT = { type: 'string' } as const

/** The public half of `key` as minisign writes it: a comment, and the key in base64. */
export function minisignPublicKey(key: KeyObject): string {
  const text = Buffer.concat([Buffer.from('Ed'), idOf(key), rawPublicKey(key)]).toString('base64')
  return `untrusted comment: Hookline's release key\n${text}\n`
}

/** The text of a `.minisig` file over `content`; `comment` is signed along with it. */
export function minisign(key: KeyObject, content: Uint8Array, comment: string): string {
  const hash = createHash('blake2b512').update(content).digest()
  const own = sign(null, hash, key)
  const overAll = sign(null, Buffer.concat([own, Buffer.from(comment)]), key)
  const signed = Buffer.concat([Buffer.from('ED'), idOf(key), own])
  return [
    "untrusted comment: signed with Hookline's release key",
    signed.toString('base64'),
    `trusted comment: ${comment}`,
    overAll.toString('base64'),
    '',
  ].join('\n')
}

/** An armoured signature of OpenSSH (its PROTOCOL.sshsig) over `content`, for `ssh-keygen -Y verify`. */
export function sshSignature(key: KeyObject, content: Uint8Array): string {
  const hash = createHash('sha512').update(content).digest()
  const context = [field(SSH_NAMESPACE), field(''), field('sha512')]
  const own = sign(null, Buffer.concat([Buffer.from('SSHSIG'), ...context, field(hash)]), key)
  const blob = Buffer.concat([
    Buffer.from('SSHSIG'),
    Buffer.from([0, 0, 0, 1]),
    field(sshPublicKey(key)),
    ...context,
    field(Buffer.concat([field(SSH_ALGORITHM), field(own)])),
  ])
  const lines = blob.toString('base64').match(/.{1,70}/g) ?? []
  return ['-----BEGIN SSH SIGNATURE-----', ...lines, '-----END SSH SIGNATURE-----', ''].join('\n')
}

/**
 * Signs SHA256SUMS of `folder`, and writes the installer beside it that trusts `key` and takes releases from
 * `repository`, which is an address.
 */
export function signRelease(folder: string, key: KeyObject, repository: string): void {
  const path = join(folder, 'SHA256SUMS')
  const sums = readFileSync(path)
  writeFileSync(`${path}.minisig`, minisign(key, sums, `hookline ${VERSION}`))
  writeFileSync(`${path}.sig`, sshSignature(key, sums))
  const [, publicKey = ''] = minisignPublicKey(key).split('\n')
  const ssh = `${SSH_ALGORITHM} ${sshPublicKey(key).toString('base64')}`
  const installer = readFileSync(`${ROOT}/scripts/install`, 'utf8')
    .replace("minisign_key=''", `minisign_key='${publicKey}'`)
    .replace("ssh_key=''", `ssh_key='${ssh}'`)
    .replace("own_releases=''", "own_releases='<releases>'")
  writeFileSync(join(folder, 'install'), nameReleases(installer, repository))
}

function rawPublicKey(key: KeyObject): Buffer {
  return createPublicKey(key).export({ type: 'spki', format: 'der' }).subarray(-32)
}

/** Id of a key, 8 bytes: random in minisign, derived from the key here. */
function idOf(key: KeyObject): Buffer {
  return createHash('blake2b512').update(rawPublicKey(key)).digest().subarray(0, 8)
}

function sshPublicKey(key: KeyObject): Buffer {
  return Buffer.concat([field(SSH_ALGORITHM), field(rawPublicKey(key))])
}

/** A string of the SSH protocol: its length in four bytes, and its bytes. */
function field(value: string | Uint8Array): Buffer {
  const bytes = Buffer.from(value)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}

function makeKey(file: string): void {
  const { privateKey } = generateKeyPairSync('ed25519')
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' })
  writeFileSync(file, pem, { mode: 0o600, flag: 'wx' })
  writeFileSync(`${ROOT}/.release-key.pub`, minisignPublicKey(privateKey), { flag: 'wx' })
  console.log(`Secret key: ${file}. Keep it off this machine and out of the repository.`)
  console.log('Public key: .release-key.pub. Commit it.')
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { 'make-key': TEXT, key: TEXT, repository: TEXT },
  })
  const [folder] = positionals
  if (values['make-key'] !== undefined) makeKey(values['make-key'])
  else if (folder !== undefined && values.key !== undefined && values.repository !== undefined) {
    const key = createPrivateKey(readFileSync(values.key))
    signRelease(folder, key, repositoryUrl(values.repository))
  } else
    throw new Error(
      'Usage: sign-release.ts FOLDER --key FILE --repository OWNER/NAME, or --make-key FILE',
    )
}
